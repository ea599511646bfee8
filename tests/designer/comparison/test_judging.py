"""Further criteria of a report: the best is the design's, the values are the tables', and nothing beats a bound."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import (
    BoxAmbiguity,
    Guarantee,
    Information,
    Prior,
    RelativeAmbiguity,
    TotalVariationAmbiguity,
    bounds,
    bounds_html,
    compare,
    design,
    plots,
)
from optldp.designer.comparison.bounds_file import BoundsFile
from optldp.designer.objectives.information import table_trace
from optldp.designer.objectives.registry import OBJECTIVES
from optldp.mechanisms import InputError

from ..conftest import INCOME

KNOTS = np.linspace(0.0, 10.0, 9)
PRIOR = Prior.on_knots(KNOTS, np.exp(-(((KNOTS - 3) / 2) ** 2)), source="public", units="h")
ROBUST, INFORMED = Guarantee(TotalVariationAmbiguity(0.1)), Information("cumulative")
METHODS = ["optimal", "duchi", "hybrid", "square-wave", "aaa"]


@functools.cache
def result():
    return bounds(PRIOR, [0.5, 1.0, 2.0], methods=METHODS, objectives=[ROBUST, INFORMED])


@pytest.mark.nightly
def test_the_best_is_the_design_for_the_criterion():
    for epsilon in (0.5, 2.0):
        (robust,) = (row for row in result().by(ROBUST) if row.method == "robust" and row.epsilon == epsilon)
        made = design(PRIOR, epsilon, objective=Guarantee(ROBUST.ambiguity), exact=False)
        assert (robust.value, robust.bound) == (made.value, made.bound)
        assert robust.relative_gap == made.gap <= 1e-6
        (told,) = (row for row in result().by(INFORMED) if row.method == "information" and row.epsilon == epsilon)
        designed = design(PRIOR, epsilon, objective=Information("cumulative"), exact=False)
        assert (told.value, told.bound) == (designed.value, designed.bound)
        assert told.relative_gap == designed.gap


@pytest.mark.nightly
def test_every_method_is_judged_by_its_own_table():
    table = design(PRIOR, 1.0, method="square-wave", exact=False).mechanism
    rows = {(row.objective, row.method): row for row in result().judged if row.epsilon == 1.0}
    guarantee = ROBUST.ambiguity.around(PRIOR).largest(table.knot_variances)[0] + PRIOR.rounding_variance
    assert rows["robust", "square-wave"].value == pytest.approx(guarantee, rel=1e-12)
    trace = table_trace(table.probabilities, PRIOR.mixed(1e-3), "cumulative")
    assert rows["information", "square-wave"].value == pytest.approx(trace, rel=1e-12)
    best = rows["information", "information"].value
    assert best is not None
    assert rows["information", "square-wave"].ratio_to_optimal == pytest.approx(trace / best, rel=1e-12)


@pytest.mark.nightly
def test_nothing_is_beyond_a_bound():
    for objective in (ROBUST, INFORMED, Information("mutual-information")):
        found = bounds(PRIOR, [0.5, 2.0], methods=METHODS, objectives=[objective])
        sign = -1 if objective.more_is_better else 1
        for epsilon in (0.5, 2.0):
            rows = [row for row in found.by(objective) if row.epsilon == epsilon]
            assert rows[0].bound is not None
            assert all(sign * row.value >= sign * rows[0].bound * (1 - 1e-9) for row in rows if row.value is not None)
            assert len([row for row in rows if row.value is not None]) >= 3


@pytest.mark.nightly
def test_what_cannot_be_judged_says_why():
    rows = {(row.objective, row.method): row for row in result().judged if row.epsilon == 1.0}
    coarse = Prior.on_knots(np.linspace(0, 10, 27), np.ones(27), source="public")
    (*_, stranger) = compare(coarse, [1.0], methods=["aaa"], objectives=[ROBUST])
    assert (stranger.value, stranger.status) == (None, "not comparable")
    assert stranger.error == "its knots are not the prior's"
    assert "cannot tell all distributions" in rows["information", "duchi"].error
    assert rows["information", "duchi"].status == "infinite"


def test_a_radius_that_contains_everything_and_two_of_a_kind_are_refused():
    with pytest.raises(InputError, match=r"contains every prior on the knots: the design is then minimax"):
        bounds(PRIOR, [1.0], objectives=[Guarantee(TotalVariationAmbiguity(2.0))])
    with pytest.raises(InputError, match="at most one objective of a kind"):
        bounds(PRIOR, [1.0], objectives=[ROBUST, Guarantee(RelativeAmbiguity(0.1))])


@pytest.mark.nightly
def test_results_are_taken_up_with_their_criteria_only(tmp_path):
    file, done = tmp_path / "bounds.jsonl", []
    first = bounds(PRIOR, [1.0, 2.0], methods=METHODS, objectives=[ROBUST], results=file)
    again = bounds(
        PRIOR,
        [1.0, 2.0],
        methods=["duchi"],
        objectives=[ROBUST],
        results=file,
        progress=lambda *what: done.append(what),
    )
    assert len(done) == 1  # the detail alone
    assert [row.method for row in again.by(ROBUST)] == ["robust", "optimal", "duchi"] * 2
    assert set(again.judged) < set(first.judged)
    with pytest.raises(InputError, match=r"results of different bounds must not be mixed, .* with other objectives"):
        bounds(PRIOR, [1.0], methods=METHODS, results=file)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            Guarantee(BoxAmbiguity(np.zeros(9), np.full(9, 0.5))),
            Guarantee(BoxAmbiguity(np.zeros(9), np.full(9, 0.6))),
        ),
        (Information("fisher"), Information("fisher", "any")),
        (Guarantee(TotalVariationAmbiguity(0.1)), Guarantee(TotalVariationAmbiguity(0.1 + 1e-9))),
    ],
)
def test_criteria_that_look_alike_are_not_taken_for_each_other(tmp_path, one, other):
    file = tmp_path / "bounds.jsonl"
    BoundsFile(file, PRIOR, uniform_share=0.0, tolerance=1e-6, objectives=[one])
    BoundsFile(file, PRIOR, uniform_share=0.0, tolerance=1e-6, objectives=[one])
    assert one.label == other.label
    with pytest.raises(InputError, match="other objectives"):
        BoundsFile(file, PRIOR, uniform_share=0.0, tolerance=1e-6, objectives=[other])


@pytest.mark.nightly
def test_the_figure_shades_below_what_is_least_and_above_what_is_most():
    for objective, edge in ((ROBUST, 0), (Information("mutual-information"), 1)):
        found = bounds(PRIOR, [0.5, 1.0, 2.0], methods=METHODS, objectives=[objective])
        axes = plots.objective(found.by(objective), quantity="what counts", more_is_better=objective.more_is_better)
        corners = set(np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1].tolist())
        assert axes.get_ylim()[edge] in corners
        assert {row.bound for row in found.by(objective) if row.bound is not None} <= corners
        lines = {str(line.get_label()): line for line in axes.lines}
        for name in ("optimal", objective.key):
            values = [row.value for row in found.by(objective) if row.method == name]
            assert np.asarray(lines[name].get_ydata()).tolist() == values
        assert axes.get_ylabel() == "what counts"
    with pytest.raises(InputError, match="rows of one objective with values, got 0"):
        plots.objective([], quantity="nothing")


@pytest.mark.nightly
def test_the_page_shows_every_criterion_with_its_proof():
    page = bounds_html(result())
    assert 'id="robust"' in page
    assert 'id="information"' in page
    assert "What is asked: the prior may be wrong: total variation 0.1." in page
    assert "no unbiased mechanism on these knots can have less than" in page
    assert "favours an interval of values" in page
    best = next(row for row in result().by(INFORMED) if row.epsilon == 1.0)
    assert f"{best.bound:.7g}" in page
    assert 'id="robust"' not in bounds_html(bounds(PRIOR, [1.0], methods=["duchi"]))


ASKED = ("bounds", *INCOME, "--range", 0, 100, "--knots", 5, "--epsilon", "1,2", "--method", "duchi")


@pytest.mark.nightly
def test_the_command_judges_by_what_is_asked_and_repeats_it_in_the_report(optldp):
    more = ("--objective", "robust:tv,radius=0.1", "--objective", "information")
    done = optldp(*ASKED, *more, "--out", "report.html", "--json")
    found = json.loads(done.stdout)["objectives"]
    assert [(row["objective"], row["method"]) for row in found if row["epsilon"] == 1] == [
        (key, name) for key in ("robust", "information") for name in (key, "optimal", "duchi")
    ]
    page = Path("report.html").read_text()
    for words in ("--objective robust:tv,radius=0.1 --objective information",):
        assert words in page
    assert "guaranteed variance of one report" in optldp(*ASKED, *more).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--objective", "best"),
            f"--objective must be one of {', '.join(OBJECTIVES)}, got 'best'",
        ),
        (("--objective", "robust"), "--objective robust needs an ambiguity, one of relative, tv, wasserstein, and"),
        (("--radius", 1), "--radius is for --objective robust: leave it out"),
        (("--criterion", "fisher"), "--criterion is for --objective information: leave it out"),
        (("--objective", "information", "--criterion", "wit"), "criterion must be one of"),
        (("--objective", "robust", "--ambiguity", "tv", "--radius", 3), "contains every prior on the knots"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, arguments, says):
    assert says in refusal(*ASKED, *arguments)
