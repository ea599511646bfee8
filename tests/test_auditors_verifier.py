"""The auditor's verifier, a program of its own, agrees with the package on every good and every bad document."""

import json
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from optldp.mechanisms import TableError, TabulatedMechanism, load_table, prove
from optldp.mechanisms.compact_tables import FloorForm
from optldp.mechanisms.exactness.verification import require_private
from optldp.mechanisms.files.bundle import parse_mechanism
from optldp.mechanisms.files.checksum import checksum

from .mechanisms import floor_forms
from .mechanisms.document_mutants import mutants, promised
from .mechanisms.exact_documents import BAD, BROKEN_PROMISES, GOOD, PROMISED, document, write

PROGRAM = Path(__file__).parents[1] / "examples" / "verify_table.py"
LINES = 400

CAUGHT = ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError
"""What the program turns into one line."""


@pytest.fixture(scope="module")
def damaged():
    """The damaged texts by name."""
    return dict(mutants(10**6))


@pytest.fixture(scope="module")
def auditor():
    """The names that the program defines, run as a module that is not the main one."""
    names = {"__name__": "verify_table"}
    exec(compile(PROGRAM.read_text(), str(PROGRAM), "exec"), names)
    return names


def audited(path: Path) -> subprocess.CompletedProcess[str]:
    """The program run in a Python that sees the standard library alone."""
    return subprocess.run([sys.executable, "-I", "-S", str(PROGRAM), str(path)], capture_output=True, text=True)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_it_proves_what_the_package_proves_with_the_same_facts(tmp_path, auditor, name):
    """The largest ratio and the bias, as fractions."""
    proof = prove(load_table(write(tmp_path, GOOD[name])))
    assert proof.ok
    assert auditor["prove"](json.loads(json.dumps(GOOD[name]))) == (proof.ratio, proof.relative_bias)


@pytest.mark.parametrize("name", floor_forms.forms())
def test_it_proves_floor_forms_by_the_ratio_that_they_state(tmp_path, auditor, name):
    """With the same bias; the ratio is a bound on the largest one of all entries."""
    form = floor_forms.forms()[name]
    proof = form.proof()
    ratio, bias = auditor["prove"](json.loads(json.dumps(floor_forms.document(form))))
    assert (ratio, bias) == (Fraction(form.ratio, 2**128), proof.relative_bias)
    assert proof.ratio <= ratio <= proof.limit
    said = audited(write(tmp_path, floor_forms.document(form)))
    assert (said.returncode, said.stdout) == (0, f"proved: largest ratio {ratio}, bias {bias} of the domain\n")


@pytest.mark.parametrize("name", floor_forms.BAD)
def test_it_refuses_what_is_no_floor_form(auditor, name):
    """By a ValueError of its own words, or an error of the types that the program catches."""
    changes = floor_forms.BAD[name][0]
    made = {**floor_forms.document(floor_forms.by_hand()), **changes}
    with suppress(TableError):  # what cannot be signed keeps the old checksum
        made["checksum"] = checksum(made)
    with pytest.raises(CAUGHT):
        auditor["prove"](made)


def test_a_floor_form_beyond_its_budget_by_a_unit_is_refused(auditor):
    """Of 2^-128."""
    limit = floor_forms.forms()["at the limit"].ratio
    over = floor_forms.document(floor_forms.by_hand(ratio=limit + 1))
    with pytest.raises(ValueError, match=r"within e\^epsilon"):
        auditor["prove"](over)


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_it_proves_other_promises_and_says_that_they_are_no_pure_ones(tmp_path, name):
    """As a program, with the same bias; an endless ratio has no number."""
    proof = prove(load_table(write(tmp_path, PROMISED[name])))
    said = audited(tmp_path / "table.json")
    assert (proof.ok, said.returncode, said.stderr) == (True, 0, "")
    assert f"'kind': {PROMISED[name]['promise']['kind']!r}" in said.stdout
    assert said.stdout.startswith("proved of {")
    assert "which is no eps-LDP" in said.stdout
    assert said.stdout.endswith(f"bias {proof.relative_bias} of the domain\n")


@pytest.mark.parametrize("name", sorted(BAD | BROKEN_PROMISES))
def test_it_refuses_what_the_package_refuses(tmp_path, auditor, name):
    """By a ValueError of its own words, or an error of the types that the program catches."""
    path = write(tmp_path, (BAD | BROKEN_PROMISES)[name][0])
    with pytest.raises(TableError):
        load_table(path)
    with pytest.raises(CAUGHT):
        auditor["prove"](auditor["read"](path.read_bytes()))


def accepted(read, content: bytes) -> bool:
    """Whether a reader takes a file; any other error than a refusal is not caught."""
    try:
        read(content)
    except CAUGHT:
        return False
    return True


def by_package(content: bytes) -> None:
    try:
        made = parse_mechanism(content)
        if isinstance(made, TabulatedMechanism):
            require_private(made)
            private = made.exact  # format 1 is not
        else:
            made.require_private()
            private = isinstance(made, FloorForm)
    except TableError as error:
        raise ValueError(error) from None
    if not private:
        raise ValueError("another format")


