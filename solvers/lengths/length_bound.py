r"""Lengths that no table does without whose columns rise to one peak and fall, as those of intervals of values do.

For any departure d with s . d = t from g within the simplex, and any table,

    omega  >=  t min(1, delta / (n d^T I d)^(1/2))  >=  t (1 - 4/27 n d^T I d / delta^2),

a tangent of the former, which is linear in the weights of patterns. So a weighted sum of moduli is at least a number
less a linear function of the weights, whose most over intervals is a heaviest tiling's (`information/tiling`).

Source: derived here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..frequency.frequency_program import ROUNDING
from ..information.fisher import interval_quadratics
from ..information.information_program import interval_masses
from ..information.tiling import heaviest_tilings
from .length_program import RADIUS, LengthProgram

TANGENT = 4 / 27
"""Slope of the line through (0, 1) that touches x^(-1/2), at x = 9/4: below it everywhere, and below 1."""

REACH = 1.5
"""Radius at which departures are taken for the tangent to touch, as a multiple of the intervals' own."""

OPEN = 1e-2
"""Share of a modulus that departures for a bound may leave."""


@dataclass(frozen=True, eq=False)
class LengthCertificate:
    """What proves lengths of one-peaked tables.

    Attributes
    ----------
    departures : (2 k, n) ndarray
        Of the numbers upwards, then downwards.
    shares : (k,) ndarray
        Of the numbers in the worst length; all one where the sum counts.
    """

    departures: Array
    shares: Array


def length_certificate(program: LengthProgram, columns: Array, parts: Array) -> LengthCertificate:
    """Return departures that prove much of a table's own lengths.

    Parameters
    ----------
    program : LengthProgram
    columns : (n, m) ndarray
        Of the best table known.
    parts : (k,) ndarray
        How much each length counts there, where the largest is what counts.
    """
    found = program.departures(OPEN, REACH * RADIUS)
    found.settle(program.information(columns))
    return LengthCertificate(found.values, parts / program.weights)


def certified_length_bound(program: LengthProgram, certificate: LengthCertificate) -> float:
    """Return a lower bound on what every table is worth whose columns rise to one peak and fall, whatever proves it.

    Example
    -------
    >>> program = LengthProgram(np.full(4, 0.25), 3.0, np.array([[1.0, 1.0, 0.0, 0.0]]), np.ones(1), 10_000)
    >>> response = np.array([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    >>> bound = certified_length_bound(program, length_certificate(program, response, np.ones(1)))
    >>> round(bound, 4), round(program.value(response), 4)
    (0.0392, 0.0392)
    """
    weights = np.maximum(certificate.departures + program.prior, 0.0)
    d = weights / weights.sum(1, keepdims=True) - program.prior  # stays in the simplex, whatever was given
    moved = np.maximum(np.einsum("ki,ki->k", program.both, d), 0.0)
    shares = np.maximum(certificate.shares, 0.0)
    shares = shares / shares.sum() if program.worst else np.ones(shares.size)  # no mean is above the largest
    parts = np.tile(shares * program.weights, 2)
    squared = (d * (TANGENT * program.users / RADIUS**2 * parts * moved)[:, None]).T @ d
    masses, excess = interval_masses(program.prior), program.ratio - 1
    mass = 1 + excess * np.clip(masses, 0, 1)
    values = interval_quadratics(squared, program.ratio) / mass
    lam = heaviest_tilings(values, excess).multipliers
    over = (values - lam.sum() - excess * interval_masses(lam)) / mass
    most = float(over[np.triu_indices(len(over), 1)].max())
    rounding = 8 * program.size * ROUNDING * program.ratio**2 * float(np.abs(squared).sum())
    return max(0.0, float(parts @ moved - lam.sum() - max(most, 0.0)) - rounding)
