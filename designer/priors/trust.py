r"""How far an older prior was off when the newer values came: the trust that a column has earned.

A design for the least error trusts a prior p within a factor: p_i / trust <= q_i <= trust p_i.  Of two earlier years
one knows how far the older was off the newer, but for chance: of the newer year's shares q there is a sample alone.
Shares of sets of knots are binomial, so Clopper-Pearson intervals [low, high], each for an even part of what may be
missed, hold for all sets at once.  The factor covers

- with confidence, every set that holds at least 1% under p, or as much as 40 of the newer values are: runs of
  neighbouring knots, and both tails from any knot on; the factor is at least high / p and p / low;
- of tails that hold less, which a sample says little of, what the sample rules out: at least low / p.  That fewer are
  there than p says is no contradiction: most of p may be its uniform share, and nobody's bias is larger for it than for
  p / trust but by the mass of that.

Tails, because they are what bias is made of: values cut at u have the mean error -\int_u q(x > c) dc.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms import InputError
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from .checks import as_knots, as_numbers, check_within
from .prior import DEFAULT_UNIFORM_SHARE
from .region import clopper_pearson

THIN = 0.01
"""Sets that hold less of the older prior are only looked at: with them any sample would find any factor."""

EXPECTED = 40
"""Newer values that a set must be expected to hold, or it is thin too: 17 to 77 of them are chance among 100 sets."""

THICKEST = 0.2
"""What may be thin at most: a factor for less than four fifths of the values is none."""

CONFIDENCE = 0.95
"""That the factor covers what it says, if nothing else is asked."""

HUNDREDTHS = 100
"""Factors are rounded up to two digits after the point, so that the one that is printed is the one that is used."""


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTrust(Shown):
    """The measured factor by which a prior may be off, and its evidence.

    Attributes
    ----------
    factor : float
        Factor between the newer year's shares and the older prior, chance allowed for.
    observed : float
        The same for the sample as it is, without allowing for chance; infinite if a set has become empty.
    older, newer : int
        Numbers of values.
    confidence : float
    thin : float
        Sets with a smaller share are used only where they contradict the prior: 0.01, or more with few values.
    decided_by : (float, float)
        Ends of the set that determines the factor, in units of the values.
    expected, found : float
        Its share under the older prior, and among the newer values.
    sure : bool
        Whether the sample is large enough for that set; else it is a thin tail.

    Example
    -------
    >>> from optldp.designer.priors import MeasuredTrust
    >>> found = MeasuredTrust(1.6, 1.4, 5000, 4000, 0.95, 0.01, (0.0, 5.0), 0.2, 0.28, True)
    >>> found.to_frame(backend="polars")["factor"].to_list()
    [1.6]
    """

    factor: float
    observed: float
    older: int
    newer: int
    confidence: float
    thin: float
    decided_by: tuple[float, float]
    expected: float
    found: float
    sure: bool

    def _told(self) -> Told:
        names = ["as observed", "chance allowed for"]
        return Told(self._line(), picture=Dots(names, np.array([self.observed, self.factor]), "factor"))


@dataclass(frozen=True)
class _Set:
    """Neighbouring knots, from the first to the one before the last."""

    first: int
    last: int
    sure: bool


def measure_trust(
    older: ArrayLike,
    newer: ArrayLike,
    *,
    knots: int | ArrayLike,
    domain: tuple[float, float] | None = None,
    confidence: float = CONFIDENCE,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
) -> MeasuredTrust:
    """Return the factor by which a prior from the older values was off the newer ones' distribution.

    Small samples give large factors, because they carry little information. For an unchanged distribution the factor
    tends to one as samples grow.

    Parameters
    ----------
    older, newer : (N,) array_like of float
        Values of two earlier years, drawn from a population each, within the domain.
    knots : int or (n,) array_like
        As of the design that will trust its prior this far.
    domain : (float, float), optional
        Needed for a number of knots.
    confidence : float
        In (0, 1).
    uniform_share : float
        In [0, 1): mixed into the older values' prior, as in a design.

    Returns
    -------
    found : MeasuredTrust
        `FactorAmbiguity` and `Error` take its `factor` as trust; `sure` is whether the samples are large enough for it.

    Raises
    ------
    InputError
        Values that are not usable, or too few of them for any factor.

    Source: Clopper and Pearson (1934); the choice of sets is our own.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.priors import measure_trust
    >>> rng = np.random.default_rng(1)
    >>> older, newer = np.minimum(rng.exponential(20, 40_000), 200), np.minimum(rng.exponential(22, 40_000), 200)
    >>> found = measure_trust(older, newer, knots=41, domain=(0, 200))
    >>> found.factor, found.sure  # of an exponential tail the share at 1% grew by 1.5
    (1.57, True)
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    if not 0 <= uniform_share < 1:
        raise InputError(f"the uniform share must lie in [0, 1), got {uniform_share!r}")
    grid = as_knots(knots, domain)
    before, after = (_nearest_counts(values, what, grid) for values, what in ((older, "older"), (newer, "newer")))
    prior = (1 - uniform_share) * before / before.sum() + uniform_share / grid.size
    total = int(after.sum())
    thin = max(THIN, EXPECTED / total)
    if thin > THICKEST:
        raise InputError(
            f"a trust needs at least {EXPECTED / THICKEST:g} newer values, got {total}: give more, or name a factor, "
            "as in --objective error:3"
        )
    sets = [*_runs(prior, thin), *_tails(prior, thin)]
    p = np.array([prior[each.first : each.last].sum() for each in sets])
    counts = np.array([int(after[each.first : each.last].sum()) for each in sets])
    sure = np.array([each.sure for each in sets])
    low, high = clopper_pearson(counts, total, (1 - confidence) / len(sets))
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(sure, np.maximum(high / p, p / low), low / p)
        raw = np.maximum(counts / (total * p), total * p / counts)[sure].max()
    needed = np.where(p > 0, needed, np.where(counts > 0, np.inf, 1.0))
    worst = int(np.argmax(needed))
    edges = np.concatenate([grid[:1], 0.5 * (grid[1:] + grid[:-1]), grid[-1:]])
    reach = float(edges[sets[worst].first]), float(edges[sets[worst].last])
    if not math.isfinite(needed[worst]):
        raise InputError(
            f"a trust needs newer values wherever many older ones are, got none of {total} from {reach[0]:.6g} to "
            f"{reach[1]:.6g}, where a share of {p[worst]:.3g} was: give more values, or name a factor, as in "
            "--objective error:3"
        )
    return MeasuredTrust(
        factor=max(math.ceil(HUNDREDTHS * float(needed[worst])) / HUNDREDTHS, 1.0),
        observed=float(raw),
        older=int(before.sum()),
        newer=total,
        confidence=float(confidence),
        thin=thin,
        decided_by=reach,
        expected=float(p[worst]),
        found=float(counts[worst]) / total,
        sure=bool(sure[worst]),
    )


def _nearest_counts(values: ArrayLike, what: str, knots: np.ndarray) -> np.ndarray:
    """Return how many values are nearest to each knot: whole numbers, of which chance is known."""
    points = as_numbers(values, f"{what} values")
    check_within(points, knots)
    return np.bincount(np.searchsorted(0.5 * (knots[1:] + knots[:-1]), points), minlength=knots.size)


def _runs(prior: np.ndarray, thin: float) -> Iterator[_Set]:
    """Cut the knots into runs that hold just what a sure set must; what is left at the end joins the last."""
    starts, held = [0], 0.0
    for i, weight in enumerate(prior):
        held += weight
        if held >= thin:
            starts.append(i + 1)
            held = 0.0
    starts[-1] = len(prior)
    yield from (_Set(first, last, True) for first, last in pairwise(starts))


def _tails(prior: np.ndarray, thin: float) -> Iterator[_Set]:
    """All first knots and all last knots that hold at most half of the mass together."""
    n, first = len(prior), np.cumsum(prior)
    for k in range(1, n):
        below, above = float(first[k - 1]), float(1 - first[k - 1])
        if below <= 0.5:
            yield _Set(0, k, below >= thin)
        if above <= 0.5:
            yield _Set(k, n, above >= thin)
