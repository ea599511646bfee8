"""What `advise` found: the rows of a race, which one won, by how much, and that in a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from .bootstrap import AdviceRow, Simulated
from .race import SURE

Of = Literal["mean", "frequencies", "distribution"]
"""What is to be known best: the mean of numbers, frequencies of categories, or the distribution of either."""

SPOKEN = {
    "optimal": "the designed table",
    "piecewise": "the piecewise mechanism",
    "duchi": "Duchi's mechanism",
    "hybrid": "the hybrid mechanism",
    "laplace": "Laplace noise",
    "square-wave": "the square wave",
    "aaa": "AAA's lattice",
    "auto": "the best oracle",
    "grr": "randomised response",
    "olh": "local hashing",
    "oue": "unary encoding",
    "rappor": "RAPPOR",
    "subset": "subset selection",
    "projective-geometry": "projective geometry",
    "ua": "the average of the reports",
    "decoder": "the unbiased mean decoded by output",
    "smooth": "the log-density estimate",
    "em": "maximum likelihood",
    "mle": "exact maximum likelihood",
    "ems": "smoothed EM",
    "mr": "mixture reduction",
    "unbiased": "unbiased frequencies",
    "shrunk": "empirical Bayes",
}
"""Names of mechanisms and estimators for a sentence; others are named as they are asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """All that was compared, best first.

    Attributes
    ----------
    rows : tuple of AdviceRow
        The winner of the race, what came next, and the others by the error that the race saw; those that went further
        first.
    left_out : tuple of (mechanism, estimator, reason)
        What cannot be had, an unbiased mean from a table without one; and what a linear estimate shows to be far worse.
    n, repetitions : int
    epsilon : float
    of : {"mean", "frequencies", "distribution"}
        What decided.
    behind : Simulated or None
        By what share the second row's error is larger than the first's, from draws that chose no more than their order.
        None of one row alone.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Prior, advise
    >>> prior, rng = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public"), np.random.default_rng(1)
    >>> advise(prior, 10_000, 1.0, rng=rng, mechanisms=["optimal", "duchi"], estimators=["ua"])
    Advice(n=10000, epsilon=1, of='mean', mechanism='optimal', estimator='ua', error=0.105845, compared=2)
    """

    rows: tuple[AdviceRow, ...]
    left_out: tuple[tuple[str, str, str], ...]
    n: int
    epsilon: float
    repetitions: int
    of: Of
    behind: Simulated | None

    def _line(self) -> dict[str, Any]:
        best = self.best
        found = {"mechanism": best.mechanism, "estimator": best.estimator, "error": self.error_of(best).value}
        return {"n": self.n, "epsilon": self.epsilon, "of": self.of} | found | {"compared": len(self.rows)}

    def _told(self) -> Told:
        names = [f"{row.mechanism}, {row.estimator}" for row in self.rows]
        found = [self.error_of(row) for row in self.rows]
        value, reach = (np.array([getattr(each, name) for each in found]) for name in ("value", "error"))
        picture = Dots(names, value, f"error of the {self.of}", value - 2 * reach, value + 2 * reach)
        return Told(self._line(), self._columns(), picture)

    def _columns(self) -> dict[str, Any]:
        def numbers(name: str) -> list[float]:
            found = [getattr(row, name) for row in self.rows]
            return [math.nan if number is None else number.value for number in found]

        return {
            "mechanism": [row.mechanism for row in self.rows],
            "estimator": [row.estimator for row in self.rows],
            "mse": numbers("mse"),
            "mse_std_error": [row.mse.error for row in self.rows],
            "jensen_shannon": numbers("jensen_shannon"),
            "wasserstein": numbers("wasserstein"),
            "standing": [row.standing for row in self.rows],
        }

    @property
    def best(self) -> AdviceRow:
        """The row that is recommended."""
        return self.rows[0]

    def error_of(self, row: AdviceRow) -> Simulated:
        """Return what decided: the root mean squared error, or the mean distance of the distribution."""
        if self.of == "distribution":
            distance = row.wasserstein or row.jensen_shannon
            assert distance is not None  # only what has one was asked
            return distance
        root = math.sqrt(row.mse.value)
        return Simulated(root, row.mse.error / (2 * root) if root else 0.0)

    @property
    def sentence(self) -> str:
        """What to take, what it errs by, and what comes next.

        Example
        -------
        >>> import textwrap
        >>> row, other = (AdviceRow(name, "ua", Simulated(size, 0.0), None, None, 0.0) for name, size in
        ...               (("optimal", 4.0), ("duchi", 9.0)))
        >>> advice = Advice((row, other), (), 1000, 1.0, 12, "mean", Simulated(0.5, 0.0))
        >>> print(textwrap.fill(advice.sentence, 75))
        Take the designed table and the average of the reports: with 1,000 people
        at epsilon 1 the mean errs by 2 (root mean square). Next is Duchi's
        mechanism with the average of the reports, 50% worse.
        >>> advice = Advice((row, other), (), 1000, 1.0, 12, "mean", Simulated(0.5, 0.3))
        >>> print(textwrap.fill(advice.sentence, 75))
        Take the designed table and the average of the reports or Duchi's mechanism
        and the average of the reports, a tie within the simulation's error (+-
        30%): with 1,000 people at epsilon 1 the mean errs by 2 (root mean square).
        """
        error = self.error_of(self.best)
        about = _short(error.value, 3) + (f" +- {_short(error.error, 2)}" if error.error else "")
        kind = {
            "mean": f"the mean errs by {about} (root mean square)",
            "frequencies": f"a frequency errs by {about} (root mean square)",
            "distribution": f"the distribution is {about} off on average ({self._distance})",
        }[self.of]
        rows = self.rows[: 2 if self.tie else 1]
        taken = " or ".join(_spoken(row, " and ") for row in rows)
        first = f"Take {taken}{self._tied}: with {self.n:,} people at epsilon {self.epsilon:g} {kind}."
        if self.behind is None or self.tie:
            return first
        return f"{first} Next is {_spoken(self.rows[1], ' with ')}, {self._said}."

    @property
    def tie(self) -> bool:
        """Whether simulations do not tell the first two rows apart: either may be taken."""
        return self.behind is not None and abs(self.behind.value) < SURE * self.behind.error

    @property
    def _distance(self) -> str:
        return "Wasserstein" if self.best.wasserstein is not None else "Jensen-Shannon"

    @property
    def _tied(self) -> str:
        if self.behind is None or not self.tie:
            return ""
        return f", a tie within the simulation's error (+- {self.behind.error:.0%})"

    @property
    def _said(self) -> str:
        assert self.behind is not None
        share, error = self.behind.value, self.behind.error
        said = "as good" if abs(share) < 0.005 else f"{share:.0%} worse"
        return f"{said} (+- {error:.0%})" if error else said


def _spoken(row: AdviceRow, between: str) -> str:
    return between.join(SPOKEN.get(name, name) for name in (row.mechanism, row.estimator))


def _short(value: float, digits: int) -> str:
    return f"{float(f'{value:.{digits}g}'):,.10g}"
