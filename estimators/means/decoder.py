"""How the reports of one table become numbers whose average estimates the mean, and how far these numbers reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, unwired
from ...mechanisms.table.table import TabulatedMechanism
from .dominating import dominating_decoder
from .unbiasing import affine_unbiasing, optimal_decoder


class Extreme(NamedTuple):
    """A report that no other one goes beyond.

    Parameters
    ----------
    value : float
        What it is decoded as, in the units of the inputs.
    report : float
        The report itself; in a cell the end that it can come as near to as one likes.
    chance : float
        The most, over the inputs, that an honest report lies in its output and, in a tail, as far out.
    """

    value: float
    report: float
    chance: float


@dataclass(frozen=True, eq=False)
class MeanDecoder:
    """Unbiased numbers for reports: themselves, (y - shift) / scale, or one value for each output.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    method : {"average", "affine", "decoder"}
    scale, shift : float
        1 and 0 but for "affine".
    values : (m,) ndarray of float, optional
        For "decoder".

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> decoder = mean_decoder(duchi([0.0, 10.0], 1.0))
    >>> decoder.method, [round(extreme.value, 2) for extreme in decoder.extremes]
    ('average', [-5.82, 15.82])
    """

    mechanism: TabulatedMechanism
    method: Literal["average", "affine", "decoder"]
    scale: float = 1.0
    shift: float = 0.0
    values: np.ndarray | None = None

    def decode(self, reports: np.ndarray) -> np.ndarray:
        """Return the number (N,) of each report; InputError for reports that the table cannot make."""
        outputs = self.mechanism.output_index(reports)
        if self.values is not None:
            return self.values[outputs]
        if self.method == "average":
            return reports
        if self.method == "affine":
            return (reports - self.shift) / self.scale
        raise unwired("decoder", self.method)

    @property
    def knot_variances(self) -> np.ndarray:
        """(n,) variance of a decoded report at each knot, squared units of the inputs."""
        if self.values is None:
            return self.mechanism.knot_variances / self.scale**2
        distance = self.values - self.mechanism.knots[:, None]
        return np.sum(self.mechanism.probabilities * distance**2, axis=1)

    @property
    def output_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(m,) and (m,) decoded reports between which those of each output lie, where its scale is positive."""
        if self.values is not None:
            return self.values, self.values
        nearest, farthest = self.mechanism.within.farthest(self.mechanism.low, self.mechanism.high)
        return (nearest - self.shift) / self.scale, (farthest - self.shift) / self.scale

    @property
    def extremes(self) -> tuple[Extreme, Extreme]:
        """The least and the largest decoded report, of all that the table can make."""
        ends = np.stack(self.output_ends)
        reports = np.stack(self.mechanism.within.farthest(self.mechanism.low, self.mechanism.high))
        ends = np.where(self.mechanism.possible, ends, np.nan)
        return (
            self._extreme(ends, reports, int(np.nanargmin(ends))),
            self._extreme(ends, reports, int(np.nanargmax(ends))),
        )

    def _extreme(self, ends: np.ndarray, reports: np.ndarray, place: int) -> Extreme:
        side, output = np.unravel_index(place, ends.shape)
        table = self.mechanism
        tail = not (np.isfinite(table.low[output]) and np.isfinite(table.high[output]))
        chance = float(table.probabilities[:, output].max())
        if tail:
            chance *= table.within.tails(table.low, table.high).farthest_chance
        return Extreme(float(ends[side, output]), float(reports[side, output]), chance)


def mean_decoder(mechanism: TabulatedMechanism, weights: ArrayLike | None = None, *, raw: bool = False) -> MeanDecoder:
    """Return the decoder that `estimate_mean` averages by, unbiased at every knot.

    One value for each output where that errs no more at any input and less on average (`dominating_decoder`); else the
    reports themselves, scaled and shifted where they need it; where their mean is not affine in the input, one value
    for each output.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    weights : (n,) array_like of float, optional
        As in `optimal_decoder`.
    raw : bool
        Take no value for an output but the reports themselves, scaled and shifted where they need it.

    Raises
    ------
    InputError
        No unbiased decoder exists; none of that form where the reports are to be raw.
    """
    affine = affine_unbiasing(mechanism)
    if affine is None and raw:
        raise InputError(
            "raw reports must have a mean that is affine in the input, got one of "
            f"{mechanism.provenance.method!r} that is not, so that no scale and shift unbiases them: leave raw out"
        )
    if affine is None:
        return MeanDecoder(mechanism, "decoder", values=optimal_decoder(mechanism, weights))
    if not raw and (values := dominating_decoder(mechanism, weights)) is not None:
        return MeanDecoder(mechanism, "decoder", values=values)
    if affine == (1.0, 0.0):
        return MeanDecoder(mechanism, "average")
    return MeanDecoder(mechanism, "affine", *affine)
