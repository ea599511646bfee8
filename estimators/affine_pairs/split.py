"""Reports are split: a few choose the estimates, and the rest are what these are computed from."""

from __future__ import annotations

import zlib

import numpy as np

from .outcomes import Outcomes

CHOOSING = 0.05
"""Share of reports that choose: what they add to an interval's length by missing from its noise is a fortieth."""

LEAST_CHOOSING = 100
"""Below it the share is larger, up to a half."""

LEAST_USERS = 20
"""Of whom some choose estimates and the others make them; of fewer all do, and ends hold for any number of users."""


def split(outcomes: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Return the users who choose and the others, drawn without replacement by a seed that is the counts' checksum.

    The same counts give the same split, in whatever order reports came.

    Example
    -------
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.eye(2), np.array([400, 600]), False)
    >>> [part.n for part in split(coin)]
    [100, 900]
    """
    n = outcomes.n
    return _drawn(outcomes, min(max(int(CHOOSING * n), LEAST_CHOOSING), n // 2))


def halves(outcomes: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Return one half of the users and the other, drawn likewise.

    Example
    -------
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.eye(2), np.array([400, 600]), False)
    >>> [part.n for part in halves(coin)]
    [500, 500]
    """
    return _drawn(outcomes, outcomes.n // 2)


def _drawn(outcomes: Outcomes, many: int) -> tuple[Outcomes, Outcomes]:
    users = outcomes.users
    seed = zlib.crc32(np.ascontiguousarray(users, dtype="<i8").tobytes())
    chosen = np.random.default_rng(seed).multivariate_hypergeometric(users, many, method="marginals")
    return outcomes.seen_by(chosen), outcomes.seen_by(users - chosen)
