"""What a design says of itself: certificates that prove it again, other priors, and words to read."""

import contextlib
import doctest
import inspect
import io
import math
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import optldp.designer
import optldp.designer.objectives
import pytest
from optldp.designer import (
    CategoricalPrior,
    Design,
    Frequencies,
    Guarantee,
    Information,
    Objective,
    Pieces,
    Prior,
    Pure,
    TotalVariationAmbiguity,
    TradeOff,
    Variance,
    WorstCase,
    design,
)
from optldp.designer.designs.judging import judged, problem_for
from optldp.designer.methods.oracles import Oracle
from optldp.mechanisms import InputError, duchi, verify
from optldp.solvers import FrequencyProgram

KNOTS = np.linspace(0.0, 10.0, 11)
PRIOR = Prior.on_knots(KNOTS, np.exp(-(((KNOTS - 3) / 2) ** 2)), source="public", units="h")
JOBS = CategoricalPrior(["cook", "smith", "nurse"], [6, 3, 1])

OBJECTIVES = [
    Variance(),
    WorstCase(),
    TradeOff(0.3),
    Guarantee(TotalVariationAmbiguity(0.1)),
    Information(),
    Information("cumulative", "any"),
]
"""On the prior above; every other public objective is tested as the Example in its docstring makes it."""


def public_objectives() -> list[type[Objective]]:
    rooms = optldp.designer, optldp.designer.objectives
    named = (getattr(room, name) for room in rooms for name in room.__all__)
    return [one for one in named if inspect.isclass(one) and issubclass(one, Objective) and not inspect.isabstract(one)]


def made_in_the_example(objective: type[Objective]) -> Design:
    """The first design by an objective of this class that the Example in its docstring gives a name."""
    names = dict(vars(sys.modules[objective.__module__]))
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(objective.__doc__ or ""):
            exec(compile(example.source, objective.__name__, "single"), names)
    found = (one for one in names.values() if isinstance(one, Design) and type(one.objective) is objective)
    made = next(found, None)
    assert made is not None, f"the Example of {objective.__name__} must name a design by it"
    return made


CASES = {one.label: one for one in OBJECTIVES} | {
    one.__name__: one for one in public_objectives() if one not in {type(one) for one in OBJECTIVES}
}


@cache
def made_for(case: str) -> Design:
    one = CASES[case]
    return design(PRIOR, 1.0, objective=one) if isinstance(one, Objective) else made_in_the_example(one)


@pytest.mark.nightly
def test_an_objective_is_tested_for_being_public():
    assert "Frequencies" in CASES
    assert {type(made_for(case).objective) for case in CASES} == set(public_objectives())


@pytest.mark.parametrize("case", CASES)
class TestEveryObjective:
    @pytest.mark.slow
    def test_its_certificate_proves_value_and_bound_again(self, case):
        made = made_for(case)
        found = made.certificate.check()
        assert (found.value, found.bound, found.gap) == (made.value, made.bound, made.gap)
        assert (found.verification is None) is isinstance(made.objective, Frequencies)
        assert found.verification == made.verification
        assert found.failures == ()

    def test_a_table_that_is_none_of_its_own_and_forged_multipliers_prove_no_more(self, case):
        """The bound that any multipliers give is none above what the mechanism has."""
        made, objective = made_for(case), made_for(case).objective
        sign = -1 if objective.more_is_better else 1
        forged = {
            name: value * 1.01 if isinstance(value, np.ndarray) and name not in ("worst", "rho") else value
            for name, value in made.certificate.multipliers.items()
        }
        found = replace(made.certificate, multipliers=forged).check()
        assert sign * found.bound <= sign * found.value
        assert sign * found.bound <= sign * made.bound * (1 + sign * 1e-9) or isinstance(objective, Information)

    @pytest.mark.slow
    def test_it_says_in_words_what_is_wanted_how_good_it_is_and_who_says_so(self, case):
        made, objective = made_for(case), made_for(case).objective
        said = made.summary()
        assert objective.label in said
        assert f"{made.value:.6g}" in said
        assert f"{made.bound:.6g}" in said
        assert f"{objective.nobody} has {'more' if objective.more_is_better else 'less'} than" in said

    def test_the_file_says_whose_number_it_is(self, case):
        made, objective = made_for(case), made_for(case).objective
        written = made.mechanism.provenance.certificate
        assert written["objective"] == objective.key
        assert (written["value"], written["bound"], written["gap"]) == (made.value, made.bound, made.gap)


