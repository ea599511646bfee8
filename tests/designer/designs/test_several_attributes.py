"""Several attributes: the number sampled is the best there is, predictions hold, budgets are kept."""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from optldp.designer import METHODS, Attributes, Error, FactorAmbiguity, KnotChoice, Prior, WorstCase, design
from optldp.designer.designs.several_attributes import LEAST_SHARE, predicted_variance, rule_of_thumb
from optldp.estimators import count, estimate_attribute_means
from optldp.mechanisms import InputError, duchi, ptt, three_outputs

NAMES = ("age", "hours", "pay")


def data(n: int = 4000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {"age": rng.uniform(18, 90, n), "hours": rng.beta(8, 12, n) * 100, "pay": rng.beta(1, 6, n) * 1e5}


DOMAINS = {"age": (18.0, 90.0), "hours": (0.0, 100.0), "pay": (0.0, 1e5)}


def priors(knots: int = 9) -> dict[str, Prior]:
    values = data()
    return {n: Prior.from_data(values[n], knots=knots, domain=DOMAINS[n], source="public") for n in NAMES}


def brute_force(given: dict[str, Prior], epsilon: float, method: str, weights: dict[str, float]) -> list[float]:
    """The weighted sum for every number of attributes, from designs of our own."""
    d = len(given)
    totals = []
    for k in range(1, d + 1):
        total = 0.0
        for name, prior in given.items():
            spread = prior.weights @ (prior.knots - prior.mean) ** 2 - prior.rounding.sum()
            noise = design(prior, epsilon / k, method=method).expected_variance
            total += weights[name] * (noise * d / k + (d / k - 1) * spread)
        totals.append(float(total))
    return totals


class TestChoice:
    @pytest.mark.nightly
    @pytest.mark.parametrize("method", ["optimal", "duchi", "square-wave"])
    @pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 6.0, 8.0, 12.0])
    def test_the_number_sampled_is_the_best_of_all(self, method, epsilon):
        """Against designs for every number; what is reported of each is that sum."""
        given = priors(5)
        made = design(given, epsilon, method=method)
        weights = {n: 4 / (high - low) ** 2 for n, (low, high) in DOMAINS.items()}
        totals = brute_force(given, epsilon, method, weights)
        assert made.mechanism.sampled == 1 + int(np.argmin(totals))
        assert [choice.sampled for choice in made.evidence.choices] == list(range(1, len(made.evidence.choices) + 1))
        for choice, total in zip(made.evidence.choices, totals, strict=False):
            assert choice.designed is None or choice.designed == pytest.approx(total, rel=1e-5)
        assert sum(choice.designed is not None for choice in made.evidence.choices) >= min(
            2, len(made.evidence.choices)
        )

    @pytest.mark.nightly
    def test_it_moves_downhill_from_where_the_closed_forms_point(self, monkeypatch):
        """Screening that prefers one attribute at budgets where three are best."""
        from optldp.designer.designs import several_attributes as module

        honest = module._screened
        monkeypatch.setattr(
            module, "_screened", lambda p, e: {n: v if e > 10 else 1e12 for n, v in honest(p, e).items()}
        )
        made = design(priors(5), 15.0, method="duchi")
        totals = brute_force(priors(5), 15.0, "duchi", {n: 4 / (b - a) ** 2 for n, (a, b) in DOMAINS.items()})
        assert made.mechanism.sampled == 1 + int(np.argmin(totals)) == 3
        assert [choice.designed is None for choice in made.evidence.choices] == [False, False, False]

    @pytest.mark.nightly
    def test_weights_change_the_choice(self):
        """Duchi on a two-point prior is exact at large budgets, so it may wait; an even prior may not."""
        given = {
            "two": Prior.on_knots([-1, 1], [0.5, 0.5], source="public"),
            "even": Prior.on_knots(np.linspace(-1, 1, 9), np.ones(9), source="public"),
            "flat": Prior.on_knots(np.linspace(-1, 1, 9), np.ones(9), source="public"),
        }
        chosen = [
            design(Attributes(given, weights=weights), 7.0).mechanism.sampled
            for weights in ({"two": 1.0, "even": 1e-6, "flat": 1e-6}, {"two": 1e-6, "even": 1.0, "flat": 1.0})
        ]
        assert chosen[0] > chosen[1]

    @pytest.mark.nightly
    def test_units_do_not_matter(self):
        """Cents for euros, and an offset: the same choice, by default weights."""
        given = priors(5)
        moved = {
            n: Prior.from_data(100 * data()[n] + 7, knots=100 * p.knots + 7, source="public") for n, p in given.items()
        }
        here, there = (design(p, 6.0, method="piecewise") for p in (given, moved))
        assert here.mechanism.sampled == there.mechanism.sampled
        for mine, other in zip(here.evidence.choices, there.evidence.choices, strict=True):
            assert mine.screened == pytest.approx(other.screened, rel=1e-9)

    @pytest.mark.nightly
    @pytest.mark.parametrize("knots", [2, 3, 21])
    def test_budgets_below_one_are_rightly_not_looked_at(self, knots):
        """Half as many attributes at twice the budget do better, by closed forms and by the optimum, however spread."""
        grid = np.linspace(-1, 1, knots)
        for seed in range(6):
            prior = Prior.on_knots(grid, np.random.default_rng(seed).dirichlet(np.full(knots, 0.3)), source="public")
            spread = prior.second_moment - prior.mean**2
            for share in (0.05, 0.3, LEAST_SHARE):
                for build in (lambda e: duchi(grid, e), lambda e: three_outputs(grid, e), lambda e: ptt(grid, e)):
                    one, two = (build(e).expected_variance(prior.knot_prior) for e in (2 * share, share))
                    assert predicted_variance(one, spread, 0.1) < predicted_variance(two, spread, 0.2)
                one, two = (design(prior, e, tolerance=1e-4).expected_variance for e in (2 * share, share))
                assert predicted_variance(one, spread, 0.1) < predicted_variance(two, spread, 0.2)

    @pytest.mark.nightly
    def test_the_rule_of_thumb_is_that_of_the_paper(self):
        """max(1, min(d, floor(epsilon / 2.5)))."""
        for d in (1, 2, 5):
            for epsilon in (0.1, 2.4, 2.5, 5.0, 7.4, 16.0):
                assert rule_of_thumb(epsilon, d) == max(1, min(d, math.floor(epsilon / 2.5)))
        assert design(priors(3), 5.0, method="duchi").evidence.rule_of_thumb == 2