@pytest.mark.parametrize("stride", [8, pytest.param(2, marks=pytest.mark.nightly)])
def test_it_accepts_and_refuses_the_very_promises_that_the_package_does(auditor, stride):
    """Every member and element of them in turn replaced, removed and doubled, with a checksum that fits."""
    changed = dict(promised(stride))
    taken = {name: accepted(by_package, content) for name, content in changed.items()}
    by_auditor = {
        name: accepted(lambda c: auditor["prove"](auditor["read"](c)), made) for name, made in changed.items()
    }
    assert by_auditor == taken
    assert 50 < sum(taken.values()) * stride < len(taken) * stride - 500


@pytest.mark.parametrize("stride", [16, pytest.param(4, marks=pytest.mark.nightly)])
def test_it_accepts_and_refuses_the_very_documents_that_the_package_does(auditor, stride):
    """Every member and element of six documents in turn replaced, removed and doubled, and forty damaged texts.

    Each fourth of them or each sixteenth, and the texts.
    """

    taken = {name: accepted(by_package, content) for name, content in mutants(stride)}
    audited_as = {
        name: accepted(lambda c: auditor["prove"](auditor["read"](c)), made) for name, made in mutants(stride)
    }
    assert audited_as == taken
    assert len(taken) > 10_000 / stride
    assert 500 < sum(taken.values()) * stride < len(taken) * stride - 500


@pytest.mark.parametrize("name", ["a key twice", "NaN", "the epsilon as text", "deep nesting", "in utf-16"])
def test_what_the_format_forbids_is_refused_in_one_line(tmp_path, damaged, name):
    """As a program, with exit code 1 and no traceback."""
    path = tmp_path / "table.json"
    path.write_bytes(damaged[name])
    said = audited(path)
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (1, "", 1)
    assert said.stderr.startswith("NOT PROVED: ")


@pytest.mark.parametrize(
    "within",
    [
        {"kind": "geometric-tails", "step": 1.0, "ratio": ratio}
        for ratio in (1.0, 1 - 1e-20, 0.0, -0.5, 1, True, "0.5", 2.0)
    ]
    + [{"kind": "geometric-tails", "step": step, "ratio": 0.5} for step in (-1.0, 0, -0.0, True, "1", 1e121)],
)
def test_steps_and_ratios_outside_their_ranges_are_refused_and_never_loop(tmp_path, within):
    """A ratio of one has binary digits without end."""
    made = document(within=within, low=["-inf", 15.0], high=[-5.0, "inf"])
    said = audited(write(tmp_path, made))
    assert said.returncode == 1
    assert "ratio must" in said.stderr or "step must" in said.stderr


@pytest.mark.slow
def test_all_pairs_of_many_rows_are_refused_unless_they_are_asked_for(tmp_path, auditor):
    """Of a promise of (epsilon, delta), by the bound of the package: 16 n m + n n m steps up to 2^31."""
    promised = {"kind": "approximate", "delta": 1e-6}
    rows = [[2**52, 2**52]] * 1024
    with pytest.raises(
        ValueError, match="all pairs of 1024 rows of 2 must take 2\\^31 steps at most, or --allow-large"
    ):
        auditor["check_promise"](promised, Fraction(1), range(1024), rows, 2 * 1024 * 1040 - 1)
    auditor["check_promise"](promised, Fraction(1), range(1024), rows, 2 * 1024 * 1040)
    square = [[0] * 1300] * 1300
    with pytest.raises(ValueError, match="all pairs of 1300 rows of 1300 must"):
        auditor["check_promise"](promised, Fraction(1), range(1300), square, auditor["MOST_STEPS"])
    path = write(tmp_path, PROMISED[min(name for name in PROMISED if "delta" in PROMISED[name]["promise"])])
    command = [sys.executable, "-I", "-S", str(PROGRAM), str(path), "--allow-large"]
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0


def test_a_file_that_is_not_there_is_another_matter(tmp_path):
    """Exit code 2, one line; a folder and no argument too."""
    for path in (tmp_path / "none.json", tmp_path):
        said = audited(path)
        assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
    alone = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert (alone.returncode, len(alone.stderr.splitlines())) == (2, 1)


def test_a_file_too_large_to_be_a_table_is_refused_unread(tmp_path):
    """Sparse on disk, 32 MiB and a byte."""
    with (tmp_path / "table.json").open("wb") as file:
        file.truncate(2**25 + 1)
    said = audited(tmp_path / "table.json")
    assert said.returncode == 1
    assert "at most 33554432 bytes" in said.stderr


@pytest.mark.slow
def test_as_a_program_it_says_so_and_exits_with_0_or_1(tmp_path):
    """One line each, without a traceback."""
    good = audited(write(tmp_path, document()))
    assert (good.returncode, good.stdout, good.stderr) == (0, "proved: largest ratio 3, bias 0 of the domain\n", "")
    for name in ("one unit over the limit", "duplicate outputs", "no object", "no numerators"):
        bad = audited(write(tmp_path, BAD[name][0]))
        assert (bad.returncode, bad.stdout) == (1, "")
        assert bad.stderr.startswith("NOT PROVED: ")
        assert len(bad.stderr.splitlines()) == 1
    (tmp_path / "table.json").write_text(json.dumps(document())[:-30])
    assert audited(tmp_path / "table.json").returncode == 1


def test_it_is_short_enough_to_be_read_and_imports_the_standard_library_alone():
    """Anyone can check every line."""
    text = PROGRAM.read_text()
    assert len(text.splitlines()) < LINES
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))}
    assert imports <= set(sys.stdlib_module_names)
