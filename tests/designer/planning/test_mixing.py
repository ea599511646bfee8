"""The largest local budget that a central one affords."""

import pytest
from optldp.designer.planning import largest_budget
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.shuffling import Shuffled


def made(epsilon):
    return categorical_grr("abc", epsilon)


def test_the_budget_keeps_the_central_one_and_a_larger_one_does_not():
    tried = []
    found = largest_budget(made, 0.9, 20, 1e-2, progress=lambda epsilon, central: tried.append((epsilon, central)))
    assert found.mixed.central_epsilon <= 0.9 < Shuffled(made(found.epsilon * 1.001), 20, 1e-2).central_epsilon
    assert (found.epsilon, found.mixed.central_epsilon) in tried


def test_what_every_budget_keeps_affords_the_largest():
    assert largest_budget(made, 17.0, 2, 1e-2).epsilon == 16.0


def test_less_than_the_smallest_budget_has_is_refused():
    with pytest.raises(InputError, match="ask more users"):
        largest_budget(made, 1e-9, 2, 1e-9)
