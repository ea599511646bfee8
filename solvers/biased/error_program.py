"""The error of a mean of N users, bias allowed, under any prior of a set, as data, with its certificate.

For knots x_1 < ... < x_n, a ratio E = e^epsilon > 1, a closed convex set A of priors and N users, over **all**
mechanisms with entries t_y <= P(y | x_i) <= E t_y at any real outputs y:

    minimise  R^2 = max over q in A of q.v / N + B^2,      B = max over q in A of |q.b|,
    b_i = sum_y (y - x_i) P(y | x_i),      v_i = sum_y (y - x_i)^2 P(y | x_i).

N values drawn from q in A have a mean whose squared error is q.v / N + (1 - 1/N) (q.b)^2 on average: at most R^2.

**Certificate.**  Take priors w, up and down in A, numbers r, s >= 0 (how much they count), and any lambda.  For every
mechanism, as N B^2 >= beta B - beta^2 / 4N for any beta,

    N R^2  >=  w.v + N B^2  >=  w.v + (r up - s down).b - (r + s)^2 / 4N,

and the first two terms are sum_y theta_y sum_i c_iy g_i(y) + sum lambda with

    g_i(y) = w_i (y - x_i)^2 - lambda_i - nu_i (y - x_i),      nu = s down - r up:

those of the unbiased program with weights w.  Its exact pricing (`unbiased.pricing`) never asked where nu is from, so

    N R^2  >=  certified_bound(w, lambda, nu) - (r + s)^2 / 4N.

An unbiased program lets nu be anything for nothing.  Here it costs the square of its gauge over 4N, the gauge whose
unit ball is the hull of A and -A: as N grows that vanishes, and the best unbiased table for the worst prior of A is
left.

Source: linear programming duality, Fenchel's inequality; for the mean squared error of biased estimators under
uncertainty Donoho (1994) and Armstrong and Kolesar (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..robust.sets import PriorSet
from ..unbiased.pricing import certified_bound
from ..unbiased.unbiased_program import UnbiasedProgram

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative rounding of a sum of products, per product."""

MOST_USERS = 1e15
"""Whole numbers up to it are doubles with digits to spare."""


@dataclass(frozen=True)
class MeanError:
    """Largest error of a mean of N users, and its parts, in the units of the knots.

    Attributes
    ----------
    rmse : float
        R: no prior of the set has a larger root mean squared error.
    noise : float
        The largest standard error, sqrt(max q.v / N).
    bias_bound : float
        B, the largest |bias| of the mean.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import ErrorProgram, solve_error, trusted
    >>> program = ErrorProgram(np.linspace(-1, 1, 5), np.e, trusted(np.full(5, 0.2), 2.0), 100)
    >>> error = program.error(*solve_error(program).solution[:2])
    >>> round(error.rmse, 2), round(error.noise, 2), round(error.bias_bound, 2)
    (0.17, 0.14, 0.09)
    """

    rmse: float
    noise: float
    bias_bound: float


def moments(knots: Array, outputs: Array, probabilities: Array) -> tuple[Array, Array]:
    """Return v_i and b_i, (n,) each, of any table."""
    offsets = outputs - knots[:, None]
    return (offsets**2 * probabilities).sum(1), (offsets * probabilities).sum(1)


def mean_error(knots: Array, priors: PriorSet, users: float, outputs: Array, probabilities: Array) -> MeanError:
    """Return R and its parts, rounded up, for any table of numbers, private or not."""
    size = float(np.abs(outputs).max() + np.abs(knots).max())
    return error_of_moments(*moments(knots, outputs, probabilities), priors, users, len(outputs), size)


def error_of_moments(v: Array, b: Array, priors: PriorSet, users: float, outputs: int, size: float) -> MeanError:
    """Return R and its parts, rounded up, of v_i and b_i that are sums over so many outputs.

    Parameters
    ----------
    v, b : (n,) ndarray
        Mean squared error, not negative, and bias of one report at each knot.
    priors : PriorSet
    users : float
        N >= 1.
    outputs : int
        Terms of the sums that v and b are.
    size : float
        Of what is summed, outputs and knots, at most; what b may have lost to rounding is a share of it.
    """
    noise = priors.largest(v)[0] / users
    bias = _largest_size(priors, b) + ROUNDING * (outputs + len(b)) * size
    return MeanError(math.sqrt(noise + bias * bias) * (1 + ROUNDING), math.sqrt(noise), bias)


def _largest_size(priors: PriorSet, b: Array) -> float:
    """max over the set of |q.b|; its support functions take what is not negative, and priors sum to one."""
    high, low = float(b.max()), float(b.min())
    return max(priors.largest(b - low)[0] + low, priors.largest(high - b)[0] - high, 0.0)


