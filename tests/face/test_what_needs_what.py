"""The table of docs/how-to/engines.md that says what needs what: all other packages are hidden from a fresh Python."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name[0] != "_" and name.partition(".")[0] {hidden}:  # _sysconfigdata and such are Python's own
            raise ModuleNotFoundError("hidden: " + name, name=name)

sys.meta_path.insert(0, Hidden())
"""

ALL_NAMES = "\nfor name in package.__all__:\n    getattr(package, name)\n"

FOR_DESIGNS = {"cvxpy", "clarabel", "highspy", "joblib", "threadpoolctl"}
EXTRAS = {"matplotlib", "jinja2", "pandas", "polars", "pyarrow", "narwhals", "sqlglot", "sklearn"}


def seen(hidden: str, code: str, folder: Path) -> str:
    """What code prints that finds only some packages."""
    script = HIDE.format(hidden=hidden) + code
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def all_but(*allowed: str) -> str:
    return f"not in {{*sys.stdlib_module_names, 'optldp', *{allowed}}}"


@pytest.mark.slow
def test_mechanisms_need_numpy_alone(tmp_path):
    """And can be drawn from, by a secret too, with every public name loaded."""
    code = """
import optldp.mechanisms as package
import optldp.mechanisms.pseudorandom as keyed
table = package.make_exact(package.duchi([0.0, 1.0], 1.0)).mechanism
table.sample([0.5])
print(keyed.KeyedReports(table, keyed.Secret(keyed.new_secret()), column="x").sample_index(["ann"], [0.5]).size)
"""
    assert seen(all_but("numpy"), code + ALL_NAMES, tmp_path).strip() == "1"


@pytest.mark.nightly
def test_estimates_from_counts_need_scipy_besides(tmp_path):
    code = """
import numpy as np
import optldp.estimators as package
from optldp.mechanisms import PersonalisedMechanism, duchi, grr
from optldp.mechanisms.categorical import categorical_grr
table = duchi([0.0, 1.0], 1.0)
answer = {"output": np.array([0, 1]), "n": np.array([380, 620])}
counts = package.ReportCounts.from_counts(table, answer)
package.save_counts(counts, "counts.npz")
print(package.estimate_mean(package.load_counts("counts.npz", [table])).n)
package.estimate_distribution(counts)
package.estimate_frequencies(package.CategoryCounts.from_reports(categorical_grr("ab", 1.0), [0, 1, 1]))
package.estimate_frequencies(package.CategoryCounts.from_counts(categorical_grr("ab", 1.0), answer))
levels = package.PersonalisedCounts.from_counts(
    PersonalisedMechanism([categorical_grr("ab", e) for e in (0.5, 1.0)]), answer | {"level": np.array([0, 1])}
)
assert levels.n_users == 1000
"""
    assert seen(all_but("numpy", "scipy"), code + ALL_NAMES, tmp_path).strip() == "1000"


@pytest.mark.nightly
def test_frames_that_are_not_read_need_narwhals_and_their_engine(tmp_path):
    """And no package that would fetch the answer; parts of tables that are perturbed need none either."""
    code = """
import duckdb
import polars as pl
from optldp.estimators import count
from optldp.estimators.engines import perturb_partition
from optldp.mechanisms import duchi, make_exact
from optldp.mechanisms.pseudorandom import new_secret
table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
people = pl.DataFrame({"user": ["ann", "bo", "cy"], "x": [0.5, 0.25, 1.0]})
drawn = perturb_partition(people, table, new_secret, column="x", key="user")
in_duckdb = duckdb.sql("SELECT * FROM (VALUES ('bo', 0), ('cy', 1)) t(\\"user\\", output)")
reports = duckdb.sql(f"SELECT unnest({table.low.tolist()}) AS report")
for frame in (drawn.lazy(), in_duckdb):
    both = [(name, table, frame) for name in ("web", "app")]
    print(count(table, frame).n_users, count(both, key="user").n_users)
print(count(table, reports).n_users)
"""
    hidden = all_but("numpy", "scipy", "narwhals", "polars", "duckdb")
    assert seen(hidden, code, tmp_path).split() == ["3", "3", "2", "2", "2"]


@pytest.mark.nightly
def test_commands_about_reports_need_no_solver_of_designs(tmp_path):
    code = """
import sys
from optldp.designer.command_line import main
from optldp.mechanisms import duchi, make_exact, save_table
save_table(make_exact(duchi([0.0, 1.0], 1.0)).mechanism, "m.npz")
open("people.csv", "w").write("x\\n" + "0.5\\n" * 50)
for line in (
    "describe people.csv --column x",
    "show m.npz",
    "verify m.npz",
    "perturb m.npz people.csv --column x --as index --out idx.parquet",
    "count m.npz idx.parquet --out counts.csv",
    "count-sql m.npz --from idx",
    "estimate m.npz --counts counts.csv",
):
    sys.argv = ["optldp", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
print("done")
"""
    assert seen(f"in {FOR_DESIGNS | EXTRAS}", code, tmp_path).splitlines()[-1] == "done"


def test_each_extra_that_users_install_has_a_command_that_runs_every_night():
    """`.ci/packaging/extras` runs it where nothing else is installed; the others are for those who work on optldp."""
    root = Path(__file__).parents[2]
    extras = set(tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    script = (root / ".ci" / "packaging" / "extras").read_text()
    tried = re.findall(r"^extras=\((.*)\)$", script, re.MULTILINE)[0].split()
    assert set(tried) == extras - {"docs", "test", "rivals", "mutation", "release", "dev"}
    assert all(f"    {extra})" in script for extra in tried)
    assert ".ci/packaging/extras" in (root / ".github" / "workflows" / "nightly.yml").read_text()