class TestDesign:
    @pytest.mark.slow
    @pytest.mark.parametrize("sampled", [1, 2, 3])
    def test_a_number_that_is_given_is_kept(self, sampled):
        made = design(Attributes(priors(5), sampled=sampled), 2.0, method="duchi")
        assert made.mechanism.sampled == sampled
        assert [choice.sampled for choice in made.evidence.choices] == [sampled]
        assert made.evidence.choices[0].epsilon == made.mechanism.mechanisms[0].epsilon
        assert made.mechanism.largest_spending <= Fraction(2.0)
        assert made.mechanism.largest_spending > Fraction(2.0) * (1 - Fraction(1, 2**50))

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", METHODS)
    def test_every_method_makes_private_tables_with_evidence(self, method):
        made = design(Attributes(priors(5), sampled=2), 1.5, method=method)
        assert made.mechanism.failures() == ()
        assert made.mechanism.attributes == NAMES
        for name, table in zip(NAMES, made.mechanism.mechanisms, strict=True):
            assert made.evidence.designs[name].mechanism is table
            assert made.evidence.designs[name].method == method
            assert table.domain == DOMAINS[name]

    @pytest.mark.nightly
    @pytest.mark.parametrize(("epsilon", "sampled"), [(1.0, 1), (6.0, 2), (6.0, 3)])
    def test_predicted_variances_are_those_that_are_seen(self, epsilon, sampled):
        """600 collections of reports of the data that the priors came from, within a sixth."""
        values = {n: column[:800] for n, column in data().items()}
        given = {n: Prior.from_data(values[n], knots=9, domain=DOMAINS[n], source="public") for n in NAMES}
        made = design(Attributes(given, sampled=sampled), epsilon)
        rng = np.random.default_rng(8)
        means = np.array(
            [
                estimate_attribute_means(count(made.mechanism, made.mechanism.sample(values, rng))).value
                for _ in range(600)
            ]
        )
        truth = np.array([values[n].mean() for n in NAMES])
        expected = np.array(list(made.evidence.predicted_variances(800).values()))
        assert (np.abs(means.mean(axis=0) - truth) < 4 * np.sqrt(expected / 600)).all()
        np.testing.assert_allclose(((means - truth) ** 2).mean(axis=0), expected, rtol=5 * math.sqrt(2 / 600) + 0.01)

    @pytest.mark.slow
    def test_against_other_priors_it_is_their_weighted_sum(self):
        """Of reports and of values alike, for the tables and the number sampled that there are."""
        given, weights = priors(5), {"age": 1.0, "hours": 2.0, "pay": 1e-6}
        made = design(Attributes(given, sampled=2, weights=weights), 2.0)
        other = {name: Prior.even(prior.knots) for name, prior in given.items()}
        total = 0.0
        for name, prior in other.items():
            noise = made.evidence.designs[name].mechanism.expected_variance(prior.knot_prior)
            spread = prior.weights @ (prior.knots - prior.mean) ** 2
            total += weights[name] * (noise + spread / 3) * 3 / 2
        assert made.against(other) == made.against(Attributes(other)) == pytest.approx(total, rel=1e-12)
        assert made.against(given) == pytest.approx(made.value, rel=1e-2)

    @pytest.mark.parametrize(("other", "got"), [({"age": 1, "pay": 2}, "age, pay"), ({}, "none"), (3, "int")])
    def test_other_attributes_are_refused(self, other, got):
        with pytest.raises(InputError, match=f"a prior for each of age, hours, pay, by name, got {got}"):
            design(priors(3), 1.0, method="duchi").against(other)

    @pytest.mark.nightly
    def test_progress_tells_attribute_and_number(self):
        told = []
        design(priors(5), 2.0, progress=lambda one: told.append((one.attribute, one.sampled, one.step.gap)))
        assert {(name, k) for name, k, _ in told} == {(name, k) for name in NAMES for k in (1, 2)}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"sampled": 0}, "sampled must be 'auto' or a whole number from 1 to 3, got 0"),
            ({"sampled": 4}, "from 1 to 3, got 4"),
            ({"sampled": "all"}, "from 1 to 3, got 'all'"),
            ({"method": "magic"}, "method must be one of optimal"),
            ({"epsilon": 0.0}, "epsilon must be positive"),
            ({"epsilon": 2e-6, "sampled": 3}, "epsilon must be at least 1e-06"),
            ({"weights": {"age": 1.0}}, "weights must be for age, hours, pay, got ones for age"),
            ({"weights": dict.fromkeys(NAMES, 0.0)}, "weights must be positive, got 0.0 for 'age'"),
            ({"weights": dict.fromkeys(NAMES, float("nan"))}, "weights must be positive"),
            ({"priors": {}}, "at least one attribute"),
            ({"uniform_share": 2.0}, "uniform share must lie"),
        ],
    )
    def test_options_that_are_none_are_refused(self, options, message):
        arguments = {"priors": priors(3), "epsilon": 1.0} | options
        what = {name: arguments.pop(name) for name in ("priors", "sampled", "weights") if name in arguments}
        with pytest.raises(InputError, match=message):
            design(Attributes(**what), arguments.pop("epsilon"), **arguments)


