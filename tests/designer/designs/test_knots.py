"""Certificates against the whole interval, and designs with as many knots as a gap asks for."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from optldp.designer import KnotChoice, Prior, WorstCase, continuum_certificate, design
from optldp.designer.designs.knots import ContinuumCertificate
from optldp.mechanisms import FAMILIES, InputError, verify
from optldp.solvers import UnbiasedProgram, continuum_bound
from scipy import stats

VALUES = np.random.default_rng(5).beta(2, 5, 400)

PRIORS: dict[str, Callable[[int], Prior]] = {
    "uniform": lambda n: Prior.from_distribution(stats.uniform(0, 1), knots=n),
    "gaussian": lambda n: Prior.from_distribution(stats.norm(0.5, 0.1), knots=n, domain=(0, 1)),
    "arcsine": lambda n: Prior.from_distribution(stats.beta(0.5, 0.5), knots=n),
    "data": lambda n: Prior.from_data(VALUES, knots=n, domain=(0, 1)),
    "data in one half": lambda n: Prior.from_data(VALUES, knots=n, domain=(-1, 1)),
}


def certificate(prior: Prior, epsilon: float) -> ContinuumCertificate:
    return continuum_certificate(design(prior, epsilon, tolerance=1e-6, uniform_share=0.0, exact=False))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("name", PRIORS)
def test_the_bound_lies_below_what_finer_knots_reach_and_rises_with_them(name, epsilon):
    """On nested knots the expected variance falls towards the optimum of the interval and the bound rises to it."""
    found = [certificate(PRIORS[name](n), epsilon) for n in (11, 21, 41)]
    assert [one.knots for one in found] == [11, 21, 41]
    assert max(one.lower_bound for one in found) <= min(one.expected_variance for one in found)
    for coarse, fine in pairwise(found):
        assert fine.expected_variance <= coarse.expected_variance * (1 + 1e-6)
        assert fine.lower_bound > coarse.lower_bound
        assert fine.total_gap < 0.45 * coarse.total_gap
    for one in found:
        assert one.lower_bound <= one.knot_bound <= one.expected_variance
        assert one.total_gap == (one.expected_variance - one.lower_bound) / one.expected_variance


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", FAMILIES)
def test_every_family_is_judged_by_the_same_bound(method):
    """Their own variance, the optimum's bound: none is below it, and none is nearer than the optimum."""
    prior = PRIORS["data"](21)
    best = design(prior, 1.0, uniform_share=0.0, exact=False)
    made = design(prior, 1.0, method=method, uniform_share=0.0)
    own, optimal = continuum_certificate(made), continuum_certificate(best)
    assert own.lower_bound == optimal.lower_bound
    assert own.expected_variance == pytest.approx(made.expected_variance, rel=1e-12)
    assert own.total_gap >= optimal.total_gap - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1e5), (2000.0, 2024.0), (-3.001, -3.0)])
def test_units_and_offsets_scale_the_variances_and_leave_the_gap(low, high):
    plain = certificate(Prior.from_data(VALUES, knots=15, domain=(0, 1)), 1.0)
    moved = certificate(Prior.from_data(low + (high - low) * VALUES, knots=15, domain=(low, high)), 1.0)
    assert moved.lower_bound == pytest.approx((high - low) ** 2 * plain.lower_bound, rel=1e-6)
    assert moved.total_gap == pytest.approx(plain.total_gap, rel=1e-3)


def test_the_bound_is_that_of_the_whole_budget_though_the_table_keeps_below_it():
    """Multipliers of the table's slightly smaller budget, priced at e^epsilon itself."""
    prior = Prior.from_data(2 * VALUES - 1, knots=15, domain=(-1, 1))
    best = design(prior, 3.0, tolerance=1e-6, uniform_share=0.0, exact=False)
    program = UnbiasedProgram(prior.knots, prior.weights, math.exp(3.0))
    multipliers = best.certificate.multipliers
    bound = continuum_bound(program, multipliers["lam"], multipliers["nu"], prior.rounding).lower_bound
    assert continuum_certificate(best).lower_bound == pytest.approx(bound, rel=1e-12)


