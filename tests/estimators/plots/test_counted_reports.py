"""The picture of what reports count as shows the numbers that the mean is made of."""

import numpy as np
import pytest
from optldp.designer import plots
from optldp.estimators import ReportCounts, Service, bias_aware_mean
from optldp.estimators.plots import counted_reports
from optldp.mechanisms import laplace, piecewise

KNOTS = np.linspace(0.0, 40.0, 9)
PRIOR = np.exp(-KNOTS / 5)
TABLES = [laplace(KNOTS, 1.0), piecewise(KNOTS, 1.0)]


def estimate(services: int):
    rng = np.random.default_rng(1)
    x = rng.exponential(5.0, 300).clip(0, 40)
    outputs = np.stack([t.output_index(t.sample(x, rng)) for t in TABLES[:services]], axis=1)
    if services > 1:
        outputs[:100, 1] = -1
    named = [Service(name, table) for name, table in zip("ab", TABLES[:services], strict=False)]
    return bias_aware_mean(ReportCounts.from_outputs(named, outputs), PRIOR, trust=2.5)


def test_it_draws_what_reports_counted_as_before_and_now():
    """Tails at their ends, cells in their middles, and the domain behind them."""
    found = estimate(1)
    axes = plots.counted_as(found, units="EUR")
    before, now = axes.lines
    np.testing.assert_array_equal(np.asarray(before.get_ydata()), found.parts[0].before)
    np.testing.assert_array_equal(np.asarray(now.get_ydata()), found.parts[0].values)
    places = np.asarray(now.get_xdata())
    assert np.isfinite(places).all()
    assert (places[0], places[-1]) == (found.parts[0].high[0], found.parts[0].low[-1])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("report [EUR]", "counts as [EUR]")
    assert axes.get_title() == "What reports of 300 users count as, trust 2.5"
    (note,) = [text.get_text() for text in axes.texts]
    assert f"count as from {found.means.min():,.4g} to {found.means.max():,.4g}" in " ".join(note.split())


@pytest.mark.parametrize("most", [6, 2])
def test_each_service_has_its_lines_as_far_as_they_can_be_told_apart(monkeypatch, most):
    monkeypatch.setattr(counted_reports, "MOST_PARTS", most)
    found = estimate(2)
    axes = plots.counted_as(found)
    assert len(found.parts) == 3
    assert len(axes.lines) == 2 * min(most, 3)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][:3] == ["the values' domain", "before, a", "now, a"]
    assert ("1 more services" in axes.texts[0].get_text().replace("\n", " ")) == (most == 2)
