"""Averages of raw reports of several services, as "Privacy for Free" has them: from sums, never from lists of users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.unit_interval import UnitInterval
from ..counting.counts import ReportCounts, Service
from ..counting.reported_sums import ReportedSums
from ..input_grid import InputGrid
from ..intervals import Sample
from .decoder import MeanDecoder, mean_decoder


def raw_decoders(services: Sequence[Service]) -> list[MeanDecoder]:
    """Return the scale and shift that make each service's reports unbiased; InputError names one that has none.

    Example
    -------
    >>> from optldp.mechanisms import laplace
    >>> raw_decoders([Service("a", laplace([-1.0, 1.0], 1.0))])[0].method
    'average'
    """
    decoders = []
    for service in services:
        try:
            decoders.append(mean_decoder(service.mechanism, raw=True))
        except InputError as error:
            raise InputError(f"service {service.name!r}: {error}") from None
    return decoders


def raw_variances(decoder: MeanDecoder, grid: InputGrid) -> np.ndarray:
    """Return the (K,) variance of a raw report, made unbiased, at each point of the grid, or its average over a cell.

    The table knows it at its knots; between them values are rounded at random, which adds the squared distance.  For
    cells of width h the h^2/12 by which the values within differ is no variance of a report.  Squared units.

    Parameters
    ----------
    decoder : MeanDecoder
        Of raw reports.
    grid : InputGrid
        K points or cells.

    Source: Du, Ye, Fu and Hu (2025), "Privacy for Free", the var_j of equation (8), of reports as they are.

    Example
    -------
    >>> from optldp.mechanisms import laplace
    >>> decoder = mean_decoder(laplace([-1.0, 0.0, 1.0], 0.1), raw=True)  # 2 (2 / 0.1)^2
    >>> raw_variances(decoder, InputGrid.knots([-1.0, 0.0, 1.0])).round(3)
    array([800., 800., 800.])
    """
    distance = decoder.mechanism.knots - grid.points[:, None]
    spread = np.sum(grid.knot_shares(decoder.mechanism) * (decoder.knot_variances + distance**2), axis=1)
    return spread - np.diff(grid.edges) ** 2 / 12 if grid.flat else spread


def raw_sample(counts: ReportCounts, decoders: Sequence[MeanDecoder], weights: Sequence[np.ndarray]) -> Sample:
    r"""Return the sample of the users' weighted averages of raw reports.

    With F and Q the sums of a row's reports and of their products, n its users, c and s a service's shift and scale,
    the unbiased numbers have the sums (F - n c)/s and (Q - c F' - F c' + n c c')/(s s'), hence their average weighted
    by w the sum w F and the sum of squares w Q w: what the mean and the sample variance need.

    Parameters
    ----------
    counts : ReportCounts
        G groups, with sums of their reports; tables of points need none.
    decoders : sequence of MeanDecoder
        Of each service, of raw reports.
    weights : sequence of (R_g, J_g) ndarray of float
        Of each group's services; they sum to one in each row.

    Raises
    ------
    InputError
        Counts of outputs alone.

    Example
    -------
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import laplace
    >>> table = laplace([-1.0, 1.0], 1.0)
    >>> reports = np.array([0.5, 0.5, -1.5]), np.array([0.0, 1.0, -1.0])
    >>> counts = count([(table, column) for column in reports], raw=True)
    >>> even = [np.full(group.outputs.shape, 0.5) for group in counts.groups]
    >>> found = raw_sample(counts, raw_decoders(counts.services), even)
    >>> found.n, round(found.mean, 4), round(found.variance, 4)  # of 0.25, 0.75 and -1.25
    (3, -0.0833, 1.0833)
    """
    unit = UnitInterval.of(counts.mechanisms[0].domain)
    total = squares = 0.0
    for group, given in zip(counts.groups, weights, strict=True):
        mine = [decoders[j] for j in group.services]
        sums = group.sums or _sums_of_points(mine, group.outputs, group.counts, unit)
        scale = np.array([decoder.scale for decoder in mine])
        shift = np.array([unit.places(np.asarray(d.scale * unit.middle + d.shift)) for d in mine])
        users = group.counts[:, None]
        total += float(np.sum(given * (sums.first - users * shift) / scale))
        crossed = shift[:, None] * sums.first[:, None, :]
        centred = sums.second - crossed - crossed.swapaxes(1, 2) + users[:, :, None] * np.outer(shift, shift)
        squares += float(np.einsum("ri,rij,rj->", given / scale, centred, given / scale))
    n, ends = counts.n_users, [decoder.extremes for decoder in decoders]
    mean, width = total / n, max(high.value for _, high in ends) - min(low.value for low, _ in ends)
    variance = max(squares - n * mean**2, 0.0) / (n - 1)
    return Sample(n, float(unit.values(np.asarray(mean))), unit.half**2 * variance, width)


def _sums_of_points(
    decoders: Sequence[MeanDecoder], outputs: np.ndarray, users: np.ndarray, unit: UnitInterval
) -> ReportedSums:
    """The sums of reports that are points, which their outputs tell."""
    tables = [decoder.mechanism for decoder in decoders]
    if not all(table.is_discrete for table in tables):
        raise InputError(
            "raw reports need sums of the numbers beside counts of outputs, got outputs alone: count(..., raw=True)"
        )
    columns = [unit.places(table.low)[column] for table, column in zip(tables, outputs.T, strict=True)]
    places = np.stack(columns, axis=1)
    return ReportedSums(users[:, None] * places, users[:, None, None] * places[:, :, None] * places[:, None, :])
