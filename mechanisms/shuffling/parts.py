"""What mechanisms made of tables have for mixing: several attributes, features of a record, and ways over time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce, singledispatch
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from ..combinators.attribute_sampling import AttributeSampling
from ..errors import InputError
from ..features import Features
from ..over_time import HistoryRows, Panel
from ..over_time.way import Way
from .rows import Pairs, Ratios, numerators_of, ratios_of


class Sent(NamedTuple):
    """What a user sends: reports of one mechanism, so many in all."""

    each: Any
    times: int


@singledispatch
def sent_by(channel: Any) -> Sent:
    """Return the mechanism of a user's reports, and in how many batches one of them is mixed at most.

    The other reports of a batch come from the same mechanism, whoever sends them in other periods.

    Raises
    ------
    InputError
        Reports over time that no budget bounds.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.over_time import Panel
    >>> sent_by(Panel(categorical_grr(["yes", "no"], 1.0), 12, 2, 2.0, "0" * 32)).times
    2
    """
    return Sent(channel, 1)


@sent_by.register
def _(channel: Way) -> Sent:
    if channel.life_epsilon is None:
        raise InputError(
            "mixing is bounded for histories of any values, got a way that promises nothing of when values change and "
            f"come back ({channel.kind}): mix the reports of a panel instead"
        )
    return Sent(channel, 1)


@sent_by.register
def _(channel: Panel) -> Sent:
    return Sent(channel.mechanism, channel.most_reports)


@sent_by.register
def _(channel: HistoryRows) -> Sent:
    return Sent(channel.mechanism, 1)


@numerators_of.register
def _(channel: Way) -> np.ndarray | None:
    """One report of a user, if it is drawn from a table."""
    each = sent_by(channel).each
    return None if each is channel else numerators_of(each)


@ratios_of.register
def _(channel: AttributeSampling) -> Ratios | None:
    """Of k of d tables, drawn evenly: no less than the largest variation, which of one table is exact.

    Coupled one by one, k draws are alike with probability prod(1 - beta_j), which is averaged over choices. Beside it
    stand k draws of the table of the largest p and beta, as `_of_draws` has them.
    """
    found = _all_ratios(channel.mechanisms)
    if found is None:
        return None
    alike = [1 - each.pairs[0].beta for each in found]
    sums = reduce(_with_one_more, alike, [Fraction(1), *[Fraction(0)] * channel.sampled])
    largest = sorted((each.p for each in found), reverse=True)[: channel.sampled]
    coupled = 1 - sums[-1] / comb(len(found), channel.sampled)
    return _ratios(
        prod(largest, start=Fraction(1)), min(coupled, _of_draws(largest[0], 1 - min(alike), channel.sampled))
    )


@ratios_of.register
def _(channel: Features) -> Ratios | None:
    """Of one of several tables, drawn by public shares."""
    found = _all_ratios([each.mechanism for each in channel.features])
    if found is None:
        return None
    total = sum(each.share for each in channel.features)
    shares = [Fraction(each.share, total) for each in channel.features]
    beta = sum((share * each.pairs[0].beta for share, each in zip(shares, found, strict=True)), Fraction(0))
    return _ratios(max(each.p for each in found), beta)


def _all_ratios(tables: Sequence[Any]) -> list[Ratios] | None:
    found = [ratios_of(each) for each in tables]
    return None if None in found else [each for each in found if each is not None]


def _ratios(p: Fraction, beta: Fraction) -> Ratios:
    """Ratios and the largest variation; rows with ratios of at most p vary by (p - 1) / (p + 1) at most."""
    return Ratios(p, (Pairs(min(beta, (p - 1) / (p + 1)), 1 / p),))


def _with_one_more(sums: list[Fraction], value: Fraction) -> list[Fraction]:
    """Elementary symmetric sums of one value more."""
    return [sums[0], *(sums[k] + value * sums[k - 1] for k in range(1, len(sums)))]


def _of_draws(p: Fraction, beta: Fraction, draws: int) -> Fraction:
    """The total variation of draws of P and of P' that are mixtures of U, U' and V, as in `upper`; of others less.

    Draws of U count 1, of U' -1: the sum has all that tells P from P', under which its sign is the other one.
    """
    if p == 1:
        return Fraction(0)
    alpha = beta / (p - 1)
    each, law = [alpha, 1 - alpha * (p + 1), alpha * p], [Fraction(1)]
    for _ in range(draws):
        around = [Fraction(0), Fraction(0), *law, Fraction(0), Fraction(0)]
        law = [each[2] * a + each[1] * b + each[0] * c for a, b, c in zip(around, around[1:], around[2:], strict=False)]
    return sum((up - down for up, down in zip(law[:draws:-1], law[:draws], strict=True)), Fraction(0))
