"""The auditor's verifier, a program of its own, agrees with the package on every good and every bad document."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from optldp.mechanisms import TableError, load_table, prove

from .mechanisms.exact_documents import BAD, GOOD, document, write

PROGRAM = Path(__file__).parents[1] / "examples" / "verify_table.py"
LINES = 80


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


@pytest.mark.parametrize("name", sorted(BAD))
def test_it_refuses_what_the_package_refuses(tmp_path, auditor, name):
    """By a ValueError of its own words, or an error of the types that the program catches."""
    path = write(tmp_path, BAD[name][0])
    with pytest.raises(TableError):
        load_table(path)
    with pytest.raises((ArithmeticError, AttributeError, LookupError, TypeError, ValueError)):
        auditor["prove"](json.loads(path.read_text()))


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
    """Fewer than eighty lines."""
    text = PROGRAM.read_text()
    assert len(text.splitlines()) < LINES
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))}
    assert imports <= set(sys.stdlib_module_names)
