"""The mean of a floor form's reports, without its table."""

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.estimators import count, estimate_mean
from optldp.estimators.means.mean import average_of
from optldp.mechanisms import InputError
from optldp.mechanisms.compact_tables import form_over

from ...mechanisms.floor_forms import by_hand, wide_form


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_it_is_what_counts_of_an_optimal_table_give(epsilon):
    """Value, error, influence and words: no other values of its outputs dominate the outputs themselves."""
    prior = Prior.on_knots(np.linspace(0, 10, 21), np.arange(21, 0, -1.0), source="public")
    form = design(prior, epsilon, form="floor").mechanism
    reports = form.sample(np.linspace(0, 10, 3000), np.random.default_rng(1))
    mine, theirs = average_of(form, reports), estimate_mean(count(form.expand(), reports))
    assert (mine.method, mine.n, mine.target) == (theirs.method, theirs.n, theirs.target)
    assert mine.value == pytest.approx(theirs.value, rel=1e-12)
    assert mine.std_error == pytest.approx(theirs.std_error, rel=1e-12)
    assert mine.one_report == pytest.approx(theirs.one_report)


@pytest.mark.nightly
def test_a_form_whose_table_nobody_can_hold_has_a_mean():
    """Of ten thousand knots, made over a floor of forty outputs."""
    few = wide_form(21, 42, 1.0)
    many = form_over(np.linspace(*few.domain, 10_001), few.outputs, few.floor / 2**53, few.epsilon)
    values = np.random.default_rng(2).beta(2, 5, 20_000) * 100
    found = average_of(many, many.sample(values, np.random.default_rng(3)))
    assert abs(found.value - values.mean()) < 4 * found.std_error


def test_what_is_no_mean_is_refused():
    """One line each."""
    with pytest.raises(InputError, match="unless they are unbiased"):
        average_of(by_hand(), [-5.0, 2.0])
    form = wide_form(5, 10, 1.0)
    with pytest.raises(InputError, match="at least 2"):
        average_of(form, form.outputs[:1])
    with pytest.raises(InputError, match="output"):
        average_of(form, [0.123, 0.456])
