"""Protocols of the field that remember a report of each value: what a period's frequencies cost, and what is promised.

They are here to be compared with. What they call a longitudinal budget is of what is remembered of each value, when it
is known when values change; of a whole life they promise nothing (docs/asking-again.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError

PATTERN = "{permanent:g} for each different value of a user; when values change or come back is not hidden"
HASHED = "{most:g} for all values of a user, {permanent:g} for each of {parts}; when these change is not hidden"
BUCKETS = "{permanent:g} for users whose value stays in one of {parts} buckets; that it leaves it is not hidden"


@dataclass(frozen=True)
class Longitudinal:
    """A protocol at given budgets.

    Attributes
    ----------
    name : str
    own, other : float
        Probability that a report supports the value that its user holds, and one that it does not.
    sampled : float
        Share of the values that a report covers.
    promise : str
        The promise that it keeps, in words; for a life there is none.

    Example
    -------
    >>> from optldp.designer.over_time import longitudinal
    >>> made = longitudinal("L-OSUE", 20, 2.0, 1.0)
    >>> round(made.variance(0.05), 2), made.promise
    (3.78, '2 for each different value of a user; when values change or come back is not hidden')
    """

    name: str
    own: float
    other: float
    sampled: float
    promise: str

    def variance(self, share: float) -> float:
        """Return the variance times n of the estimate of a value's share of n users, in one period.

        The estimate is (c / (n d) - q) / (p - q): c reports that support the value, p and q the probabilities above, d
        the share of the values that a report says anything of.

        Source: Arcolezi et al. (2021), eq. (7); for sampled values Ding et al. (2017), section 3.
        """
        seen = share * self.own + (1 - share) * self.other
        second = seen * (1 - self.other) ** 2 + (1 - seen) * self.other**2
        return (second / self.sampled) / (self.own - self.other) ** 2 - share**2


def longitudinal(name: str, values: int, permanent: float, first: float | None = None) -> Longitudinal:
    """Return a known protocol for so many categories.

    Parameters
    ----------
    name : {"L-GRR", "L-OSUE", "LOLOHA", "dBitFlipPM"}
    values : int
        Categories, from 2.
    permanent : float
        Budget of the memoised report.
    first : float, optional
        Budget of a single report, below `permanent`; dBitFlipPM, which has no second round, takes none.

    Returns
    -------
    protocol : Longitudinal

    Raises
    ------
    InputError
        Another name, budgets or number.

    Source: Arcolezi et al. (2021), arXiv:2111.04636, for L-GRR and L-OSUE; Arcolezi et al. (2023), EDBT, for LOLOHA;
    Ding, Kulkarni and Yekhanin (2017) for dBitFlipPM, with one sampled bit of as many buckets as values.

    Example
    -------
    >>> from optldp.designer.over_time import longitudinal
    >>> longitudinal("LOLOHA", 20, 2.0, 1.0).promise
    '6 for all values of a user, 2 for each of 3; when these change is not hidden'
    """
    if name not in PROTOCOLS:
        raise InputError(f"a protocol must be one of {', '.join(PROTOCOLS)}, got {name!r:.40}")
    if type(values) is not int or values < 2:
        raise InputError(f"there must be at least 2 values, got {values!r:.40}")
    check_epsilon(permanent)
    if (first is None) != (name == "dBitFlipPM"):
        raise InputError(f"{name} must have {'no' if first is not None else 'a'} budget of a first report: correct it")
    if first is not None and check_epsilon(first) >= permanent:
        raise InputError(f"a first report must spend less than what is remembered, {permanent:g}, got {first:g}")
    return PROTOCOLS[name](values, permanent, permanent if first is None else first)


def _grr(values: int, permanent: float, first: float) -> Longitudinal:
    own, other = _two_responses(values, permanent, first)
    return Longitudinal("L-GRR", own, other, 1.0, PATTERN.format(permanent=permanent))


def _unary(values: int, permanent: float, first: float) -> Longitudinal:
    """Optimised unary encoding that is remembered, then a symmetric one."""
    keep, stray = 0.5, 1 / (math.exp(permanent) + 1)
    both = math.exp(first + permanent)
    again = (1 - both) / (math.exp(first) - math.exp(permanent) - both + 1)
    own, other = (chance * again + (1 - chance) * (1 - again) for chance in (keep, stray))
    return Longitudinal("L-OSUE", own, other, 1.0, PATTERN.format(permanent=permanent))


def _hashing(values: int, permanent: float, first: float) -> Longitudinal:
    """Values are hashed to few parts by a function of the user's own, then as L-GRR."""
    e, s = math.exp(permanent), math.exp(first)
    inside = e**4 - 14 * e**2 - 12 * (e * s) ** 2 + 12 * e * s + 12 * e**3 * s + 1
    parts = max(2, round((math.sqrt(inside) - e**2 + 6 * e - 6 * s + 1) / (6 * (e - s)))) if inside > 0 else 2
    own, _ = _two_responses(parts, permanent, first)
    said = HASHED.format(most=parts * permanent, permanent=permanent, parts=parts)
    return Longitudinal("LOLOHA", own, 1 / parts, 1.0, said)


def _bit_flip(values: int, permanent: float, first: float) -> Longitudinal:
    own = 1 / (1 + math.exp(-permanent / 2))
    return Longitudinal("dBitFlipPM", own, 1 - own, 1 / values, BUCKETS.format(permanent=permanent, parts=values))


def _two_responses(values: int, permanent: float, first: float) -> tuple[float, float]:
    """Probabilities that a remembered randomised response, answered through another, is a value that is held or not.

    As published, for (p p' + q q') / (p q' + q p') = e^first, which leaves out that several values may be between: of
    more than two values a first report then spends less than `first`.
    """
    keep = 1 / (1 + (values - 1) * math.exp(-permanent))
    stray, ratio = (1 - keep) / (values - 1), math.exp(first)
    again = (stray - ratio * keep) / (-keep * ratio + (values - 1) * stray * ratio - keep * (values - 1) + stray)
    slip = (1 - again) / (values - 1)
    return keep * again + (1 - keep) * slip, stray * again + (1 - stray) * slip


PROTOCOLS: dict[str, Callable[[int, float, float], Longitudinal]] = {
    "L-GRR": _grr,
    "L-OSUE": _unary,
    "LOLOHA": _hashing,
    "dBitFlipPM": _bit_flip,
}
