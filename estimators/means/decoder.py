"""How the reports of one table become numbers whose average estimates the mean, and how far these numbers reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.table.table import TabulatedMechanism
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
        return reports if self.method == "average" else (reports - self.shift) / self.scale

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


def mean_decoder(mechanism: TabulatedMechanism, weights: ArrayLike | None = None) -> MeanDecoder:
    """Return the decoder that `estimate_mean` averages by: the simplest that is unbiased at every knot.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    weights : (n,) array_like of float, optional
        As in `optimal_decoder`, which is only used where the mean is not affine in the input.

    Raises
    ------
    InputError
        No unbiased decoder exists.
    """
    affine = affine_unbiasing(mechanism)
    if affine is None:
        return MeanDecoder(mechanism, "decoder", values=optimal_decoder(mechanism, weights))
    if affine == (1.0, 0.0):
        return MeanDecoder(mechanism, "average")
    return MeanDecoder(mechanism, "affine", *affine)
