"""Designs with a floor of few pieces: private, unbiased, between PTT and the certified optimum at every budget."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import Design, Pieces, Prior, Variance, WorstCase, design
from optldp.designer.designs.judging import problem_for
from optldp.designer.methods.piece_search import piece_search
from optldp.designer.methods.pieces import closed_share
from optldp.mechanisms import InputError, load_table, ptt, save_table, verify
from optldp.solvers.shaped.floor import windows

NINE = np.linspace(-1, 1, 9)


def prior_of(name: str, knots: np.ndarray = NINE) -> Prior:
    t = np.linspace(-1, 1, knots.size)
    weights = {
        "uniform": np.ones_like(t),
        "gaussian": np.exp(-(t**2) / (2 * 0.3**2)),
        "exponential": np.exp(-6 * (t + 1)),
        "one end": np.eye(t.size)[0],
    }
    return Prior.on_knots(knots, weights[name], source="public")


def checked(made: Design) -> Design:
    """Recompute from the table what the design says of it, and its place between PTT and the optimum."""
    table = made.mechanism
    low, high = table.domain
    found = verify(table)
    assert found.verdict == ("proved" if table.exact else "not proved")
    assert made.max_log_ratio == found.max_log_ratio <= made.epsilon
    assert made.max_abs_bias == found.max_abs_bias <= 1e-9 * (high - low)
    assert made.worst_case_variance == found.worst_case_variance
    assert made.expected_variance == table.expected_variance(made.prior.knot_prior)
    assert (table.prior is None) is (not made.objective.uses_prior)
    assert made.bound <= made.value <= made.evidence.ptt_value * (1 + 1e-6)
    assert made.mechanism.low.size <= 2 * table.knots.size + 3 * made.evidence.shape.low.size
    return made


@pytest.mark.nightly
@pytest.mark.parametrize("examples", [3, pytest.param(16, marks=pytest.mark.nightly)])
def test_every_design_is_private_unbiased_and_between_ptt_and_the_bound(examples):
    @settings(max_examples=examples)
    @given(
        name=st.sampled_from(["uniform", "gaussian", "exponential", "one end"]),
        n=st.integers(2, 11),
        epsilon=st.floats(0.05, 6.0),
        pieces=st.integers(1, 2),
        worst_case=st.booleans(),
        domain=st.sampled_from([(-1.0, 1.0), (0.0, 1e5), (2000.0, 2024.0)]),
    )
    def holds(name, n, epsilon, pieces, worst_case, domain):
        low, high = domain
        prior = prior_of(name, np.linspace(low, high, n))
        made = design(prior, epsilon, method=Pieces(pieces), objective=WorstCase() if worst_case else Variance())
        assert checked(made).evidence.shape.low.size <= pieces

    holds()


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", ["uniform", "gaussian", "exponential"])
def test_the_reference_values_lie_on_the_sides_they_should(name, epsilon):
    """PTT from the family itself, and the optimum from `design`."""
    prior = prior_of(name)
    made = checked(design(prior, epsilon, method=Pieces(2 if name == "exponential" else 3), uniform_share=0.0))
    rival = ptt(prior.knots, epsilon, second_moment=float(prior.weights @ prior.knots**2))
    assert made.evidence.ptt_value == pytest.approx(rival.expected_variance(prior.knot_prior), rel=1e-12)
    best = design(prior, epsilon, uniform_share=0.0)
    assert best.bound == pytest.approx(made.bound, rel=1e-9)
    assert best.expected_variance * (1 - 2e-6) <= made.expected_variance < made.evidence.ptt_value


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "epsilon", "pieces", "share"),
    [("uniform", 0.5, 2, 0.99), ("uniform", 1.0, 3, 0.99), ("gaussian", 0.5, 2, 0.97), ("exponential", 1.0, 2, 0.96)],
)
def test_few_pieces_close_most_of_the_gap(name, epsilon, pieces, share):
    prior = prior_of(name, np.linspace(-1, 1, 17))
    assert design(prior, epsilon, method=Pieces(pieces), uniform_share=0.0).evidence.gap_closed > share


@pytest.mark.nightly
def test_the_gap_closes_as_pieces_are_added():
    asked = Variance()
    problem = problem_for(prior_of("gaussian"), 1.0, asked, uniform_share=0.0)
    solution = asked.solve(problem)
    chain, bound = piece_search(problem, asked, solution.mechanism, 6), asked.bound(problem, solution.multipliers)
    closed = [closed_share(one.objective, chain.floors[0].objective, bound) for one in chain.floors]
    assert closed == sorted(closed)
    assert closed[0] < 1e-6 < 0.8 < closed[2]
    assert closed[-1] > 0.95
    table = chain.table(chain.floors[-1].floor)
    assert not verify(table).failures
    assert chain.value(table) == pytest.approx(chain.floors[-1].objective, rel=1e-9)


@pytest.mark.nightly
def test_the_worst_case_is_between_ptts_and_the_minimax():
    made = checked(design(prior_of("exponential"), 1.0, method=Pieces(), objective=WorstCase()))
    assert made.value == made.mechanism.knot_variances.max()
    assert made.bound == pytest.approx(design(Prior.even(NINE), 1.0, objective=WorstCase()).bound, rel=1e-9)
    assert made.evidence.ptt_value == pytest.approx(ptt(NINE, 1.0).knot_variances.max(), rel=1e-12)
    assert made.evidence.gap_closed > 0.9


@pytest.mark.nightly
def test_the_worst_case_knows_no_prior():
    one, other = (
        design(prior_of(name), 2.0, method=Pieces(), objective=WorstCase()) for name in ("uniform", "exponential")
    )
    assert one.value == pytest.approx(other.value, rel=1e-6)
    np.testing.assert_allclose(one.evidence.shape.low, other.evidence.shape.low, rtol=1e-3)


@pytest.mark.nightly
def test_the_table_is_exact_unless_told_otherwise():
    prior = prior_of("uniform")
    exact, double = (design(prior, 1.0, method=Pieces(2), exact=exact) for exact in (True, False))
    assert exact.mechanism.exact
    assert not double.mechanism.exact
    assert exact.value == pytest.approx(double.value, rel=1e-6)
    checked(double)


@pytest.mark.nightly
def test_the_few_numbers_say_all_of_the_table():
    """Pieces and the window's mass, in the user's units: rows rebuilt from them are the table's."""
    knots = np.linspace(10.0, 30.0, 9)
    made = design(prior_of("gaussian", knots), 2.0, method=Pieces(), exact=False)
    table, shape = made.mechanism, made.evidence.shape
    assert made.evidence.window_mass == pytest.approx((1 - shape.total) / math.expm1(2.0), rel=1e-9)
    found = windows(shape, knots, math.exp(2.0))
    middle = (table.low + table.high) / 2
    for row, left, right in zip(table.probabilities, found.left, found.right, strict=True):
        inside = (left < middle) & (middle < right)
        wide = np.minimum(np.abs(middle - left), np.abs(middle - right)) > 1e-6
        least = table.probabilities.min(axis=0)
        raised = row / least > 1 + 1e-6
        has_floor = least > 1e-12
        np.testing.assert_array_equal(raised[wide & has_floor], inside[wide & has_floor])
    parameters = table.provenance.parameters
    np.testing.assert_array_equal(parameters["piece_low"], shape.low)
    np.testing.assert_array_equal(parameters["piece_mass"], shape.mass)
    assert table.provenance.claims_unbiased


