"""The first page of every report: for who signs, in words that need no knowledge of the method.

What it has to say depends on what is reported on, `bounds_front` and `mechanism_front`; what it says in every case is
here. The numbers are computed from what is reported on, none is read from what a file claims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....estimators.intervals import CONFIDENCE, normal_quantile
from ....mechanisms.promise import Approximate, Metric, OfPairs, Promise
from ....solvers.biased.error_program import check_users
from ...planning.people import MeanWithin, sentence, shown
from ..number_format import percent, short, short_up
from ..odds import BELIEFS, Grid, at_most, odds_grid, odds_sentence, percent_of

SOME_USERS = 10_000
"""People of whom errors are told where nobody said how many there will be."""

SURE = percent(CONFIDENCE, 0)

ON_THE_DEVICE = (
    "It is perturbed where it is, on the person's own device, and only the perturbed report is sent: whoever collects "
    "reports, or takes them from the collector, never has the value itself."
)

NOT_PROTECTED = (
    "Not protected: that somebody took part, and what the statistics of all say about everybody, who took part or not."
)

OF_THESE = (
    "The mean is that of the people who report: that they are a sample of others comes on top. Four times as many "
    "people halve the noise."
)


@dataclass(frozen=True)
class Front:
    """What the first page says; paragraphs, unless said otherwise.

    Attributes
    ----------
    protects, promise, sends, errors, recommends, warnings : tuple of str
    odds, choices : Grid, optional
        Beliefs before and after; what else there is to choose, with its price.
    users : int
        People of whom the errors are.
    line : tuple of str
        For an index: the promise, what 1 % becomes at most, the first error.
    """

    protects: tuple[str, ...]
    promise: tuple[str, ...]
    errors: tuple[str, ...]
    recommends: tuple[str, ...]
    users: int
    line: tuple[str, str, str]
    sends: tuple[str, ...] = ()
    odds: Grid | None = None
    choices: Grid | None = None
    warnings: tuple[str, ...] = ()


def checked_users(users: int | None) -> int:
    """Return the number of people, some where none is given; InputError for one that is none."""
    check_users(SOME_USERS if users is None else users)
    return SOME_USERS if users is None else int(users)


def on_page(said: MeanWithin, units: str = "", name: str = "") -> str:
    """Return the terminal's sentence of how far a mean, or that of a name, is off as a page has it.

    Example
    -------
    >>> from ...planning.people import mean_within
    >>> on_page(mean_within(10_000, None, 4.0), "EUR")
    'With 10,000 people: mean within 0.0392 EUR (95%) whatever their values are.'
    """
    text = sentence({name: said}, units)
    return f"{text[0].upper()}{text[1:]}."


def reach(variance: float, users: int) -> float:
    """Return how far the mean of so many reports is from the mean of their users, at most, with the usual confidence.

    Example
    -------
    >>> round(reach(100.0, 400), 4)
    0.98
    """
    return normal_quantile(CONFIDENCE) * math.sqrt(variance / users)


def within(variance: float, users: int, units: str = "") -> str:
    """Return the same as text, rounded up, as the terminal has it.

    Example
    -------
    >>> within(100.0, 400, "EUR")
    '0.98 EUR'
    """
    return shown(reach(variance, users), units)


def people(users: float) -> str:
    """Return a number of people, rounded up.

    Example
    -------
    >>> people(12345.2)
    '12,346'
    """
    return f"{math.ceil(users):,}" if users < 1e12 else short(users)


def promise_words(promise: Promise, width: float, units: str = "") -> tuple[tuple[str, ...], Grid, str]:
    """Return what a promise means: paragraphs, odds, and what 1 % becomes at most, for values of a domain so wide.

    (epsilon, delta): let reports have the law P where a statement holds and Q where not, and S be those at which
    P > e^(2 epsilon) Q. Then P(S) <= e^epsilon Q(S) + delta <= e^-epsilon P(S) + delta: but for a share of
    delta / (1 - e^-epsilon) of the reports, the odds rise by no more than e^(2 epsilon).

    Source: Kasiviswanathan and Smith (2014), "On the 'semantics' of differential privacy", lemma 3.3.

    Example
    -------
    >>> from ....mechanisms.promise import Pure
    >>> words, odds, short = promise_words(Pure(1.0), 100.0)
    >>> len(words), len(odds.rows), short
    (2, 2, '2.7\xa0%')
    """
    epsilon = promise.epsilon
    if isinstance(promise, Metric):
        unit = units or "unit"
        said = (
            f"The promise is by distance: epsilon {epsilon:g} per {unit}. A report is at most e to the power "
            f"{epsilon:g} d times as probable at one value as at another that is d away: values near each other are "
            "well hidden among each other, values far apart hardly.",
        )
        cases = [
            (f"values 1 {unit} apart", epsilon),
            (f"values {short(width)} apart, the farthest", epsilon * width),
        ]
        most = math.inf if promise.leaves_out else epsilon * width
        return said, odds_grid("one report tells apart", cases), at_most(BELIEFS[0], most)
    if isinstance(promise, OfPairs) and promise.size is not None:
        said = (
            f"The promise is of pairs of values: {promise}.",
            f"What that is not: {promise.caution}.",
            "The odds below are those of the two values that may be told apart most, where anything is promised.",
        )
        odds = odds_grid("one report tells apart", [("such two values", epsilon)])
        return said, odds, at_most(BELIEFS[0], math.inf if promise.leaves_out else epsilon)
    if isinstance(promise, Approximate):
        lost = promise.delta / -math.expm1(-epsilon)
        said = (
            f"The promise is {promise}: weaker than epsilon alone. Of all reports a share of at most "
            f"{short_up(lost)} may tell everything about their person.",
            f"After any other, somebody who thought something about the person {percent_of(BELIEFS[0])} likely thinks "
            f"it at most {at_most(BELIEFS[0], 2 * epsilon)} likely.",
        )
        return said, odds_grid("but for that share", [("one report", 2 * epsilon)]), at_most(BELIEFS[0], 2 * epsilon)
    said = (
        f"{odds_sentence(epsilon)}",
        f"Epsilon {epsilon:g} says that no report is more than {short_up(math.exp(min(epsilon, 700.0)))} times as "
        "probable at one value as at another. Each further report about the same value multiplies the odds once more.",
    )
    return (
        said,
        odds_grid("after", [("one report", epsilon), ("two reports", 2 * epsilon)]),
        at_most(BELIEFS[0], epsilon),
    )
