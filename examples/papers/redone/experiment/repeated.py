"""Experiments with repetitions: seeded errors of several methods, shown as tables and as curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .script import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Errors = dict[str, float]
"""What one repetition yields: a number for each method."""

COLOURS = ("#000000", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's palette, which colour-blind people can tell apart; yellow is too light for lines."""

MARKERS = "osD^vPX*"
DODGE = 0.07
"""Distance of neighbouring methods at places that have names and not numbers."""

CROWDED = 300.0
"""Ratio of the largest to the smallest value beyond which powers of ten alone are labelled."""

FEW = 5
"""Named places up to which their labels have room."""

MARKER_SIZES = (8, 7, 6.5, 6, 5.5, 5, 4, 3)
"""Falling, so that of several curves in one place the lowest still shows."""

LINES = ("-", "--", "-.", ":")
ROUNDING = 1e-9
"""Scatter below this share of a mean is the arithmetic's."""

PANEL = (3.4, 2.9)
"""Width and height of one panel, in inches."""


class Scores:
    """Errors over repetitions, by method."""

    def __init__(self, rows: Sequence[Errors]) -> None:
        self.values = {name: np.array([row[name] for row in rows]) for name in rows[0]}

    @classmethod
    def of(cls, values: Mapping[str, np.ndarray]) -> Scores:
        """Return scores from the values of each method over the repetitions."""
        scores = cls.__new__(cls)
        scores.values = dict(values)
        return scores

    def renamed(self, names: Mapping[str, str]) -> Scores:
        """Return the scores of some methods under other names, from old to new."""
        return Scores.of({new: self.values[old] for old, new in names.items()})

    def mean(self, name: str) -> float:
        """Return the mean over the repetitions."""
        return float(self.values[name].mean())

    def error(self, name: str) -> float:
        """Return the standard error of that mean."""
        values = self.values[name]
        return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")

    def show(self, name: str, scale: float = 1.0) -> str:
        """Return "mean ± standard error", the latter where it is no rounding."""
        mean, error = scale * self.mean(name), scale * self.error(name)
        return f"{mean:.3g}" if error < ROUNDING * abs(mean) else f"{mean:.3g} ± {error:.1g}"

    def gain(self, name: str, against: str) -> float:
        """Return by how much the mean of one method is smaller than that of another, as a share of the latter."""
        return 1.0 - self.mean(name) / self.mean(against)

    def lead(self, name: str, against: str) -> float:
        """Return the paired difference, positive where `name` is smaller, in its own standard errors."""
        difference = self.values[against] - self.values[name]
        spread = difference.std(ddof=1) / np.sqrt(difference.size)
        return float(difference.mean() / spread) if spread > 0 else 0.0


def repeat(run: Run, case: Sequence[int], repetitions: int, job: Callable[[np.random.Generator], Errors]) -> Scores:
    """Run a job, every repetition with a generator of its own that no other case shares."""
    return Scores([job(np.random.default_rng([run.seed, *case, r])) for r in range(repetitions)])


Panels = Mapping[str, Sequence[tuple[float | str, Scores]]]
"""A panel for each data set: what the experiment was run at, and the scores there."""


def show_panels(
    run: Run, name: str, title: str, panels: Panels, methods: Sequence[str], x: str, y: str, *, scale: float = 1.0
) -> None:
    """Print a table of all panels and keep their figure."""
    rows = [
        (panel, f"{place:g}" if isinstance(place, float) else place, *(found.show(m, scale) for m in methods))
        for panel, points in panels.items()
        for place, found in points
    ]
    run.table(name, f"{title}: {y}", ("data", x, *methods), rows)
    if run.out is not None:
        run.figure(name, curves(panels, methods, x, y, scale))


def curves(panels: Panels, methods: Sequence[str], x: str, y: str, scale: float) -> Figure:
    """Draw every panel: places that are numbers as curves, places with names side by side."""
    from matplotlib.figure import Figure

    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = Figure((PANEL[0] * across + 1.4, PANEL[1] * down), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (panel, points) in zip(places, panels.items(), strict=False):
        _panel(axes, points, methods, scale)
        axes.set(title=panel, xlabel=x, ylabel=y)
    for spare in places[len(panels) :]:
        spare.set_axis_off()
    handles, labels = places[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8, frameon=False)
    return figure


def _panel(axes: Axes, points: Sequence[tuple[float | str, Scores]], methods: Sequence[str], scale: float) -> None:
    named = isinstance(points[0][0], str)
    where = np.arange(len(points), dtype=float) if named else np.array([place for place, _ in points], dtype=float)
    for number, method in enumerate(methods):
        values = scale * np.array([found.mean(method) for _, found in points])
        spread = scale * np.array([found.error(method) for _, found in points])
        beside = DODGE * (number - (len(methods) - 1) / 2) if named else 0.0
        axes.errorbar(
            where + beside,
            values,
            np.nan_to_num(np.minimum(spread, 0.9 * np.abs(values))),  # the lower end must stay on a log axis
            label=method,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=" " if named else LINES[number % len(LINES)],
            markersize=MARKER_SIZES[number % len(MARKER_SIZES)],
            linewidth=1.2,
            elinewidth=0.8,
        )
    _scale(axes, scale * np.array([found.mean(m) for _, found in points for m in methods]))
    axes.grid(alpha=0.3, which="major")
    if named:
        axes.set_xticks(where, [str(place) for place, _ in points], fontsize=10 if len(points) <= FEW else 8)
        axes.set_xlim(-0.5, len(points) - 0.5)


def _scale(axes: Axes, values: np.ndarray) -> None:
    """Draw on a logarithmic scale, with plain numbers, where values differ by more than a decade."""
    from matplotlib.ticker import LogLocator

    ratio = values.max() / values.min()
    if ratio > 10:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if ratio < CROWDED else "")
