"""Designs of several levels on common outputs, judged by what they return."""

# Tests know which kind of mechanism they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Design, Error, Levels, Prior, WorstCase, design
from optldp.mechanisms import InputError, load_mechanism, prove, save_bundle
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.solvers import Status

NINE = Prior.on_knots(np.linspace(0, 100, 9), np.ones(9), source="public")
BUDGETS = 0.5, 1.0, 2.0


def of_nine(leakage: float, **options) -> Design:
    return design(NINE, Levels(BUDGETS, leakage=leakage), uniform_share=0, **options)


@pytest.mark.parametrize(
    ("leakage", "mean_variance"), [(math.inf, 6.911), (3, 7.37), (2, 8.17), (1, 11.01), (0.5, 13.77), (0, 16.00)]
)
def test_outputs_of_its_own_choice_are_no_worse_than_a_grid(leakage, mean_variance):
    """Reference: linear programs by HiGHS on 77 equal steps, in squared half-widths."""
    made = of_nine(leakage)
    assert 0.998 * mean_variance < made.value / 50**2 < mean_variance * 1.0005
    assert made.status is Status.OPTIMAL
    assert made.gap < 1e-4


@pytest.mark.slow
def test_the_tables_are_exact_unbiased_and_tell_levels_apart_by_no_more_than_asked():
    """By whole numbers, recomputed here."""
    made = of_nine(1.0)
    assert [table.epsilon for table in made.mechanism.levels] == list(BUDGETS)
    assert all(prove(table).ok and table.provenance.claims_unbiased for table in made.mechanism.levels)
    limit = exponential_below(1.0)
    for one, other in permutations(made.mechanism.levels, 2):
        assert all(
            a <= limit * b
            for a, b in zip(one.numerators.ravel().tolist(), other.numerators.ravel().tolist(), strict=True)
        )
    assert 0.99 < made.evidence.leakage <= 1.0


@pytest.mark.slow
def test_value_bound_and_variances_are_those_of_the_tables():
    """The mean by shares of what each table says of itself, and a certificate that finds them again."""
    made = design(NINE, Levels(BUDGETS, shares=[1, 1, 2], leakage=1.0), uniform_share=0)
    own = [table.knot_variances.mean() for table in made.mechanism.levels]
    assert made.evidence.expected_variances == pytest.approx(own)
    assert made.value == pytest.approx(np.dot([0.25, 0.25, 0.5], own))
    checked = made.certificate.check()
    assert (checked.value, checked.bound) == (made.value, made.bound)


def test_the_bound_does_not_trust_the_solver():
    """Multipliers of nothing prove that no variance is negative, and no more."""
    made = of_nine(1.0)
    found = made.certificate.found
    none = replace(found, multipliers={name: np.zeros_like(part) for name, part in found.multipliers.items()})
    assert replace(made.certificate, found=none).check().bound == 0.0


@pytest.mark.slow
def test_a_prior_with_rounding_adds_its_variance_to_value_and_bound():
    """Values between knots: as for one table."""
    values = np.random.default_rng(1).uniform(0, 100, 500)
    prior = Prior.from_data(values, knots=5, domain=(0, 100))
    made = design(prior, Levels(BUDGETS), uniform_share=0)
    alone = [design(prior, epsilon, uniform_share=0) for epsilon in BUDGETS]
    assert made.value == pytest.approx(np.mean([each.value for each in alone]), rel=2e-4)
    assert made.bound > 0.999 * np.mean([each.bound for each in alone])


def test_outputs_may_be_given():
    """The grid of the reference."""
    made = of_nine(1.0, outputs=50 + 50 * np.linspace(-9.5, 9.5, 77))
    assert made.value / 2500 == pytest.approx(11.009, abs=5e-4)
    assert made.mechanism.levels[0].low.size <= 77


def test_outputs_too_near_for_the_strictest_level_are_refused_with_its_name():
    """The reach of level 0.1 is 1051.7, the least distance at which two outputs are unbiased."""
    with pytest.raises(
        InputError, match=r"outputs must reach from -951\.\d+ to 1051\.\d+ for level 0\.1, the strictest"
    ):
        design(NINE, Levels([0.1, 2]), outputs=np.linspace(-100, 200, 50))


@pytest.mark.slow
def test_a_bundle_of_them_is_saved_and_comes_back(tmp_path):
    """Levels protected; the same leakage is computed from the file."""
    made = design(NINE, Levels(BUDGETS, leakage=1.0, level_epsilon=0.5))
    save_bundle(made.mechanism, tmp_path / "levels.json")
    back = load_mechanism(tmp_path / "levels.json")
    assert back.failures() == ()
    assert back.level_leakage == made.mechanism.level_leakage < 1.5


@pytest.mark.slow
def test_a_summary_names_levels_and_whom_the_bound_is_for():
    """In words."""
    told = of_nine(1.0).summary()
    assert "levels 0.5, 1, 2 that a report tells apart by at most 1" in told
    assert "no unbiased levels on these knots and outputs has less than" in told


@pytest.mark.parametrize(
    ("prior", "options"),
    [
        (CategoricalPrior(["a", "b"], [1, 1]), {}),
        (NINE, {"objective": WorstCase()}),
        (NINE, {"method": "duchi"}),
        (NINE, {"exact": False}),
        ({"age": NINE}, {}),
    ],
    ids=str,
)
def test_levels_of_something_else_are_refused(prior, options):
    """One line that says where to go."""
    with pytest.raises(InputError, match="levels are exact tables of numbers of least expected variance"):
        design(prior, Levels(BUDGETS), **options)


def test_outputs_of_one_budget_are_refused():
    """They would be ignored."""
    with pytest.raises(InputError, match="outputs are for"):
        design(NINE, 1.0, objective=Error(1000), outputs=[-100, 200])


@pytest.mark.slow
def test_progress_is_told():
    """A call for each solver step."""
    told = []
    of_nine(1.0, progress=told.append)
    assert len(told) > 10