@pytest.mark.slow
def test_a_budget_is_a_number_or_a_constraint():
    one, other = design(PRIOR, 1.0, method="duchi"), design(PRIOR, Pure(1.0), method="duchi")
    assert one.privacy == other.privacy == Pure(1.0)
    assert one.value == other.value
    with pytest.raises(InputError, match="epsilon must be positive"):
        Pure(0.0)


def test_against_another_prior_it_is_that_priors_number():
    made = design(PRIOR, 1.0)
    other = Prior.even(KNOTS)
    assert made.against(other) == made.mechanism.expected_variance(other.knot_prior)
    assert made.against(PRIOR) == made.expected_variance
    with pytest.raises(InputError, match="on the knots of the mechanism"):
        made.against(Prior.even([0, 10]))


def test_against_other_frequencies_it_is_their_error():
    made = design(JOBS, 1.0)
    other = CategoricalPrior(JOBS.categories, [1, 1, 8])
    error = FrequencyProgram(other.weights, np.e).error(made.mechanism.probabilities)
    assert made.against(other) == error != made.value
    with pytest.raises(InputError, match="of the mechanism's categories, in their order"):
        made.against(CategoricalPrior(["cook", "nurse", "smith"], [6, 1, 3]))


@pytest.mark.parametrize(("own", "other"), [(PRIOR, JOBS), (JOBS, PRIOR), (PRIOR, {"age": PRIOR})])
def test_a_prior_of_another_kind_is_refused_by_its_name(own, other):
    with pytest.raises(InputError, match=f"must be a {type(own).__name__} too, got {type(other).__name__}"):
        design(own, 1.0).against(other)


def test_only_tables_of_numbers_have_variances():
    made = design(JOBS, 1.0)
    for name in ("expected_variance", "worst_case_variance", "max_log_ratio", "max_abs_bias"):
        with pytest.raises(InputError, match="only tables of numbers have variances of a report, got CategoricalTable"):
            getattr(made, name)


@pytest.mark.parametrize("objective", OBJECTIVES[:4], ids=lambda one: one.label)
def test_a_table_far_from_the_best_is_not_called_optimal_nor_is_its_file(objective):
    """The solver of the bound ended well; that says nothing of a closed form."""
    made = design(PRIOR, 1.0, objective=objective, method="laplace")
    assert made.gap > 0.2
    assert made.status == made.mechanism.provenance.certificate["status"] == "gap-open"
    assert "gap-open)" in made.summary()
    loose = design(PRIOR, 1.0, objective=objective, method="laplace", tolerance=0.9)
    assert loose.gap < 0.9
    assert loose.status == "optimal"


def test_what_rounding_leaves_beyond_the_tolerance_is_an_open_gap(monkeypatch):
    best = design(PRIOR, 1.0)
    monkeypatch.setattr("optldp.designer.designs.judging.exact_if_possible", lambda table: duchi(KNOTS, 1.0))
    assert best.status == "optimal"
    assert design(PRIOR, 1.0).status == "gap-open"


@pytest.mark.nightly
def test_the_best_of_one_peaked_tables_is_called_optimal_among_those():
    """Of all tables it is not, and neither its status nor its file says so."""
    made = design(PRIOR, 1.0, objective=Information("cumulative"))
    assert made.status == made.mechanism.provenance.certificate["status"] == "gap-open"
    assert made.evidence.interval_status == "optimal"
    assert made.gap > 1e-3 > abs(made.evidence.interval_gap)
    assert "gap-open)\n  Of the tables whose columns rise to one peak and fall" in made.summary()
    assert "rise to one peak" not in design(PRIOR, 1.0, objective=Information("cumulative"), method="ptt").summary()
    short = design(PRIOR, 1.0, objective=Information("cumulative"), tolerance=1e-15)
    assert short.evidence.interval_status == "gap-open"
    assert "Each report of the design favours an interval of values." in short.summary()


@pytest.mark.nightly
def test_a_method_is_judged_by_the_objective_beside_the_optimum():
    best = design(PRIOR, 1.0, objective=WorstCase())
    for method in ("duchi", "three-outputs", Pieces(2)):
        made = design(PRIOR, 1.0, objective=WorstCase(), method=method)
        assert made.bound == best.bound
        assert made.value == made.mechanism.knot_variances.max() >= best.value
        assert made.mechanism.prior is None