@pytest.mark.nightly
def test_a_symmetric_prior_gets_a_symmetric_floor():
    shape = design(prior_of("gaussian"), 1.0, method=Pieces()).evidence.shape
    np.testing.assert_allclose(shape.low, -shape.high[::-1], atol=1e-12)
    np.testing.assert_allclose(shape.mass, shape.mass[::-1], rtol=1e-12)


@pytest.mark.nightly
def test_other_units_give_the_same_mechanism():
    here = design(prior_of("exponential"), 1.0, method=Pieces(2))
    there = design(prior_of("exponential", np.linspace(0, 100, 9)), 1.0, method=Pieces(2))
    assert there.value == pytest.approx(2500 * here.value, rel=1e-4)
    assert there.evidence.gap_closed == pytest.approx(here.evidence.gap_closed, abs=1e-3)


@pytest.mark.nightly
def test_a_saved_design_is_the_same(tmp_path):
    made = design(prior_of("uniform"), 1.0, method=Pieces())
    save_table(made.mechanism, tmp_path / "shaped.json")
    back = load_table(tmp_path / "shaped.json")
    assert not verify(back).failures
    np.testing.assert_array_equal(back.probabilities, made.mechanism.probabilities)
    certificate = back.provenance.certificate
    assert certificate is not None
    assert certificate["bound"] == made.bound


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pieces": 0}, "whole number from 1 to 12"),
        ({"pieces": 13}, "whole number from 1 to 12"),
        ({"pieces": 2.0}, "whole number from 1 to 12"),
        ({"pieces": True}, "whole number from 1 to 12"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"uniform_share": 2.0}, "uniform share"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    given = {"pieces": 3, **options}
    with pytest.raises(InputError, match=told):
        design(prior_of("uniform"), 1.0, method=Pieces(given.pop("pieces")), **given)


def test_a_budget_that_cannot_be_is_refused():
    with pytest.raises(InputError, match="epsilon"):
        design(prior_of("uniform"), -1.0, method=Pieces())


def test_progress_is_that_of_the_certificate():
    steps = []
    design(prior_of("uniform"), 1.0, method=Pieces(1), progress=steps.append)
    assert steps
    assert steps[-1].gap < 1e-5
