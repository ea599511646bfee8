"""The root of a function of one variable, to the last bit."""

from collections.abc import Callable


def bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that is negative at low and positive at high changes sign.

    Example
    -------
    >>> bisect(lambda x: x * x - 2, 0.0, 2.0)
    1.414213562373095
    """
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return low
        if function(middle) < 0:
            low = middle
        else:
            high = middle