@pytest.mark.slow
def test_what_a_mechanism_is_judged_by_is_solved_once():
    objective = Variance()
    problem = problem_for(PRIOR, 1.0, objective)
    solution = objective.solve(problem)
    assert judged(problem, objective, None, solution, exact=True).value == design(PRIOR, 1.0).value
    assert verify(solution.mechanism).verdict == "not proved"
    assert objective.value(duchi(KNOTS, 1.0), problem) > objective.bound(problem, solution.multipliers)


@pytest.mark.parametrize(
    ("prior", "options", "says"),
    [
        (PRIOR, {"objective": Frequencies()}, "the objective must be one for numbers, got least error of frequencies"),
        (JOBS, {"objective": Variance()}, "the objective must be one for categories, got least expected variance"),
        (PRIOR, {"objective": "robust:tv"}, r"got 'robust:tv': it is Guarantee\(...\) here"),
        (PRIOR, {"objective": WorstCase}, r"must be one such as Variance\(\) or WorstCase\(\), got <class"),
        (PRIOR, {"objective": "minimax"}, "must be one such as .* got 'minimax'"),
        (JOBS, {"method": "duchi"}, "rappor, subset, projective-geometry for categories, got 'duchi'"),
        (JOBS, {"method": Pieces(2)}, "method shaped is for numbers: use another one"),
        (PRIOR, {"method": Oracle("oue")}, "method oue is for categories: use another one"),
        (PRIOR, {"objective": TradeOff(0.5), "method": Pieces(2)}, "for Variance and WorstCase alone"),
        (Prior.even(np.linspace(0, 1, 52)), {"objective": TradeOff(0.5), "method": "aaa"}, "on the 52 knots"),
        ([1, 2, 3], {}, "must be a Prior, a CategoricalPrior, .* got list: make a prior of values first"),
        ([PRIOR, PRIOR], {}, "Attributes by name, .* got list: .* name each of several"),
        (
            {"age": PRIOR},
            {"objective": WorstCase()},
            "attributes are designed for the least variance or error alone, got",
        ),
        ({"age": 3}, {}, "attributes must be given by name with a Prior each"),
    ],
)
def test_what_does_not_go_together_is_refused_for_a_reason(prior, options, says):
    with pytest.raises(InputError, match=says):
        design(prior, 1.0, **options)


@pytest.mark.parametrize("worst", [0.0, 1.5, math.inf])
def test_a_trade_off_weighs_the_worst_case(worst):
    with pytest.raises(InputError, match=r"weight must lie in \(0, 1\]"):
        TradeOff(worst)


@pytest.mark.parametrize("given", [{}, {"expected": 0.5}, {"worst": math.nan}])
def test_a_trade_off_without_the_worst_cases_weight_says_what_to_give(given):
    with pytest.raises(InputError, match=r"worst case's weight, got none: TradeOff\(worst=0.5\)$"):
        TradeOff(**given)


@pytest.mark.slow
def test_a_summary_and_a_certificate_say_whether_privacy_is_proved_of_any_mechanism():
    """Of categories and of attributes by whole numbers, and also that a promise is broken."""
    jobs = design(CategoricalPrior(["a", "b", "c"], [1, 2, 3]), 1.0)
    assert jobs.summary().endswith(f"\n  proved: largest log-ratio {jobs.mechanism.max_log_ratio:.9g}")
    both = design({"a": PRIOR, "b": PRIOR}, 1.0, method="duchi")
    assert both.summary().endswith("\n  proved: every table keeps its budget")
    assert jobs.certificate.check().failures == both.certificate.check().failures == ()

    overdrawn = replace(jobs.mechanism, epsilon=0.5)
    broken = replace(jobs, mechanism=overdrawn, certificate=replace(jobs.certificate, mechanism=overdrawn))
    assert "\n  broken: the log-ratio must be at most 0.5, got" in broken.summary()
    assert broken.certificate.check().failures == overdrawn.failures()
    one = both.evidence.designs["b"]
    worse = replace(one, certificate=replace(one.certificate, mechanism=replace(one.mechanism, epsilon=0.5)))
    (failure,) = replace(both.certificate, designs=both.evidence.designs | {"b": worse}).check().failures
    assert failure.startswith("attribute 'b': ")
