r"""How far shares of keys and means of their values may be off, before anybody has reported and whatever users hold.

User u holds the key or not, samples it with probability s_u = 1 / max(padding, 1) or 0, and adds nu_u to the number of
those who sampled it and t_u to the sum of their values, both without bias. The share of those who hold it is
max(padding, 1) times the mean of nu, whose variance is a share-weighted sum of two numbers.

The mean's error is to first order that of z_u = t_u - m nu_u over n f, with m the mean of the holders' values on
[-1, 1], f = F / max(padding, 1) and F the share of holders. What the holders' values are adds up to

    V = max_m [ f G_m(m) + (1 - f) E[z^2 | another place] ] / f^2,

G_m the upper concave envelope over v of E[z^2 | this place, v] - (v - m)^2 / max(padding, 1): the second term is what
E z takes off, since the error is about these users' own mean and E z = s_u (v_u - m). It is had on a grid of v and m,
with the most that parabola lies above its chords added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ..means.decoding import plain_decoder
from .published import contributions

PLACES = 65
"""Values on [-1, 1] that are tried beside the knots; they miss no more than (1 / 64)^2."""


class KeyErrors(NamedTuple):
    """Variances of one user's share of a sum: over n users, they are divided by n.

    Attributes
    ----------
    share : float
        The largest of a key's frequency, whatever it is.
    mean : float
        The largest of the mean of its values, whatever they are; squared units.
    """

    share: float
    mean: float


def key_errors(mechanism: KeyValueMechanism, frequency: float) -> KeyErrors:
    """Return the largest variances of a key's estimated frequency, and of the mean of its values at this frequency.

    No user may hold more pairs than the padding, and one where it is 0.

    Parameters
    ----------
    mechanism : KeyValueMechanism
    frequency : float
        Share of the users that hold the key, in (0, 1].

    Raises
    ------
    InputError
        A frequency outside (0, 1], or a value table that allows no unbiased mean.

    Source: own derivation, of the estimates of Gu et al. (2020); the module has it.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> found = key_errors(key_value_unary(["a", "b"], duchi([-1.0, 1.0], 1.0), 1.0), 0.5)
    >>> round(found.share, 2), round(found.mean, 1)
    (11.07, 58.8)
    """
    if not 0.0 < frequency <= 1.0:
        raise InputError(f"frequency must lie in (0, 1], got {frequency!r}")
    table, scale, other = mechanism.value, mechanism.share_scale, mechanism.other_shown
    unit = UnitInterval.of(table.domain)
    shown, hidden, holds = contributions(mechanism, unit.places(plain_decoder(table)))
    seen = other + (mechanism.own_shown - other) / scale  # how often a holder shows the key
    of_share = [scale**2 * p * (1 - p) * (holds[0] - holds[1]) ** 2 for p in (seen, other)]
    knots = unit.places(table.knots)
    places = np.union1d(np.linspace(-1.0, 1.0, PLACES), knots)
    rows = np.stack([np.interp(places, knots, column) for column in table.probabilities.T], axis=1)
    sampled, own = frequency / scale, mechanism.own_shown
    missed = float(np.diff(places).max()) ** 2 / 4 / scale
    largest = 0.0
    for mean in places.tolist():
        if_shown, if_hidden = (shown - mean * holds[0]) ** 2, (hidden - mean * holds[1]) ** 2
        mine = own * rows @ if_shown + (1 - own) * if_hidden - (places - mean) ** 2 / scale
        theirs = other * float(mechanism.fake_law @ if_shown) + (1 - other) * if_hidden
        most = _envelope(places, mine, mean) + missed
        largest = max(largest, (sampled * most + (1 - sampled) * theirs) / sampled**2)
    return KeyErrors(float(max(of_share)), float(largest * unit.half**2))


def _envelope(places: np.ndarray, heights: np.ndarray, at: float) -> float:
    """Return the upper concave envelope of heights over places at one of the places: the highest chord above it."""
    here = int(np.searchsorted(places, at))
    left, right = places[:here, None], places[None, here + 1 :]
    if not left.size or not right.size:
        return float(heights[here])
    share = (right - at) / (right - left)
    chords = share * heights[:here, None] + (1 - share) * heights[None, here + 1 :]
    return max(float(heights[here]), float(chords.max()))
