"""The registry knows every kind of mechanism that a file can hold, and each by one of its kinds."""

import subprocess
import sys

import pytest
from optldp.designer.commands.handlers.registry import bundle_kinds, kind_of, kinds
from optldp.designer.commands.options.kind import DesignKind, OneTable
from optldp.designer.commands.options.old_spellings import OLD
from optldp.designer.objectives.registry import OBJECTIVES
from optldp.mechanisms import InputError

from ....small_channels import SMALL


@pytest.mark.parametrize("name", SMALL)
def test_what_a_file_can_hold_is_of_one_kind(name):
    """A new kind of mechanism without a file here fails."""
    assert sum(kind.suits(SMALL[name]) for kind in kinds()) == 1


def test_what_is_no_mechanism_is_refused_in_one_line():
    """Commands never see it."""
    with pytest.raises(InputError, match=r"^mechanisms of kind 3 cannot be used on the command line: use Python$"):
        kind_of(3)  # pyright: ignore[reportArgumentType]


def test_what_design_may_be_asked_for_beside_one_table_is_made_by_one_kind():
    """`design` looks for the kind that makes what it was asked for; noise of one shape is one table too."""
    made = [each for kind in bundle_kinds() for each in kind.designs]
    assert len(made) == len(set(made))
    assert set(made) == set(DesignKind) - {DesignKind.NOISE}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_makes_one_table_and_has_a_use_for_no_option_that_has_gone(objective):
    kind = OneTable(objective)
    gone = {name for name, become in OLD.items() if not any(each.beside for each in become)}
    assert not gone & set(kind.uses)
    assert "--n" in kind.uses  # of whatever has a mean it is said how far off that of so many people may be


@pytest.mark.nightly
def test_perturbing_through_a_table_loads_no_other_kind_and_no_other_command(table):
    """A client's start is what it pays for."""
    words = ["optldp", "perturb", str(table), "people.csv", "--column", "income", "--out", "r.csv"]
    program = f"import sys\nfrom optldp.designer.command_line import app\nsys.argv = {words!r}\n"
    program += "app(standalone_mode=False)\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    here = {name.removeprefix("optldp.designer.commands.") for name in loaded if ".commands." in name}
    used = {
        "options.assumed",
        "options.differences",
        "options.ledger",
        "options.report_ids",
        "handlers.options",
        "handlers.kind",
        "handlers.numbers",
        "handlers.numbers.handler",
        "handlers.registry",
    }
    assert here == {
        "perturb",
        "output",
        "output.output",
        "options",
        "options.days",
        "options.differences",
        "options.ledger",
        "options.old_spellings",
        "options.shared",
        "options.panels",
        "options.perturb",
        "handlers",
        "streaming",
        "streaming.blocks",
        *used,
    }
    assert loaded.isdisjoint({"scipy", "matplotlib"})
    assert not any("key_value" in name or "categorical" in name or "combinators" in name for name in loaded)
