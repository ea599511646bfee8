"""Objectives in comparisons: what decides is what `design` solves for, and every mechanism is judged by each."""

import numpy as np
import pytest
from optldp.designer import (
    Error,
    Guarantee,
    Information,
    Lattice,
    Prior,
    TotalVariationAmbiguity,
    TradeOff,
    Variance,
    WorstCase,
    compare,
    design,
    sweep,
)
from optldp.mechanisms import InputError

KNOTS = np.linspace(0.0, 100.0, 9)
PRIOR = Prior.on_knots(KNOTS, KNOTS * (100 - KNOTS) ** 4 + 1e6, source="public")
OBJECTIVES = [
    Variance(),
    WorstCase(),
    TradeOff(0.3),
    Guarantee(TotalVariationAmbiguity(0.1)),
    Information("cumulative"),
    Information("mutual-information"),
]
FEW = ["optimal", "piecewise", "hybrid", "square-wave"]


def ranked(rows):
    return [row.method for row in sorted(rows, key=lambda row: row.value)]


@pytest.mark.nightly
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: objective.label)
def test_what_decides_is_what_design_solves_for(objective):
    for row in compare(PRIOR, [1.0], methods=FEW, objective=objective):
        made = design(PRIOR, 1.0, objective=objective, method=row.method, exact=False)
        assert (row.objective, row.value, row.bound, row.relative_gap) == (
            objective.key,
            made.value,
            made.bound,
            made.gap,
        )
        best = design(PRIOR, 1.0, objective=objective, exact=False)
        usual = isinstance(objective, Variance)
        assert row.ratio_to_optimal == (
            made.expected_variance / best.expected_variance if usual else made.value / best.value
        )


@pytest.mark.nightly
@pytest.mark.parametrize("objective", OBJECTIVES[1:], ids=lambda objective: objective.label)
def test_a_further_objective_judges_the_same_mechanisms_beside_its_own_best(objective):
    rows = compare(PRIOR, [1.0], methods=FEW, objectives=[objective])
    own, (best, *others) = rows[: len(FEW)], rows[len(FEW) :]
    assert tuple(own) == compare(PRIOR, [1.0], methods=FEW).rows
    made = design(PRIOR, 1.0, objective=objective, exact=False)
    assert (best.method, best.value, best.bound, best.ratio_to_optimal) == (objective.key, made.value, made.bound, 1.0)
    assert [row.method for row in others] == FEW
    for row in others:
        table = design(PRIOR, 1.0, method=row.method, exact=False).mechanism
        value = objective.value(table, made.certificate.problem)
        assert (row.value, row.ratio_to_optimal) == (value, value / made.value)


@pytest.mark.nightly
def test_a_biased_table_is_not_judged_by_its_variance_nor_are_closed_forms_fitted_to_another_objective():
    """Less variance than any unbiased table can have is no merit of a table that counts values as others."""
    guarantee = Guarantee(TotalVariationAmbiguity(0.1))
    further = [guarantee, Variance()]
    rows = {(row.objective, row.method): row for row in compare(
        PRIOR, [1.0], methods=["optimal", "piecewise"], objective=Error(2000), objectives=further)}  # fmt: skip
    plain = {row.method: row for row in compare(PRIOR, [1.0], methods=["optimal", "piecewise"], objective=guarantee)}
    biased = rows["robust", "optimal"]
    assert (biased.value, biased.status) == (None, "not comparable")
    assert "biased" in biased.error
    assert rows["expected", "optimal"].value is None
    assert rows["robust", "piecewise"].value == plain["piecewise"].value
    assert rows["error", "optimal"].ratio_to_optimal == 1.0
    assert all(row.ratio_to_optimal is None or row.ratio_to_optimal > 0.999 for row in rows.values())


@pytest.mark.slow
def test_the_worst_case_ranks_otherwise_than_the_expected_variance():
    """Piecewise is good where these values are, in the middle; hybrid is level."""
    found = compare(PRIOR, [1.0], methods=FEW, objectives=[WorstCase()])
    expected = ranked(row for row in found if row.objective == "expected")
    worst = ranked(row for row in found if row.objective == "minimax" and row.method in FEW)
    assert expected.index("piecewise") < expected.index("hybrid")
    assert worst.index("hybrid") < worst.index("piecewise")
    assert worst[0] == "hybrid" != expected[0] == "optimal"


@pytest.mark.nightly
def test_each_objective_is_solved_once_per_budget(monkeypatch):
    solved = []
    for kind in (Variance, WorstCase, Information):

        def counting(self, problem, progress=None, real=kind.solve):
            solved.append((self.key, problem.epsilon, problem.uniform_share))
            return real(self, problem, progress)

        monkeypatch.setattr(kind, "solve", counting)
    compare(PRIOR, [0.5, 1.0], methods=FEW, objective=WorstCase(), objectives=[Variance(), Information("fisher")])
    each = (
        ("minimax", 0.0),
        ("expected", 1e-3),
        ("expected", 0.0),
        ("information", 1e-3),
    )  # once more for a bound as given
    assert solved == [(key, epsilon, share) for epsilon in (0.5, 1.0) for key, share in each]


@pytest.mark.nightly
def test_a_sweep_has_the_rows_of_the_comparison_and_takes_them_up(tmp_path):
    asked = {"objective": WorstCase(), "objectives": [TradeOff(0.5)], "results": tmp_path / "sweep.jsonl"}
    told = []
    sweep({"": PRIOR}, [1.0], ["optimal"], **asked)
    table = sweep({"": PRIOR}, [1.0], ["optimal", "duchi"], **asked, progress=lambda *event: told.append(event))
    rows = compare(PRIOR, [1.0], methods=["optimal", "duchi"], objective=WorstCase(), objectives=[TradeOff(0.5)])
    assert {row.key: row for row in table.rows} == {row.key: row for row in rows}
    assert [(done, total) for done, total, _ in told] == [(4, 5), (5, 5)]
    with pytest.raises(InputError, match=r"results of different sweeps must not be mixed, .* with other objectives"):
        sweep({"": PRIOR}, [1.0], ["optimal"], objective=TradeOff(0.5), results=tmp_path / "sweep.jsonl")


def test_a_lattice_on_fewer_knots_is_judged_at_all_knots_of_the_prior():
    """At its own two it has less variance than between them, where most of the prior's lie."""
    made = design(PRIOR, 4.0, objective=WorstCase(), method=Lattice(intervals=1))
    assert 2 * made.mechanism.knot_variances.max() < made.value
    assert made.value == pytest.approx(made.mechanism.var(KNOTS).max(), rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"objectives": [Variance()]}, "at most one objective of a kind, got two of expected"),
        ({"objectives": [TradeOff(0.1), TradeOff(0.2)]}, "at most one objective of a kind, got two of trade-off"),
        ({"objective": Guarantee(TotalVariationAmbiguity(2.0))}, "contains every prior on the knots"),
        ({"objective": "minimax"}, r"must be one such as Variance\(\) or WorstCase\(\), got 'minimax'"),
    ],
)
def test_objectives_that_cannot_be_asked_are_refused_in_one_line(asked, says):
    for call in (lambda: compare(PRIOR, [1.0], **asked), lambda: sweep({"": PRIOR}, [1.0], **asked)):
        with pytest.raises(InputError, match=says) as refused:
            call()
        assert "\n" not in str(refused.value)
