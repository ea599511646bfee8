"""docs/reference/kinds.md says which kind goes through which command: every cell of its tables is tried."""

import json
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from optldp.designer.command_line import app
from typer.testing import CliRunner, Result

from ...small_channels import DRAWN_BY, SMALL, columns, save, write_people

PAGE = Path(__file__).parents[3] / "docs/reference/kinds.md"
MADE = {
    kind: SMALL[kind]
    for kind in (
        "numbers", "floor", "delta", "unit", "categories", "adopted", "pairs", "attributes", "levels of numbers",
        "levels of categories", "levels of pairs", "levels of attributes",
    )
}  # fmt: skip

VALUES = {
    "numbers": ("--column", "pay", "--range", 0, 60),
    "categories": ("--column", "job", "--categorical"),
    "pairs": ("--column", "job", "--categorical", "--value-column", "pay", "--range", 0, 60),
    "attributes": ("--attribute", "pay=0:60", "--attribute", "more=0:60"),
}
FEW = ("--knots", 3)
ASKED = {
    "design": ("--epsilon", 1, "--out", "new.json", "--force"),
    "design --levels": ("--levels", "1,2", "--out", "new.json", "--force"),
    "plan": ("--n", 1000, "--epsilon", 1),
    "compare": ("--epsilon", 1),
    "bounds": ("--epsilon", 1),
    "advise": ("--n", 100, "--epsilon", 1, "--repetitions", 2, "--mechanism", "grr"),
    "two-phase": ("--epsilon", 1, "--seed", 1),
}


