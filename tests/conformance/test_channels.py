"""One suite that every registered mechanism passes; one that is registered and lacks a part fails by its name."""

from pathlib import Path

import pytest
from optldp.mechanisms import InputError, TableError, TabulatedMechanism
from optldp.mechanisms.files.bundle import bundle_kinds

from ..small_channels import SMALL, save, write_people
from .case import Case
from .checks import CHECKS, SLOW, Check
from .holes import EVERY, HOLES


@pytest.fixture
def case(request, tmp_path, monkeypatch) -> Case:
    """The mechanism of a name, in a folder with its file and people.csv."""
    monkeypatch.chdir(tmp_path)
    save(EVERY[request.param], Path("table.json"))
    write_people(Path("people.csv"))
    return Case(request.param, EVERY[request.param])


def hole(check: str, name: str) -> str | None:
    """Return why a mechanism is excused from a check, if it is."""
    return next((reason for names, reason in HOLES.get(check, {}).items() if name in names), None)


def refused(check: Check, case: Case) -> str | None:
    """The line of a refusal, None where the check passes; what else goes wrong fails the test."""
    try:
        check(case)
    except (InputError, TableError) as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize("case", EVERY, indirect=True)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CHECKS])
def test_every_mechanism_passes_every_check_or_refuses_for_a_reason_that_is_known(case, name):
    refusal, reason = refused(CHECKS[name], case), hole(name, case.name)
    assert refusal is None or reason, f"{type(case.mechanism).__name__} is not wired for {name!r}: {refusal}"
    assert refusal or reason is None, f"{case.name} is listed as a hole of {name!r} and passes: take it out"


def test_every_registered_kind_is_among_them():
    """A kind that is registered and has no example in small_channels.py is tested by nothing."""
    missing = {TabulatedMechanism, *bundle_kinds().values()} - {type(made) for made in SMALL.values()}
    assert not missing, f"add an example of {sorted(kind.__name__ for kind in missing)} to tests/small_channels.py"


def test_every_hole_is_of_a_check_and_a_mechanism_that_are_there():
    assert set(HOLES) <= set(CHECKS)
    assert {name for holes in HOLES.values() for names in holes for name in names} <= set(EVERY)
