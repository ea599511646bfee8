"""The comparison: one row per method and budget, each as `design` would say."""

import math

import numpy as np
import pytest
from optldp.designer import METHODS, Information, Prior, Variance, compare, design
from optldp.designer.comparison import compare as comparison
from optldp.designer.objectives import AtMost
from optldp.estimators import influence
from optldp.mechanisms import InputError
from optldp.mechanisms.families.ptt import ptt_variance

PRIOR = Prior.on_knots(np.linspace(0, 50, 7), [1, 4, 9, 4, 1, 0, 0], source="public")


@pytest.mark.nightly
def test_there_is_a_row_for_every_method_and_budget_in_order():
    rows = compare(PRIOR, [0.5, 2.0])
    assert [(row.method, row.epsilon) for row in rows] == [(m, e) for e in (0.5, 2.0) for m in METHODS]


@pytest.mark.nightly
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_a_row_is_what_design_finds(share):
    rows = compare(PRIOR, [1.0], methods=["duchi", "optimal", "aaa"], uniform_share=share)
    best = design(PRIOR, 1.0, uniform_share=share, exact=False).expected_variance
    for row in rows:
        made = design(PRIOR, 1.0, method=row.method, uniform_share=share, exact=False)
        assert (row.epsilon, row.objective, row.status) == (1.0, "expected", str(made.status))
        assert made.status == ("gap-open" if row.method != "optimal" else "optimal")
        assert (row.value, row.bound, row.relative_gap) == (made.value, made.bound, made.gap)
        assert (row.expected_variance, row.worst_case_variance) == (made.expected_variance, made.worst_case_variance)
        assert row.ratio_to_optimal == made.expected_variance / best
        assert row.one_report_times_n == float(influence(made.mechanism).times_n[0])
        assert row.max_log_ratio == made.max_log_ratio


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_without_a_uniform_share_nothing_beats_the_optimum(epsilon):
    rows = compare(PRIOR, [epsilon], uniform_share=0.0)
    assert rows[0].ratio_to_optimal == 1.0
    assert all((row.ratio_to_optimal or 0.0) > 1 - 1e-6 for row in rows)


def test_closed_forms_have_their_known_variances():
    prior = Prior.on_knots([-1, 1], [1, 1], source="public")
    rows = {row.method: row for row in compare(prior, [1.0], methods=["laplace", "duchi", "piecewise"])}
    reach = (math.e + 1) / (math.e - 1)
    assert rows["laplace"].expected_variance == pytest.approx(8.0, rel=1e-9)
    assert rows["duchi"].expected_variance == pytest.approx(reach**2 - 1, rel=1e-9)
    assert rows["duchi"].worst_case_variance == pytest.approx(reach**2, rel=1e-9)  # between the two knots
    assert rows["piecewise"].expected_variance == pytest.approx(5.2236, abs=5e-5)
    assert rows["duchi"].one_report_times_n == pytest.approx(2 * reach, rel=1e-9)
    # Tails beyond either knot are decoded as +-1 / (1/2 - e^-1 / 2), what is between them as 0.
    assert rows["laplace"].one_report_times_n == pytest.approx(4 * math.e / (math.e - 1), rel=1e-9)


@pytest.mark.slow
def test_the_optimum_is_solved_once_per_budget(monkeypatch):
    real, solved = Variance.solve, []

    def counting(self, problem, progress=None):
        solved.append((problem.epsilon, problem.uniform_share))
        return real(self, problem, progress)

    monkeypatch.setattr(Variance, "solve", counting)
    compare(PRIOR, [0.5, 1.0], methods=["duchi", "laplace", "grr"])
    share = Variance.uniform_share
    assert solved == [(0.5, share), (0.5, 0.0), (1.0, share), (1.0, 0.0)]  # without it for the bound as given


@pytest.mark.slow
def test_progress_tells_the_solver_steps_and_the_end_of_every_budget():
    told = []
    compare(PRIOR, [1.0, 2.0], methods=["duchi", "laplace"], progress=lambda *event: told.append(event))
    assert [event for event in told if event[1] is None] == [(1.0, None), (2.0, None)]
    assert told[-1] == (2.0, None)
    steps = [step for epsilon, step in told if step is not None and epsilon == 1.0]
    assert steps[-1].gap < steps[0].gap


@pytest.mark.parametrize(
    ("epsilons", "methods", "says"),
    [
        ([], ["duchi"], "at least one epsilon"),
        ([1.0], [], "at least one epsilon and one method"),
        ([1.0, 0.0], ["duchi"], "epsilon must be positive"),
        ([1.0], ["duchi", "magic"], "got 'magic'"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_solved(epsilons, methods, says, monkeypatch):
    monkeypatch.setattr(comparison, "judged_rows", None)
    with pytest.raises(InputError, match=says):
        compare(PRIOR, epsilons, methods=methods)


@pytest.mark.nightly
def test_few_outputs_are_rows_beside_the_optimum_and_more_of_them_are_no_worse():
    few = [AtMost(2), AtMost(3)]
    rows = compare(PRIOR, [1.0], methods=["optimal"], outputs=few, uniform_share=0.0)
    assert [row.method for row in rows] == ["optimal", "at-most-2", "at-most-3"]
    worth = [row.value or np.nan for row in rows]
    assert worth[0] < worth[2] < worth[1]
    assert rows[1].value == design(PRIOR, 1.0, outputs=few[0], uniform_share=0.0).value
    refused = compare(PRIOR, [1.0], methods=["optimal"], outputs=few, objective=Information())[1]
    assert "few outputs are placed for variances" in str(refused.error)


def test_a_method_told_more_is_a_row_of_its_own():
    """Named as it was asked for, beside what is best for it; what its method does not take is refused."""
    best, told = compare(Prior.on_knots([0, 25, 50], [1, 2, 1], source="public"), [1.0], methods=["ptt", "ptt:eta=1.5"])
    assert (best.method, told.method) == ("ptt", "ptt:eta=1.5")
    assert best.value is not None
    assert told.value is not None
    assert told.value > best.value
    assert told.worst_case_variance == pytest.approx(25**2 * ptt_variance(1, 1.0, 1.5), rel=1e-3)  # between knots more
    with pytest.raises(InputError, match="duchi"):
        compare(PRIOR, [1.0], methods=["duchi:eta=1.5"])
