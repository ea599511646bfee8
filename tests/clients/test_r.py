"""The R file's numbers are the library's, where Rscript is found."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.estimators import ReportCounts, count, estimate_combined_mean, estimate_distribution
from optldp.estimators.estimate import Estimate
from optldp.mechanisms import Metric, duchi, geometric, load_table, make_exact, piecewise, save_table, square_wave
from optldp.mechanisms.table.table import TabulatedMechanism
from typer.testing import CliRunner

FOLDER = Path(__file__).parents[2] / "clients" / "r"
OF_MEANS, OF_FITS = 1e-9, 1e-6  # relative; weights near zero, whose ends are zero, are compared as shares

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("Rscript") is None, reason="Rscript is not on the path: clients/conformance/everywhere installs it"
    ),
]

PARTS = ("value", "std_error", "low", "high")

NINE, FIVE = np.linspace(0.0, 80.0, 9), np.linspace(0.0, 80.0, 5)


def bent() -> TabulatedMechanism:
    """Reports whose mean is no straight line in the value: only one number for each output is unbiased."""
    rows = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.35, 0.2, 0.15], [0.15, 0.25, 0.3, 0.3]]
    return TabulatedMechanism.from_points([0.0, 40.0, 80.0], [0.0, 10.0, 30.0, 90.0], rows, 1.2)


TABLES = {
    "unbiased": lambda: piecewise(NINE, 2.0),
    "few": lambda: duchi(FIVE, 1.0),
    "wave": lambda: square_wave(NINE, 1.5),
    "tails": lambda: geometric(NINE, Metric(0.05)),
    "bent": bent,
}
CASES = [("unbiased",), ("wave",), ("tails",), ("bent",), ("unbiased", "few"), ("wave", "bent", "few")]


def written(folder: Path, *names: str) -> tuple[list[Path], list[Path]]:
    """Write tables, and reports of users of whom some did not report to all but the first."""
    rng = np.random.default_rng(len(names))
    values = np.round(rng.beta(2, 5, 3_000) * 8.0) * 10.0  # knots, which noise for neighbours takes alone
    tables, reports = [], []
    for number, name in enumerate(names):
        table = make_exact(TABLES[name]()).mechanism
        tables.append(folder / f"{number}.json")
        save_table(table, tables[-1])
        users = np.flatnonzero(rng.random(values.size) < (1.0 if not number else 0.7))
        rows = zip(users, table.sample(values[users], rng).tolist(), strict=True)
        reports.append(folder / f"{number}.csv")
        reports[-1].write_text("user,report\n" + "".join(f"u{user},{report!r}\n" for user, report in rows), "utf-8")
    return tables, reports


def counted(folder: Path, tables: list[Path], reports: list[Path]) -> Path:
    """What `optldp count` writes."""
    pairs = [str(path) for pair in zip(tables, reports, strict=True) for path in pair]
    words = ["count", *pairs, "--out", str(folder / "counts.csv"), *(["--key", "user"] if len(tables) > 1 else [])]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return folder / "counts.csv"


def rscript(*words: object) -> subprocess.CompletedProcess[str]:
    command = ["Rscript", "--vanilla", str(FOLDER / "numbers.R"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def numbers(*words: object) -> dict[str, np.ndarray]:
    done = rscript(*words)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {f"{name} {part}": np.array(numbers, dtype=float) for name, part, *numbers in lines}


def due(counts: ReportCounts, joined: bool) -> dict[str, Estimate]:
    means = {name: estimate_combined_mean(counts, method=name) for name in ("ua", "uwa")}
    fit = estimate_distribution(counts, method="ule" if joined else "em", certificate=1e-13)
    scatter = replace(fit, explained=None)  # whose intervals are normal ones, as R's
    return {**means, "mean": scatter.mean(), "weights": scatter}


@pytest.mark.parametrize("names", CASES, ids=" ".join)
def test_every_number_is_the_librarys(tmp_path, names):
    tables, reports = written(tmp_path, *names)
    found = numbers(counted(tmp_path, tables, reports), *tables)
    joined = len(tables) > 1
    sources = [
        (str(j), load_table(table), str(path)) for j, (table, path) in enumerate(zip(tables, reports, strict=True))
    ]
    made = count(sources, key="user") if joined else count(*sources[0][1:])
    expected = due(ReportCounts(made.services, made.groups), joined)
    assert found.keys() == {f"{name} {part}" for name in expected for part in PARTS}
    for name, estimate in expected.items():
        tolerance = OF_MEANS if name in ("ua", "uwa") else OF_FITS
        for part in PARTS:
            least = tolerance if name == "weights" else 0.0
            np.testing.assert_allclose(found[f"{name} {part}"], getattr(estimate, part), tolerance, least, err_msg=name)


def test_counts_of_other_tables_are_refused(tmp_path):
    tables, reports = written(tmp_path, "unbiased", "few")
    counts = counted(tmp_path, tables[:1], reports[:1])
    done = rscript(counts, tables[1])
    assert done.returncode == 1
    assert "counts must be of the tables given" in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('"units"', '"units": "", "units"', "each key once"),
        ("optldp-table/2", "optldp-table/1", "must be of format"),
        ("]", "", "JSON must have"),
        ('"knots": [0.0', '"knots": [90.0', "rising"),
        ("9007199254740992", "9007199254740991", "over 2^53"),
        ("[[", "[[1, ", "numerators must be"),
        ('"checksum": "sha256:', '"checksum": "sha256:x', "must have a checksum"),
        ('"checksum"', '"other"', "must have a checksum"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path, before, after, says):
    (table,), reports = written(tmp_path, "few")
    counts = counted(tmp_path, [table], reports)
    text = table.read_text("utf-8").replace("[\n  [", "[[")
    assert before in text
    table.write_text(text.replace(before, after, 1), "utf-8")
    done = rscript(counts, table)
    assert done.returncode == 1
    assert says in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("output,n\n", "n must be whole numbers"),
        ("output\n1\n", "columns output and n"),
        ("output,n\n0,1\n", "at least 2"),
        ("output,n\n0,2\n7,3\n", "another one in row 2"),
        ("output,n\n0,2.5\n", "n must be whole numbers"),
        ("table,output,n\nt0123456789ab,0,2\n", "counts must be of the tables given"),
        ("table,output,n\nT0123456789AB,0,2\n", "got another name in row 1"),
        ("table,output,n\n,0,2\n", "got another name in row 1"),
    ],
)
def test_counts_that_are_none_are_refused(tmp_path, content, says):
    (table,), _ = written(tmp_path, "few")
    (tmp_path / "counts.csv").write_text(content, "utf-8")
    done = rscript(tmp_path / "counts.csv", table)
    assert done.returncode == 1
    assert says in done.stderr, done.stderr
