"""Figures of further objectives: of every one that there is, and of one that the report never heard of."""

from dataclasses import dataclass

import pytest
from optldp.designer import Frequencies, Prior, Variance, bounds, bounds_html
from optldp.designer.report.objective_figures import objective_figures

from ..designs.test_result import OBJECTIVES

PRIOR = Prior.on_knots([0.0, 1.0, 2.0, 3.0], [1, 4, 4, 1], source="public", units="h")


@dataclass(frozen=True)
class Doubled(Variance):
    """Twice the expected variance: an objective of somebody else's."""

    @property
    def key(self):
        return "doubled"

    @property
    def label(self):
        return "half as bold"

    def value(self, mechanism, problem):
        return 2 * super().value(mechanism, problem)

    def bound(self, problem, multipliers):
        return 2 * super().bound(problem, multipliers)


ASKED = {each.key: each for each in (*OBJECTIVES, Doubled()) if not isinstance(each, Frequencies)}

FURTHER = {key: each for key, each in ASKED.items() if key not in ("expected", "minimax")}
"""Those that a page does not have anyway."""


@pytest.mark.nightly
def test_every_objective_has_a_figure_and_a_sentence_of_its_own():
    found = bounds(PRIOR, [1.0], methods=["duchi"], objectives=list(ASKED.values()))
    figures = objective_figures(found)
    assert len({figure.name for figure in figures}) == len({figure.title for figure in figures}) == len(FURTHER)
    for figure, objective in zip(figures, FURTHER.values(), strict=True):
        assert figure.svg
        assert objective.label in figure.means[0]
    assert figures[-1].title == "Half as bold"


@pytest.mark.nightly
def test_a_page_of_several_has_their_titles_and_no_id_twice():
    asked = [ASKED[key] for key in ("trade-off", "doubled")]
    page = bounds_html(bounds(PRIOR, [1.0], methods=["duchi"], objectives=asked))
    for objective in asked:
        assert objective.label.capitalize() in page
        assert page.count(f'id="by-{objective.key}"') == 1