def check_users(users: float) -> None:
    """Raise an InputError for a number of users that is not a whole number from 1 to 1e15."""
    number = isinstance(users, int | float | np.number) and not isinstance(users, bool)
    if not (number and 1 <= users <= MOST_USERS and users == int(users)):
        raise InputError(f"the number of users must be whole, from 1 to {MOST_USERS:g}, got {users!r}")


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers that prove a lower bound.

    Attributes
    ----------
    worst, up, down : (n,) ndarray
        Priors in the set: worst for the variance, for bias upwards and for bias downwards.
    weight_up, weight_down : float
        How much the two biases count, not negative.
    lam : (n,) ndarray
        Multipliers of the rows' sums.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import ErrorProgram, Multipliers, solve_error, trusted
    >>> program = ErrorProgram(np.linspace(-1, 1, 5), np.e, trusted(np.full(5, 0.2), 2.0), 100)
    >>> found = Multipliers(**solve_error(program).multipliers)
    >>> round(found.worst.sum().item(), 6)
    1.0
    """

    worst: Array
    up: Array
    down: Array
    weight_up: float
    weight_down: float
    lam: Array

    @property
    def nu(self) -> Array:
        """The multipliers of the means, (n,), that they amount to."""
        return self.weight_down * self.down - self.weight_up * self.up

    @property
    def weight(self) -> float:
        return self.weight_up + self.weight_down


@dataclass(frozen=True, eq=False)
class ErrorProgram:
    """Knots, ratio, the set of priors and the number of users.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing inputs, n >= 2, scaled to [-1, 1].
    ratio : float
        E = e^epsilon > 1.
    priors : PriorSet
        On these knots.
    users : int
        N >= 1.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import ErrorProgram
    >>> from optldp.solvers.robust.sets import BoxSet
    >>> program = ErrorProgram(np.array([-1.0, 1.0]), 3.0, BoxSet(np.full(2, 0.4), np.full(2, 0.6)), 100)
    >>> zero = program.error(np.zeros(1), np.ones((2, 1)))  # reports of zero: off by one each, by 0.2 if the prior is
    >>> round(zero.rmse, 6), round(zero.noise, 6), round(zero.bias_bound, 6)
    (0.223607, 0.1, 0.2)
    """

    knots: Array
    ratio: float
    priors: PriorSet
    users: int

    def __post_init__(self) -> None:
        checked = UnbiasedProgram(self.knots, self.priors.some_prior, self.ratio)
        object.__setattr__(self, "knots", checked.knots)
        check_users(self.users)

    def under(self, prior: Array) -> UnbiasedProgram:
        """Return the unbiased ratio program whose weights are this prior."""
        return UnbiasedProgram(self.knots, prior / prior.sum(), self.ratio)

    def moments(self, outputs: Array, probabilities: Array) -> tuple[Array, Array]:
        """Return v_i and b_i, (n,) each, of a mechanism."""
        return moments(self.knots, outputs, probabilities)

    def error(self, outputs: Array, probabilities: Array) -> MeanError:
        """Return R and its parts for any mechanism, rounded up.

        Parameters
        ----------
        outputs : (m,) ndarray
        probabilities : (n, m) ndarray
            Rows that sum to one.
        """
        return mean_error(self.knots, self.priors, self.users, outputs, probabilities)

    def bound(self, found: Multipliers) -> float:
        """Return a certified lower bound on R for every mechanism on these knots, biased or not, with any outputs.

        Valid for any members of the set, any weights that are not negative and any lambda.

        Members are such up to a relative rounding delta of each weight.  What that adds to (r up - s down).b is at most
        delta (r + s) sqrt(N) R, since (up.|b|)^2 <= up.v <= N R^2; what is taken off here is more.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.solvers.biased import ErrorProgram, Multipliers
        >>> from optldp.solvers.robust.sets import BoxSet
        >>> even = np.full(2, 0.5)
        >>> program = ErrorProgram(np.array([-1.0, 1.0]), 3.0, BoxSet(0.5 * even, 2 * even), 10)
        >>> round(program.bound(Multipliers(even, even, even, 0.0, 0.0, np.full(2, 0.3))), 6)
        0.244949
        """
        if not (found.weight_up >= 0 and found.weight_down >= 0):
            return 0.0
        program, users, n = self.under(found.worst), float(self.users), len(self.knots)
        priced = certified_bound(program, found.lam, found.nu)
        taken = found.weight * found.weight / (4 * users)
        square = priced - taken - (abs(priced) + taken) * ROUNDING * n
        square -= found.weight * math.sqrt(max(square, 0.0)) * ROUNDING * n
        return math.sqrt(max(square, 0.0) / users) * (1 - ROUNDING)
