"""The picture of frequencies: what is drawn, and how much of it."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false

import sys

import numpy as np
import pytest
from optldp.designer import plots
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.plots.frequency_bars import LONGEST_LABEL, MOST_BARS
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr


def estimated(labels: list[str]):
    """Frequencies from reports of which the last category has most."""
    grr = categorical_grr(labels, 3.0)
    return estimate_frequencies(
        CategoryCounts.from_reports(grr, np.repeat(np.arange(len(labels)), np.arange(1, len(labels) + 1)))
    )


def test_bars_are_the_estimates_largest_first_with_their_intervals():
    """One bar a category; its label, length and whiskers are those of the estimate."""
    found = estimated(["a", "b", "c"])
    axes, ends = plots.frequencies(found, confidence=0.9), found.interval(0.9)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["c", "b", "a"]
    assert [bar.get_width() for bar in axes.patches] == found.value[::-1].tolist()
    segments = axes.collections[0].get_segments()
    assert np.allclose([segment[:, 0] for segment in segments], np.column_stack([ends.low, ends.high])[::-1])
    assert axes.get_xlabel() == "share of the users"


def test_many_categories_are_cut_to_the_largest_and_say_so():
    """Forty bars can still be read; long labels are shortened."""
    labels = [f"{'x' * 40}{i}" for i in range(MOST_BARS + 5)]
    axes = plots.frequencies(estimated(labels))
    texts = [tick.get_text() for tick in axes.get_yticklabels()]
    assert len(texts) == len(axes.patches) == MOST_BARS
    assert max(map(len, texts)) == LONGEST_LABEL
    assert f"the {MOST_BARS} largest estimates of {len(labels)}" in axes.get_xlabel()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    """One line says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install matplotlib"):
        plots.frequencies(estimated(["a", "b"]))