def cells(heading: str) -> dict[tuple[str, str], str]:
    """What the page says of each command and kind below a heading."""
    rows = PAGE.read_text("utf-8").partition(f"## {heading}")[2].strip().partition("\n\n")[0].splitlines()
    first, _, *others = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {(row[0].strip("`"), kind): said for row in others for kind, said in zip(first[1:], row[1:], strict=True)}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Iterator[Callable[..., Result]]:
    """Run a command in a folder with people.csv, a secret, and a file of each kind with reports and counts of them."""

    def call(*words: object, stream: str | None = None) -> Result:
        given = None if stream is None else Path(stream).read_text()
        return CliRunner().invoke(app, [str(word) for word in words], given, catch_exceptions=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("kinds"))
        write_people(Path("people.csv"))
        Path("secret").write_bytes(bytes(range(32)))
        os.chmod("secret", 0o600)
        for kind, made in MADE.items():
            save(made, Path(f"{kind}.json"))
            drawn = DRAWN_BY.get(kind, kind)
            done = call("perturb", f"{drawn}.json", "people.csv", *columns(kind), "--seed", 1, "--out", f"{kind}.csv")
            assert done.exit_code == 0, done.output
            if drawn != kind:  # another program's reports name no table
                lines = Path(f"{kind}.csv").read_text().splitlines()
                Path(f"{kind}.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
            call("count", f"{kind}.json", f"{kind}.csv", "--out", f"{kind} counted.csv")
        yield call


def of_a_file(command: str, kind: str) -> tuple[object, ...]:
    """The words that ask a command of the file of a kind."""
    name, *options = command.split()
    if "--window" in options:
        asked = columns(kind) if name == "perturb" else ()
        return name, f"{kind}.json", "-", *asked, *options, 100, "--out", "-"
    reports, more = f"{kind}.csv", ("secret", "--key", "user") if "--secret" in options else ()
    told = {
        "show": ("--plot", "p.svg", "--force") if options else (),
        "verify": tuple(options),
        "audit": ("--samples", 4000, "--seed", 1),
        "perturb": ("people.csv", *columns(kind), *options, *more, "--out", "r.csv", "--force"),
        "count": (reports, "--out", "c.csv", "--force"),
        "count-sql": ("--from", "reports"),
        "estimate": ("--counts", f"{kind} counted.csv") if options else (reports,),
        "evaluate": ("--on", "people.csv") + (() if "attributes" in kind else columns(kind)[:2]),
    }[name]
    return name, f"{kind}.json", *told


def is_so(done: Result, said: str, words: object) -> None:
    """A command that is said to work has exit code 0, any other one refuses: in one line, if it has the option."""
    assert done.exit_code == (0 if said == "yes" else 2), (words, done.output)
    if said != "yes" and "No such option" not in done.stderr:
        assert len(done.stderr.splitlines()) == 1, (words, done.output)
        assert done.stderr.startswith("optldp: error: "), words


QUICK = ("show", "verify --exact", "count-sql", "perturb --as index", "perturb --secret", "estimate --counts")
FILES = cells("Commands that take a file")
DRAWN = pytest.mark.nightly
"""Pictures of every kind; by day tests/conformance draws them without the command."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=() if name in QUICK else DRAWN if "--plot" in name else pytest.mark.slow)
        for name in dict.fromkeys(name for name, _ in FILES)
    ],
)
def test_every_kind_goes_through_the_command_or_is_refused_as_the_page_says(run, command):
    said = {kind: cell for (name, kind), cell in FILES.items() if name == command}
    assert set(said) == set(MADE)
    for kind, cell in said.items():
        words = of_a_file(command, kind)
        streams = {"perturb --window": "people.csv", "count --window": f"{kind}.csv"}
        is_so(run(*words, stream=streams.get(command)), cell, words)


@pytest.mark.slow
def test_every_kind_of_values_goes_through_the_command_or_is_refused_as_the_page_says(run):
    said = cells("Commands that take values")
    assert set(said) == set(product(ASKED, VALUES))
    for (command, kind), cell in said.items():
        few = () if kind == "categories" or command == "two-phase" else FEW
        more = () if command != "advise" else ("--estimator", "unbiased" if kind == "categories" else "ua")
        words = (command.split()[0], "people.csv", *VALUES[kind], *few, *ASKED[command], *more)
        is_so(run(*words), cell, words)


def test_each_letter_of_the_page_has_its_reason():
    text = PAGE.read_text("utf-8")
    letters = {*FILES.values(), *cells("Commands that take values").values()}
    assert letters - {"yes"} == {line[2] for line in text.splitlines() if line.startswith("- ") and line[3:4] == ":"}


@pytest.mark.slow
@pytest.mark.parametrize("services", [1, 2])
@pytest.mark.parametrize("kind", MADE)
def test_a_user_who_comes_twice_is_told_of_or_counted_once(run, kind, services):
    """A repeated key is a budget spent twice, unless the first report is kept; kinds without users refuse the key."""
    for seed, out in ((1, "keyed.csv"), (2, "other.csv")):
        words = (f"{DRAWN_BY.get(kind, kind)}.json", "people.csv", *columns(kind), "--seed", seed, "--key", "user")
        run("perturb", *words, "--out", out, "--force")
    header, *rows = Path("keyed.csv").read_text().splitlines()
    user, told = rows[0].partition(",")[0], rows[-1].partition(",")[2]
    Path("twice.csv").write_text("\n".join([header, *rows, f"{user},{told}"]) + "\n")
    for command, more in (("estimate", ()), ("count", ("--out", "c.csv", "--force"))):

        def done(first: str, *options: str, command: str = command, more: tuple[str, ...] = more) -> Result:
            files = [f"{kind}.json", first, f"{kind}.json", "other.csv"][: 2 * services]
            return run(command, *files, "--key", "user", *options, *more, "--json")

        kept, once, refused = done("twice.csv", "--keep-first"), done("keyed.csv"), done("twice.csv")
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
        if "--keep-first" in kept.stderr:  # of versions of categories: a user who comes twice is refused
            assert "a user must report to a service once" in refused.stderr
            assert (kept.exit_code, services) == (2, 2)
            assert once.exit_code == 0 or "must hold reports of table" in once.stderr  # of another table than the law
            continue
        assert kept.exit_code == once.exit_code
        if once.exit_code == 0:
            assert json.loads(kept.stdout) | {"seconds": 0} == json.loads(once.stdout) | {"seconds": 0}
            assert "a user must report to a service once" in refused.stderr
            assert "got 1 users with several" in refused.stderr
        else:
            assert once.stderr == refused.stderr.replace("twice.csv", "keyed.csv")
            assert "--key" in refused.stderr or "count is not for" in refused.stderr
