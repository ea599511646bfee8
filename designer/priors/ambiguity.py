"""How far the data's prior may be from the one that is known: sets of priors around a prior, in the user's units.

Each is a small description; `around(prior)` turns it into the set that `optldp.solvers` works with.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms import InputError
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers.biased.least_error import check_trust, trusted
from ...solvers.robust.sets import BoxSet, MovedSet, PriorSet
from ...solvers.robust.transport import TransportSet
from .prior import Prior

SMALLEST_RADIUS = 1e-12
"""A set no wider than this, in parts of one and of the half-width, is as good as a single prior: no step fits into
it.  What is guaranteed is computed for the set itself all the same."""


class Ambiguity(ABC):
    """A description of a set of priors on the knots of a prior, around it."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is, for people to read."""

    @abstractmethod
    def around(self, prior: Prior) -> PriorSet:
        """Return the set, on the prior's knots mapped to [-1, 1].

        Raises
        ------
        InputError
            A description that does not fit the prior.
        """

    @abstractmethod
    def is_single(self, prior: Prior) -> bool:
        """Whether the set is as good as a single prior."""

    @abstractmethod
    def contains_every(self, prior: Prior) -> bool:
        """Whether the set holds every prior on the knots."""


@dataclass(frozen=True)
class RelativeAmbiguity(Ambiguity):
    """Every weight may be wrong by a share of itself: |q_i - p_i| <= psi p_i.  Weights of zero stay zero.

    Parameters
    ----------
    psi : float
        Non-negative; from 1 on a weight may vanish.

    Raises
    ------
    InputError
        A share that is negative or not finite.

    Source: Wei et al. (2024), section 3.4, where the error is a share of the true weight instead: that is
    `BoxAmbiguity(p / (1 + psi), np.minimum(p / (1 - psi), 1))`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import RelativeAmbiguity
    >>> prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    >>> RelativeAmbiguity(0.2).around(prior).largest(np.array([0.0, 1.0, 3.0]))[1]
    array([0.2, 0.5, 0.3])
    """

    psi: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "psi", _radius("psi", self.psi))

    @property
    def label(self) -> str:
        return f"weights within {self.psi:.6g} of themselves"

    def around(self, prior: Prior) -> BoxSet:
        p = prior.weights
        # Never above one: a huge psi must not overflow.
        return BoxSet(max(0.0, 1 - self.psi) * p, np.minimum((1 + self.psi) * p, 1.0))

    def is_single(self, prior: Prior) -> bool:
        box = self.around(prior)
        return _is_tight(box.low, box.high)

    def contains_every(self, prior: Prior) -> bool:
        """A point mass at knot i needs (1 + psi) p_i >= 1 there, and psi >= 1 for all others to vanish."""
        return self.psi >= 1 and bool(((1 + self.psi) * prior.weights).min() >= 1)


@dataclass(frozen=True)
class FactorAmbiguity(Ambiguity):
    """Every weight may be off by a factor: p_i / trust <= q_i <= trust p_i.  Weights of zero stay zero.

    Parameters
    ----------
    trust : float
        At least 1, which trusts the prior wholly.

    Raises
    ------
    InputError
        A factor below 1 or not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import FactorAmbiguity
    >>> prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    >>> FactorAmbiguity(1.25).around(prior).largest(np.array([0.0, 1.0, 3.0]))[1]
    array([0.2   , 0.4875, 0.3125])
    """

    trust: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "trust", check_trust(self.trust))

    @property
    def label(self) -> str:
        return f"weights within a factor of {self.trust:.6g}"

    def around(self, prior: Prior) -> BoxSet:
        return trusted(prior.weights, self.trust)

    def is_single(self, prior: Prior) -> bool:
        box = self.around(prior)
        return _is_tight(box.low, box.high)

    def contains_every(self, prior: Prior) -> bool:
        """No finite factor lets a weight vanish."""
        return False