def test_values_on_the_knots_need_no_other_mechanism():
    """Rounding then costs nothing, and the optimum on the knots is the interval's."""
    prior = Prior.on_knots(np.arange(11.0), np.arange(1.0, 12.0), source="public")
    assert certificate(prior, 1.0).total_gap < 2e-6


@pytest.mark.slow
def test_it_judges_the_expected_variance_on_the_priors_knots_alone():
    prior = PRIORS["uniform"](51)
    with pytest.raises(InputError, match="on the 51 knots of the prior, got 26 knots"):
        continuum_certificate(design(prior, 1.0, method="aaa"))
    with pytest.raises(InputError, match="bound is on the expected variance, got least worst-case variance"):
        continuum_certificate(design(prior, 1.0, objective=WorstCase(), tolerance=1e-3))


class TestKnotChoice:
    @pytest.mark.nightly
    @pytest.mark.parametrize(("epsilon", "gap"), [(0.5, 1e-3), (1.0, 1e-3), (4.0, 1e-2)])
    @pytest.mark.parametrize("name", PRIORS)
    def test_it_reaches_the_gap_in_few_designs_with_few_knots_too_many(self, name, epsilon, gap):
        found = design(KnotChoice(PRIORS[name], gap=gap), epsilon)
        knots = [one.knots for one in found.evidence.tried]
        assert found.status == "optimal"
        assert found.evidence.last.total_gap <= gap
        assert all(one.total_gap > gap for one in found.evidence.tried[:-1])
        assert knots == sorted(set(knots))
        assert len(knots) <= 3
        assert found.mechanism.knots.size == knots[-1]
        if len(knots) > 1:
            fewer = PRIORS[name](2 * int(0.4 * knots[-1]) + 1).mixed(1e-3)
            assert certificate(fewer, epsilon).total_gap > gap

    @pytest.mark.slow
    def test_the_certificate_is_of_the_table_returned_under_the_prior_solved_for(self):
        found = design(KnotChoice(PRIORS["data"], gap=2e-3), 1.0, uniform_share=0.02)
        last = found.evidence.last
        prior = PRIORS["data"](last.knots).mixed(0.02)
        assert not verify(found.mechanism).failures
        assert found.mechanism.exact
        assert last.expected_variance == found.value == found.mechanism.expected_variance(prior.knot_prior)
        assert last.lower_bound == certificate(prior, 1.0).lower_bound

    @pytest.mark.slow
    def test_its_bound_and_gap_are_those_of_the_whole_interval_in_its_certificate_and_its_file_too(self):
        found = design(KnotChoice(PRIORS["data"], gap=2e-3), 1.0)
        plain = continuum_certificate(design(found.prior, 1.0, tolerance=1e-6))
        assert found.evidence.last == plain
        assert (found.bound, found.gap) == (plain.lower_bound, plain.total_gap)
        assert 1e-6 > plain.knot_gap < found.gap / 100
        again = found.certificate.check()
        assert (again.value, again.bound, again.gap) == (found.value, found.bound, found.gap)
        written = found.mechanism.provenance.certificate
        assert (written["bound"], written["gap"], written["status"]) == (found.bound, found.gap, found.status)
        assert "no unbiased mechanism on the whole interval has less than" in found.summary()

    @pytest.mark.slow
    def test_it_stops_at_the_most_knots_and_says_so(self):
        found = design(KnotChoice(PRIORS["uniform"], gap=1e-4, most_knots=30), 4.0)
        assert found.status == "gap-open"
        assert [one.knots for one in found.evidence.tried] == [21, 30]
        assert found.evidence.last.total_gap > 1e-4

    @pytest.mark.nightly
    def test_a_gap_that_falls_unevenly_does_not_send_it_to_the_end(self):
        """Four values between knots: more knots may even widen the gap."""
        found = design(KnotChoice(lambda n: Prior.from_data(VALUES[:4], knots=n, domain=(0, 1)), gap=2e-3), 2.0)
        gaps = [one.total_gap for one in found.evidence.tried]
        assert found.status == "optimal"
        assert max(np.diff(gaps)) > 0
        assert found.evidence.last.knots < 200

    def test_the_first_design_may_be_the_last(self):
        assert [one.knots for one in design(KnotChoice(PRIORS["uniform"], gap=0.01), 0.5).evidence.tried] == [21]

    def test_the_default_gap_is_a_ten_thousandth_as_far_as_401_knots_reach_it(self):
        plain, asked = KnotChoice(PRIORS["uniform"]), KnotChoice(PRIORS["uniform"], gap=1e-4)
        assert (plain.wanted, plain.most, asked.wanted, asked.most) == (1e-4, 401, 1e-4, 2001)
        far = ContinuumCertificate(knots=21, expected_variance=1.0, lower_bound=0.5, knot_bound=1.0)
        assert (plain.next_knots([far]), asked.next_knots([far])) == (401, 1537)

    @pytest.mark.nightly
    def test_a_prior_that_knows_its_values_is_put_on_other_knots(self):
        once, twice = (design(KnotChoice(prior, gap=2e-3), 1.0) for prior in (PRIORS["data"], PRIORS["data"](7)))
        assert (once.value, once.bound, once.evidence) == (twice.value, twice.bound, twice.evidence)

    @pytest.mark.slow
    @pytest.mark.parametrize(("epsilon", "knots"), [(0.1, [21, 27]), (4.0, [21, 41])])
    def test_steps_on_which_all_values_lie_are_the_knots_where_the_law_asks_for_more(self, epsilon, knots):
        """Whole numbers from 0 to 40: at a small budget fewer knots are near enough."""
        prior = Prior.from_data(np.arange(400) ** 2 % 41, domain=(0, 40))
        found = design(KnotChoice(prior), epsilon)
        assert [one.knots for one in found.evidence.tried] == knots
        assert found.gap <= (1e-6 if epsilon == 4 else 1e-4)

    def test_few_values_of_a_prior_are_its_knots_however_they_lie(self):
        prior = Prior.on_knots([0, 1, 10, 100], [1, 2, 3, 4])
        found = design(KnotChoice(prior), 4.0)
        assert found.mechanism.knots.tolist() == [0, 1, 10, 100]
        assert found.gap <= 1e-6
        even = design(KnotChoice(Prior.on_knots([0, 10, 30, 35, 40], [1, 2, 3, 4, 5])), 4.0)
        assert even.mechanism.knots.tolist() == [0, 10, 30, 35, 40]

    @pytest.mark.slow
    def test_progress_is_told_of_every_design(self):
        seen = []
        found = design(KnotChoice(PRIORS["uniform"], gap=1e-3), 1.0, progress=lambda step: seen.append(step.step))
        assert seen.count(1) + seen.count(0) >= len(found.evidence.tried) == 2

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"gap": 0.0}, "gap must lie strictly between 0 and 1, got 0.0"),
            ({"gap": 1.0}, "gap must lie strictly between 0 and 1, got 1.0"),
            ({"gap": float("nan")}, "gap must lie strictly between 0 and 1, got nan"),
            ({"most_knots": 20}, "most_knots must be at least 21, got 20"),
            ({"epsilon": -1.0}, "epsilon"),
            ({"prior": lambda n: PRIORS["uniform"](n + 1)}, "asked for must be on 21 knots, got 22: give prior.on"),
        ],
    )
    def test_unusable_options_are_refused(self, options, message):
        given = {"prior": PRIORS["uniform"], **options}
        epsilon = given.pop("epsilon", 1.0)
        with pytest.raises(InputError, match=message):
            design(KnotChoice(**given), epsilon)

    def test_it_is_for_the_least_expected_variance_alone(self):
        choice = KnotChoice(PRIORS["uniform"])
        with pytest.raises(InputError, match=r"a number of knots is .* alone, got least worst-case variance: use"):
            design(choice, 1.0, objective=WorstCase())
        with pytest.raises(InputError, match="chosen for the optimum alone, got method 'duchi'"):
            design(choice, 1.0, method="duchi")


def test_the_refusal_of_a_prior_on_other_knots_names_the_call_that_helps():
    prior = Prior.from_distribution(stats.uniform(0, 1), knots=41)
    made = design(KnotChoice(prior.on, gap=1e-2), 1.0, uniform_share=0.0)
    with pytest.raises(InputError, match=r"give prior\.on\(made\.mechanism\.knots\)"):
        made.against(prior)
    assert made.against(prior.on(made.mechanism.knots)) == pytest.approx(made.value, rel=1e-9)
