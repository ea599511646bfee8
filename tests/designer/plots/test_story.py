"""The pictures that tell what local privacy does: the library's numbers stand behind the sliders and the bars."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from optldp.designer import Prior, design

ROOT = Path(__file__).parents[3]
STORY = SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "story.py")))


def test_the_sliders_have_the_least_variances_of_the_library():
    kept = json.loads((ROOT / "docs" / "reference" / "people-and-error.json").read_text())
    assert kept["epsilons"] == STORY.BUDGETS
    assert np.all(np.diff(kept["variances"]) < 0)
    found = design(Prior.even(np.linspace(0, 1, 101)), 2.0).expected_variance
    assert kept["variances"][kept["epsilons"].index(2.0)] == pytest.approx(found, rel=1e-5)


def test_reports_of_two_people_are_never_more_than_the_limit_apart():
    table = STORY.survey_table(np.random.default_rng(1))
    first, second = (STORY.chances(table, value) for value in STORY.NEIGHBOURS)
    assert first.sum() == pytest.approx(1.0)
    assert np.all(second <= np.exp(STORY.EPSILON) * first + 1e-12)
    assert np.all(first <= np.exp(STORY.EPSILON) * second + 1e-12)