@dataclass(frozen=True)
class TotalVariationAmbiguity(Ambiguity):
    """A share of the mass may be anywhere: (1/2) sum |q_i - p_i| <= radius.

    Parameters
    ----------
    radius : float
        Non-negative.

    Raises
    ------
    InputError
        A radius that is negative or not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import TotalVariationAmbiguity
    >>> prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    >>> TotalVariationAmbiguity(0.2).around(prior).largest(np.array([0.0, 1.0, 3.0]))[1]
    array([0.05, 0.5 , 0.45])
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius("radius", self.radius))

    @property
    def label(self) -> str:
        return f"total variation {self.radius:.6g}"

    def around(self, prior: Prior) -> MovedSet:
        return MovedSet(prior.weights, self.radius)

    def is_single(self, prior: Prior) -> bool:
        return self.radius <= SMALLEST_RADIUS

    def contains_every(self, prior: Prior) -> bool:
        """The farthest prior is a point mass at the rarest knot, 1 - min p away."""
        return bool(self.radius >= 1 - prior.weights.min())


@dataclass(frozen=True)
class WassersteinAmbiguity(Ambiguity):
    """The mass may have moved by up to the radius on average: W1(q, p) <= radius.

    Parameters
    ----------
    radius : float
        Non-negative, in the units of the knots.

    Raises
    ------
    InputError
        A radius that is negative or not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import WassersteinAmbiguity
    >>> prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    >>> WassersteinAmbiguity(0.2).around(prior).largest(np.array([0.0, 1.0, 3.0]))[1]
    array([0.25, 0.3 , 0.45])
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius("radius", self.radius))

    @property
    def label(self) -> str:
        return f"Wasserstein-1 distance {self.radius:.6g}"

    def around(self, prior: Prior) -> TransportSet:
        unit = UnitInterval.of(prior.knots)
        return TransportSet(unit.knots, prior.weights, self.radius / unit.half)

    def is_single(self, prior: Prior) -> bool:
        return self.radius <= SMALLEST_RADIUS * UnitInterval.of(prior.knots).half

    def contains_every(self, prior: Prior) -> bool:
        """The distance is convex in q, so the farthest prior is a point mass, and at an end of the domain."""
        low, high = prior.domain
        return bool(self.radius >= max(prior.mean - low, high - prior.mean))


@dataclass(frozen=True, eq=False)
class BoxAmbiguity(Ambiguity):
    """Every weight lies between bounds of its own, such as simultaneous confidence intervals: low <= q <= high.

    Parameters
    ----------
    low, high : (n,) array_like of float
        Within [0, 1], one per knot; low sums to at most one, high to at least one.

    Raises
    ------
    InputError
        Bounds that are not usable.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import BoxAmbiguity
    >>> prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    >>> box = BoxAmbiguity([0.1, 0.3, 0.2], [0.4, 0.6, 0.4])
    >>> box.around(prior).largest(np.array([0.0, 1.0, 3.0]))[1]
    array([0.1, 0.5, 0.4])
    """

    low: ArrayLike
    high: ArrayLike

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            bounds = np.array(getattr(self, name), dtype=np.float64)
            if bounds.ndim != 1 or not ((bounds >= 0) & (bounds <= 1)).all():
                raise InputError(f"{name} must be one bound within [0, 1] per knot, got {getattr(self, name)!r}")
            bounds.setflags(write=False)
            object.__setattr__(self, name, bounds)
        if np.shape(self.low) != np.shape(self.high):
            raise InputError(f"low and high must be as many, got {np.size(self.low)} and {np.size(self.high)}")
        BoxSet(np.asarray(self.low), np.asarray(self.high))

    @property
    def label(self) -> str:
        return "weights between bounds"

    def around(self, prior: Prior) -> BoxSet:
        if np.size(self.low) != prior.knots.size:
            raise InputError(f"bounds must be as many as the {prior.knots.size} knots, got {np.size(self.low)}")
        return BoxSet(np.asarray(self.low), np.asarray(self.high))

    def is_single(self, prior: Prior) -> bool:
        return _is_tight(np.asarray(self.low), np.asarray(self.high))

    def contains_every(self, prior: Prior) -> bool:
        return bool((np.asarray(self.low) == 0).all() and (np.asarray(self.high) == 1).all())


AMBIGUITIES: dict[str, type[RelativeAmbiguity] | type[TotalVariationAmbiguity] | type[WassersteinAmbiguity]] = {
    "relative": RelativeAmbiguity,
    "tv": TotalVariationAmbiguity,
    "wasserstein": WassersteinAmbiguity,
}
"""Those of one number, by the names that the command line has for them."""


def _is_tight(low: np.ndarray, high: np.ndarray) -> bool:
    """Whether the bounds, or the sum of one, leave next to no choice."""
    room = min(1 - low.sum(), high.sum() - 1)
    return bool(room <= SMALLEST_RADIUS or np.count_nonzero(high - low > SMALLEST_RADIUS) < 2)


def _radius(name: str, value: float) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, got {value!r}") from None
    if not (math.isfinite(found) and found >= 0):
        raise InputError(f"{name} must be finite and not negative, got {value!r}: 0 means that the prior is known")
    return found
