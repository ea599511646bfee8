"""A frequency oracle for numbers: a value is rounded at random to one of two neighbouring knots, which is reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..categorical.mechanism import CategoricalMechanism
from ..errors import InputError
from ..promise import Promise
from ..sampling.domain import values_inside
from ..sampling.random_words import random_words
from ..table.exact_sampling import ordered_bits, rounded


@dataclass(frozen=True, eq=False)
class RoundedOracle:
    """Random rounding to K knots, unbiased, and then an oracle whose K categories are the knots in their order.

    The rounding looks at nothing but the value, so the report is as private as the oracle's.

    Parameters
    ----------
    knots : (K,) array_like of float
        Increasing, at least two; where values may lie is between the ends.
    oracle : CategoricalMechanism
        Of K categories.

    Raises
    ------
    InputError
        Knots that do not increase, or another number of categories.

    Source: Wei et al. (2024), AAA, sections 4.1 and 4.2.

    Example
    -------
    >>> from ..categorical.local_hashing import local_hashing
    >>> rounded = RoundedOracle([0.0, 5.0, 10.0], local_hashing(range(3), 1.0))
    >>> rounded.domain, rounded.epsilon, rounded.sample([2.0, 7.0, 9.0]).shape
    ((0.0, 10.0), 1.0, (3,))
    """

    knots: np.ndarray
    oracle: CategoricalMechanism

    def __init__(self, knots: ArrayLike, oracle: CategoricalMechanism) -> None:
        grid = np.array(knots, dtype=float)
        if grid.ndim != 1 or grid.size < 2 or not (np.isfinite(grid).all() and (np.diff(grid) > 0).all()):
            raise InputError(f"knots must be at least two finite numbers that increase, got {knots!r:.60}")
        if not isinstance(oracle, CategoricalMechanism):
            raise InputError(f"an oracle must be a mechanism for categories, got {oracle!r:.60}")
        if len(oracle.categories) != grid.size:
            raise InputError(
                f"an oracle must have a category for each knot, got {len(oracle.categories)} for {grid.size} knots"
            )
        grid.setflags(write=False)
        object.__setattr__(self, "knots", grid)
        object.__setattr__(self, "oracle", oracle)

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest value that can be reported on."""
        return float(self.knots[0]), float(self.knots[-1])

    @property
    def epsilon(self) -> float:
        """The privacy budget that a report spends."""
        return self.oracle.epsilon

    @property
    def promise(self) -> Promise:
        """What the oracle promises."""
        return self.oracle.promise

    def failures(self) -> tuple[str, ...]:
        """Return what breaks the oracle's promise, by whole numbers; nothing for one that keeps it."""
        return self.oracle.failures()

    def sample(self, values: ArrayLike, rng: np.random.Generator | None = None) -> np.ndarray:
        """Draw a report for each value (N,): by the operating system's generator, or as a simulation.

        Raises InputError for values outside the domain, or an rng of another kind.
        """
        inside, words = values_inside(values, *self.domain), random_words(rng)
        return self.oracle.draw(rounded(self.knots, ordered_bits(self.knots), inside, words), words)
