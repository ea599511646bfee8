"""The privacy budget epsilon: its permitted range and its safe side in floating point."""

import math

from .errors import InputError

MIN_EPSILON = 1e-6
"""Below it e^epsilon - 1 keeps fewer than ten digits and a useful mean would need over 1e12 users."""

MAX_EPSILON = 16.0
"""Above it (e^16 = 8.9e6) there is little privacy left to design for, and doubles no longer certify the optimum."""

RELATIVE_MARGIN = 1e-12
"""Share of the budget given up so that rounding a probability can never push a ratio above e^epsilon."""

ABSOLUTE_MARGIN = 4e-16
"""The rounding error of a logarithm of a ratio of two rounded probabilities; matters for tiny epsilon."""


def check_epsilon(epsilon: float) -> float:
    """Return epsilon as a float, or raise.

    Parameters
    ----------
    epsilon : float
        Privacy budget (natural logarithm of the largest ratio), in [1e-6, 16].

    Raises
    ------
    InputError
        Not a number, not finite, not positive, or outside [MIN_EPSILON, MAX_EPSILON].

    Example
    -------
    >>> check_epsilon(1)
    1.0
    """
    try:
        value = float(epsilon)
        if isinstance(epsilon, str | bytes | bool):
            raise TypeError
    except (TypeError, ValueError):
        raise InputError(f"epsilon must be a number, got {epsilon!r:.60}") from None
    except OverflowError:
        value = math.inf
    if not math.isfinite(value) or value <= 0:
        raise InputError(f"epsilon must be positive and finite, got {epsilon!r:.60}")
    if value > MAX_EPSILON:
        raise InputError(
            f"epsilon must be at most {MAX_EPSILON:g}, got {epsilon!r}: beyond it e^epsilon outgrows what double "
            "precision can certify, and hardly any privacy is left"
        )
    if value < MIN_EPSILON:
        raise InputError(
            f"epsilon must be at least {MIN_EPSILON:g}, got {epsilon!r}: below it e^epsilon - 1 has too few digits"
        )
    return value


def inner_epsilon(epsilon: float) -> float:
    """Return the slightly smaller budget that tables are built with, so that rounding errs towards privacy.

    Example
    -------
    >>> 0 < 1.0 - inner_epsilon(1.0) < 2e-12
    True
    """
    return epsilon * (1.0 - RELATIVE_MARGIN) - ABSOLUTE_MARGIN