def test_a_summary_says_what_the_sum_is_of():
    made = design(Attributes(priors(3), sampled=1), 1.0, method="duchi")
    wanted = sum(4 / np.ptp(DOMAINS[n]) ** 2 * v for n, v in made.evidence.predicted_variances(1).items())
    said = made.summary()
    assert made.value == pytest.approx(wanted, rel=0.02)  # but for the uniform share
    assert f"  weighted sum of the means' variances, times n: {made.value:.6g}\n" in said
    assert "no unbiased mechanism on these knots, with as many attributes sampled, has less than" in said
    assert "of one report" not in said


class TestError:
    """Each attribute has the table for the mean of those who report it, and its own clip."""

    GIVEN: ClassVar = {
        "flat": Prior.on_knots(np.linspace(0, 10, 6), np.ones(6), source="public"),
        "skewed": Prior.on_knots(np.linspace(0, 100, 6), 4.0 ** -np.arange(6), source="public"),
    }

    @pytest.mark.nightly
    @pytest.mark.parametrize("sampled", [1, 2])
    def test_each_table_is_designed_for_those_who_report_it(self, sampled):
        asked = Error(5001, FactorAmbiguity(2.0))
        made = design(Attributes(self.GIVEN, sampled=sampled), 2.0, objective=asked)
        reporting = 5001 * sampled // 2
        errors, weights = {}, {"flat": 4 / 10**2, "skewed": 4 / 100**2}
        for name, prior in self.GIVEN.items():
            alone = design(prior, 2.0 / sampled, objective=Error(reporting, FactorAmbiguity(2.0)))
            one = made.evidence.designs[name]
            assert one.value == pytest.approx(alone.value, rel=1e-6)
            assert one.mechanism.provenance.parameters["n"] == reporting
            spread = prior.weights @ (prior.knots - prior.mean) ** 2
            errors[name] = one.value**2 + (1 - sampled / 2) * spread / (5001 * sampled / 2)
        assert made.evidence.predicted_variances(5001) == pytest.approx(errors)
        assert made.value == pytest.approx(5001 * sum(weights[name] * error for name, error in errors.items()))
        assert made.bound < made.value
        assert made.gap < 2e-4
        checked = made.certificate.check()
        assert (checked.value, checked.bound, checked.failures) == (made.value, made.bound, ())
        assert made.against(self.GIVEN) > 0
        assert "biased or not, with as many attributes sampled, has less" in made.summary()

    @pytest.mark.nightly
    def test_the_best_number_is_sampled(self):
        made = design(self.GIVEN, 6.0, objective=Error(5000, FactorAmbiguity(2.0)))
        totals = [design(Attributes(self.GIVEN, sampled=k), 6.0, objective=made.objective).value for k in (1, 2)]
        assert made.value == pytest.approx(min(totals))
        assert made.mechanism.sampled == 1 + int(np.argmin(totals))

    @pytest.mark.nightly
    def test_other_users_are_another_design(self):
        made = design(Attributes(self.GIVEN, sampled=1), 2.0, objective=Error(5000))
        with pytest.raises(InputError, match="for the error of 5,000 users, got 9: design for those"):
            made.evidence.predicted_variances(9)

    def test_other_objectives_are_refused(self):
        with pytest.raises(InputError, match="designed for the least variance or error alone, got least worst"):
            design(self.GIVEN, 2.0, objective=WorstCase())
        with pytest.raises(InputError, match="chosen for the least expected variance alone, got least error"):
            design(KnotChoice(self.GIVEN["flat"]), 2.0, objective=Error(50))
