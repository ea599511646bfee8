"""Whether counts fit the mechanism that they are read with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .law_test import LEVEL
from .tested_counts import parts_of


@dataclass(frozen=True)
class Fit:
    """How well counts fit.

    Attributes
    ----------
    p_value : float, optional
        At most how probable counts as far from all that the mechanism can make are; None where nothing can be tested.
    part : str
        Of several services, attributes, levels or keys the one that fits worst; "" where there is one part alone.
    """

    p_value: float | None
    part: str

    @property
    def fails(self) -> bool:
        """Whether that is below 1e-4: the counts are not of this mechanism, or not of users who report once each."""
        return self.p_value is not None and self.p_value < LEVEL


def fit_of(counts: Iterable[Any]) -> Fit:
    """Return how well counts of one or several kinds fit, all of their parts together.

    The least probability is taken as many times as there are parts (Bonferroni).

    Parameters
    ----------
    counts : iterable of counts
        As `count` makes them.

    Raises
    ------
    InputError
        Counts of another kind.

    Example
    -------
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> fit_of([count(categorical_grr(["yes", "no"], 1.0), [0, 1, 1])]).p_value is None
    True
    """
    parts = [part for some in counts for part in parts_of(some)]
    found = [(p_value, part.name) for part in parts if (p_value := part.p_value()) is not None]
    if not found:
        return Fit(None, "")
    least, name = min(found)
    return Fit(min(1.0, len(parts) * least), name)


def fit_p_value(counts: Any) -> float | None:
    """Return an upper bound on the probability of counts that fit their mechanism this badly; None where nothing can be
    tested.

    The best distribution is fitted, of non-negative weights, and the likelihood ratio of the counts themselves to it is
    compared with chi-squared, or with simulated counts where few users are expected in a cell. Below 1e-4 the reports
    come from another table, or from users who report more than once, and no estimate can be trusted. Counts from their
    own mechanism fall below it at most once in 10,000 times.

    Parameters
    ----------
    counts : counts
        As `count` makes them, of any kind.

    Returns
    -------
    p_value : float, optional
        None where a distribution has as many free values as there are outputs, so that it fits any counts.

    Raises
    ------
    InputError
        The argument is not counts.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count
    >>> from optldp.estimators import fit_p_value
    >>> from optldp.mechanisms import piecewise
    >>> reports = piecewise([-1.0, 0.0, 1.0], 1.0).sample(np.zeros(5000), np.random.default_rng(1))
    >>> fit_p_value(count(piecewise([-1.0, 0.0, 1.0], 1.0), reports)) > 1e-4
    True
    """
    return fit_of([counts]).p_value
