"""How much of the scatter of decoded reports is the mechanism's noise: what is left where the users are fixed."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.table.table import TabulatedMechanism
from .decoder import MeanDecoder, mean_decoder
from .unbiasing import knot_importance

CUTOFF = 1e-6
"""Singular values below this share of the largest are left out: they would buy a closer fit with far more noise."""


class MechanismNoise:
    r"""Estimates of the noise of numbers that reports of one table are decoded as, from the reports themselves.

    An estimate has a number v_j for each output, which satisfy sum_j P_ij v_j >= V_i + r at every knot, V_i the
    variance of the decoded report there and r the most that rounding between knots adds, max_k (m_{k+1} - m_k)^2 / 4
    for numbers of means m.  So their mean over reports is, on average, at least the mean variance Var(d | x) over
    whatever values are behind the reports, and nearly that where the outputs tell enough.  They are the least-squares
    solution of least second moment under the table's prior, moved up until the inequalities hold.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        n knots, m outputs.

    Example
    -------
    >>> from optldp.mechanisms import piecewise
    >>> table = piecewise(np.linspace(-1, 1, 41), 2.0)
    >>> least, of_output = MechanismNoise(table).of_decoder()
    >>> bool(np.abs(table.probabilities @ of_output - table.knot_variances).max() < 0.001)
    True
    """

    def __init__(self, mechanism: TabulatedMechanism) -> None:
        self.mechanism = mechanism

    def of_decoder(self, decoder: MeanDecoder | None = None) -> tuple[float, np.ndarray]:
        """Return the least variance of a decoded report over the knots, and v (m,); squared units of the knots.

        Parameters
        ----------
        decoder : MeanDecoder, optional
            Unbiased. Default: `mean_decoder`'s.

        Raises
        ------
        InputError
            No unbiased decoder exists.
        """
        variances = (decoder or mean_decoder(self.mechanism)).knot_variances
        return float(variances.min()), self._of_variances(variances, self.mechanism.knots)

    def of_values(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the same where each output counts as one of the values (m,), whose mean need not be the input."""
        table = self.mechanism.probabilities
        means = table @ values
        variances = np.maximum(table @ values**2 - means**2, 0.0)
        return float(variances.min()), self._of_variances(variances, means)

    def _of_variances(self, variances: np.ndarray, means: np.ndarray) -> np.ndarray:
        used, root, inverse = self._fitting
        of_output = np.zeros(used.size)
        rows = np.sqrt(self._importance)
        of_output[used] = inverse @ (rows * variances) / root
        rounding = float(np.abs(np.diff(means)).max()) ** 2 / 4
        return of_output + np.max(variances - self.mechanism.probabilities @ of_output) + rounding

    @cached_property
    def _importance(self) -> np.ndarray:
        n = self.mechanism.knots.size
        return knot_importance(self.mechanism, None) + 1.0 / n  # knots of no mass must fit as well

    @cached_property
    def _fitting(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs that occur (m,), the root of how often, and the inverse that fits their v to variances."""
        table = self.mechanism.probabilities
        average = self._importance @ table
        used = average > 0
        root = np.sqrt(average[used])
        fit = np.sqrt(self._importance)[:, None] * table[:, used] / root
        return used, root, np.linalg.pinv(fit, rcond=CUTOFF)


def fixed_users_variance(
    population: float, weights: ArrayLike, total: ArrayLike, noise: ArrayLike, least: ArrayLike, everyone: int
) -> float:
    r"""Return the variance of a mean about that of all users, who are fixed, given that about their population.

    With s_u the share of a user among those whose mean it is, and v_u the weight in the estimate, the values add
    sum_u (v_u - s_u)^2 S^2 in the place of sum_u v_u^2 S^2, S^2 their variance; since both sum to one, that is S^2 / N
    less, N the number of all users, those included of whom chance has not drawn a report.  S^2 is what numbers vary by
    more than by noise, on average over G groups of users with these weights, and at least zero.

    Parameters
    ----------
    population : float
        Variance about the population's mean.
    weights : (G,) array_like of float
        Of sum one.
    total, noise, least : (G,) array_like of float
        What the numbers of a group vary by in all, estimates of the noise in that, and what noise is at least.
    everyone : int
        N.

    Source: Cochran (1977), "Sampling techniques", chapters 2 and 5.

    Example
    -------
    >>> fixed_users_variance(0.2, [0.5, 0.5], [4.0, 4.0], [3.0, 2.0], [1.0, 1.0], 20)
    0.125
    """
    w, t, v, few = (np.asarray(one, dtype=np.float64) for one in (weights, total, noise, least))
    spread = np.clip(w @ (t - v), 0.0, w @ np.maximum(t - few, 0.0))
    return max(population - float(spread) / everyone, 0.0)
