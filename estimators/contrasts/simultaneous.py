"""The confidence that each of several intervals needs so that all of them hold together."""

from ...mechanisms.errors import InputError
from ..intervals import check_confidence


def each_of(confidence: float, intervals: int) -> float:
    """Return the confidence of each of some intervals with which all of them hold at once with the confidence given.

    confidence^(1/m): Sidak's, a little less than Bonferroni's 1 - (1 - confidence)/m.  For normal estimates it is
    exact if they are independent, as those of groups without common users are, and enough whatever their correlation
    is, as of frequencies of the same reports.

    Parameters
    ----------
    confidence : float
        Strictly between 0 and 1.
    intervals : int
        At least 1.

    Raises
    ------
    InputError
        Any other numbers.

    Source: Sidak (1967), "Rectangular confidence regions for the means of multivariate normal distributions",
    corollary 1.

    Example
    -------
    >>> round(each_of(0.95, 10), 5)
    0.99488
    """
    check_confidence(confidence)
    if intervals < 1:
        raise InputError(f"there must be at least one interval, got {intervals!r}")
    return confidence ** (1.0 / intervals)
