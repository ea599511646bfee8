"""What private reports say of a prior with confidence: a region that holds the true one, however few reports there are.

Reports of clients drawn at random from a population are independent, and each is output j with probability
r_j = sum_i q_i P(j | x_i), q the population's prior on the knots.  Two bands hold r with the stated confidence
together, each with half of what may be missed:

- every share: Clopper-Pearson intervals for all m outputs, by Bonferroni;
- every sum r_1 + ... + r_j of first shares: the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant,
  |sum of the first j observed shares - sum of the first j r| <= sqrt(log(2 / alpha) / (2 N)) for all j at once.

r is linear in q, so the bands *are* a region of priors, {q : low <= A q <= high}: nothing is inverted, and no bounds on
single weights, which reports say little about, come between.  No approximation is made, so the confidence is a lower
bound for any number of reports.  Looking at reports costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms import InputError, TabulatedMechanism
from ...solvers.robust.band import BandSet
from .ambiguity import Ambiguity
from .prior import Prior

SAME_KNOT = 1e-9
"""How near, as a share of the width, a knot of the table must lie to one of the prior: the rounding of linspace."""


@dataclass(frozen=True, eq=False)
class ReportAmbiguity(Ambiguity):
    """The priors that reports through a table do not rule out; made by `confidence_region`.

    Parameters
    ----------
    matrix : (k, n) ndarray
        Linear functions of the prior: probabilities of outputs, and of first outputs together.
    low, high : (k,) ndarray
        Their confidence bounds; rows that no prior could break are left out.
    confidence : float
        That the true prior is in the region, at least.
    reports : int
        Number of reports behind it.
    contradicted : bool
        Whether the reports ruled out every prior, and the rows were given up for that.
    """

    matrix: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    reports: int
    contradicted: bool = False

    @property
    def label(self) -> str:
        if self.contradicted:
            return f"every prior: {self.reports} reports contradict them all at confidence {self.confidence:.6g}"
        if len(self.low) == 0:
            return f"every prior: {self.reports} reports rule out none at confidence {self.confidence:.6g}"
        return f"confidence region at {self.confidence:.6g} of {self.reports} reports"

    def around(self, prior: Prior) -> BandSet:
        """Return the region; the prior only says on which knots.

        Raises
        ------
        InputError
            Another number of knots, or a region without a prior: the reports contradict the table.
        """
        self._require_knots(prior)
        return BandSet(self.matrix, self.low, self.high)

    def or_every(self, prior: Prior) -> ReportAmbiguity:
        """Return the region, or every prior where the region is empty: reports that fit no prior are no evidence."""
        self._require_knots(prior)
        try:
            self.around(prior)
        except InputError:
            return replace(self, matrix=self.matrix[:0], low=self.low[:0], high=self.high[:0], contradicted=True)
        return self

    def _require_knots(self, prior: Prior) -> None:
        if self.matrix.shape[1] != prior.knots.size:
            raise InputError(f"the region is for {self.matrix.shape[1]} knots, got a prior on {prior.knots.size}")

    def is_single(self, prior: Prior) -> bool:
        """Never: bounds on as many shares as reports are made of leave room."""
        return False

    def contains_every(self, prior: Prior) -> bool:
        """Whether no row is left that a prior could break."""
        return len(self.low) == 0


def confidence_region(
    table: TabulatedMechanism, reports: ArrayLike, knots: ArrayLike, confidence: float
) -> ReportAmbiguity:
    """Return the priors that reports through a table do not rule out, at a confidence that holds for any sample size.

    Parameters
    ----------
    table : TabulatedMechanism
        Table with which the reports were made.
    reports : (N,) array_like
        One report each of clients who were drawn at random.
    knots : (n,) array_like
        Knots of the prior. They include those of the table, so that probabilities are linear between them.
    confidence : float
        In (0, 1).

    Returns
    -------
    region : ReportAmbiguity
        What `Guarantee` takes.

    Raises
    ------
    InputError
        Reports that the table cannot make, knots without those of the table, or a confidence outside (0, 1).

    Source: Clopper and Pearson (1934); Massart (1990), "The tight constant in the Dvoretzky-Kiefer-Wolfowitz
    inequality".

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import confidence_region
    >>> from optldp.mechanisms import square_wave
    >>> table = square_wave(np.linspace(0, 1, 11), 2.0)
    >>> reports = table.sample(np.full(20_000, 0.3), np.random.default_rng(1))
    >>> region = confidence_region(table, reports, table.knots, 0.95)
    >>> prior = Prior.on_knots(table.knots, np.eye(11)[3], source="private-report")
    >>> round(float(region.around(prior).largest((table.knots - 0.3) ** 2)[0]), 4)  # of the squared distance to 0.3
    0.0085
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    grid = np.asarray(knots, dtype=np.float64)
    require_knots_among(table, grid)
    shares = table.pmf(np.clip(grid, *table.domain)).T
    index = table.output_index(reports)
    n = len(index)
    counts = np.bincount(index, minlength=len(shares))
    missed = (1 - confidence) / 2
    low, high = clopper_pearson(counts, n, missed / len(counts))
    reach = math.sqrt(math.log(2 / missed) / (2 * n))
    first = np.cumsum(counts)[:-1] / n
    matrix = np.concatenate([shares, np.cumsum(shares, axis=0)[:-1]])
    low, high = np.concatenate([low, first - reach]), np.concatenate([high, first + reach])
    says = (matrix.min(1) < low) | (matrix.max(1) > high)
    return ReportAmbiguity(matrix[says], low[says], high[says], float(confidence), n)


def require_knots_among(table: TabulatedMechanism, knots: np.ndarray) -> None:
    """Raise InputError unless the table's knots are among these: between them its probabilities are linear."""
    nearest = np.abs(table.knots[:, None] - knots).min(1)
    if nearest.max() > SAME_KNOT * (knots[-1] - knots[0]):
        raise InputError(
            f"knots must hold those of the first table, but {table.knots[int(nearest.argmax())]:.9g} is not among "
            "them: between its own knots a table's probabilities are linear, across them they are not"
        )


def clopper_pearson(counts: np.ndarray, n: int, missed: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two-sided intervals for binomial shares, each missed with probability `missed` at most."""
    from scipy.special import betaincinv  # slow to load, and for regions alone

    low = betaincinv(np.maximum(counts, 1), n - counts + 1, missed / 2)
    high = betaincinv(counts + 1, np.maximum(n - counts, 1), 1 - missed / 2)
    return np.where(counts == 0, 0.0, low), np.where(counts == n, 1.0, high)
