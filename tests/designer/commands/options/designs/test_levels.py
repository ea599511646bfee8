"""The budgets of a design, from what the command line says."""

import pytest
from optldp.designer.commands.options.designs.levels import Budgets, budgets_of
from optldp.mechanisms import InputError


def test_one_epsilon_is_a_budget_for_everybody():
    """There are no levels, and nothing to protect about them."""
    assert budgets_of(1, None, None) == Budgets((1.0,), personalised=False, level_epsilon=None)


@pytest.mark.parametrize(
    ("text", "epsilons"),
    [
        ("0.1,0.5,1", (0.1, 0.5, 1.0)),
        ("0.1:1:0.1", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
        ("0.5:2:1", (0.5, 1.5)),
        ("0.25:1:0.25", (0.25, 0.5, 0.75, 1.0)),
    ],
)
def test_levels_are_a_list_or_a_range_with_its_end(text, epsilons):
    """Decimal steps give the decimal budgets that a person would write."""
    assert budgets_of(None, text, 0.3) == Budgets(epsilons, personalised=True, level_epsilon=0.3)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((None, None, None), "either --epsilon or --levels"),
        ((1.0, "0.5,1", None), "either --epsilon or --levels"),
        ((1.0, None, 0.5), "--level-epsilon protects"),
        ((None, "0.5", None), "two or more different budgets"),
        ((None, "1,0.5", None), "in increasing order"),
        ((None, "1,1", None), "two or more different budgets"),
        ((None, "a,b", None), "must be numbers"),
        ((None, "0:1:0.1", None), "0 < LO < HI"),
        ((None, "1:0.5:0.1", None), "0 < LO < HI"),
        ((None, "0.1:1:0", None), "STEP > 0"),
        ((None, "0.1:1", None), "LO:HI:STEP"),
        ((None, "0.1:16:0.001", None), "at most 256 levels"),
        ((None, "0.5,99", None), "epsilon must be at most"),
        ((None, "0.5,1", 0.0), "level_epsilon must be positive"),
        ((None, "0.5,1", -1.0), "level_epsilon must be positive"),
        ((-1.0, None, None), "epsilon must be positive"),
    ],
    ids=str,
)
def test_budgets_that_make_no_sense_are_refused_in_one_line(given, says):
    """None, both kinds, repeated or unordered levels, and budgets out of range."""
    with pytest.raises(InputError) as refused:
        budgets_of(*given)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
