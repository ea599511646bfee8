"""Frequency oracles by name."""

import pytest
from optldp.designer.methods.oracles import ORACLES, oracle_of_levels
from optldp.mechanisms import Categories


@pytest.mark.parametrize("name", [name for name in ORACLES if name != "auto"])
def test_every_name_makes_the_mechanism_that_says_so(name):
    """The provenance names the oracle; it is private."""
    made = ORACLES[name](Categories(range(9)), 1.0)
    assert made.provenance.method == name
    assert made.failures() == ()


def test_levels_get_one_oracle_decided_at_the_smallest_budget():
    """Six categories are few enough for GRR at epsilon 1 and not at 0.5, whatever the other levels are."""
    categories = Categories(range(6))
    assert oracle_of_levels(categories, [1.0, 2.0]) == "grr"
    assert oracle_of_levels(categories, [2.0, 0.5]) == "oue"
