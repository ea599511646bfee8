r"""How far the mean of n people may be off, in a sentence: the one place that computes it, for every command.

Each of n people reports once, and reports are averaged. About these people's own mean the average errs with variance
V / n, if reports are unbiased, V the variance of one report: the expected one where values follow the prior, the
largest one whatever they are. If only a share s of them reports, drawn by chance, that is

    (V + (1 - s) S^2) / (s n),                      S^2 the variance of the values,

at most a quarter of the squared range. Bias adds to it whatever n is: with b its most, the mean is within
`bias_aware_reach` of the truth. A table for the error of a mean is biased on purpose: it has the noise and the bias
that it promises while the prior is right within its factor (`promised_error`), and never its variance alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from functools import singledispatch
from typing import Any

import numpy as np

from ...estimators.input_grid import InputGrid
from ...estimators.intervals import CONFIDENCE, bias_aware_reach
from ...estimators.means.decoding import decoded_variances, plain_decoder
from ...estimators.means.error import designed_for, largest_error, rounding_excess
from ...estimators.reading.formats.axis import length_on
from ...mechanisms.compact_tables import FloorForm
from ...mechanisms.compact_tables.floor_and_windows import expanded
from ...mechanisms.errors import InputError, unwired
from ...mechanisms.table.knot_prior import KnotPrior
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.biased.error_program import MeanError, check_users
from ..designs.result import Design
from ..objectives.error import Error
from ..objectives.guarantee import Guarantee
from ..priors.ambiguity import FactorAmbiguity

FOLLOW = "their values follow the prior"
ANY = "any values"

FACTS = "people", "confidence", "mean_within", "mean_within_if", "mean_within_any_values"
"""Names of the numbers in every JSON object and file."""

SHARE = "share_within"
"""Name of the one more where a share is estimated, too."""


@dataclass(frozen=True)
class MeanWithin:
    """How far the mean of some people may be off, and for which values of theirs.

    Attributes
    ----------
    people : int
        n, who are asked once each.
    confidence : float
        In how many cases it is no further off.
    within : float
        In units of the values.
    under : str
        What is assumed of the values for that, as it follows "if"; `ANY` for nothing.
    any_values : float or None
        The same whatever the values are; None where nothing is said of that.
    share_within : float, optional
        How far the share of people may be off whose mean it is, where that is estimated too.
    who : str
        Who these people are.

    Example
    -------
    >>> print(MeanWithin(20_000, 0.95, 1239.6, FOLLOW, 1900.0))
    with 20,000 people: mean within 1,240 (95%) if their values follow the prior, within 1,900 whatever they are
    """

    people: int
    confidence: float
    within: float
    under: str
    any_values: float | None
    share_within: float | None = None
    who: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers under the names that they have in every JSON object."""
        numbers = self.people, self.confidence, self.within, self.under, self.any_values
        share = {} if self.share_within is None else {SHARE: self.share_within}
        return dict(zip(FACTS, numbers, strict=True)) | share

    def __str__(self) -> str:
        return sentence({"": self})


def facts_of(found: Mapping[str, MeanWithin]) -> dict[str, Any]:
    """Return the facts of one mean, or of several lists of them; n and the confidence are said once."""
    first, *others = (each.facts for each in found.values())
    if not others and "" in found:
        return first
    once = ("people", "confidence")
    return {name: fact if name in once else [fact, *(each[name] for each in others)] for name, fact in first.items()}


def sentence(found: Mapping[str, MeanWithin], units: str = "") -> str:
    """Return in a sentence how far means may be off: one for each assumption, and each mean by its name, if it has one.

    Example
    -------
    >>> sentence({"": MeanWithin(20_000, 0.95, 1900.0, ANY, 1900.0)}, "EUR")
    'with 20,000 people: mean within 1,900 EUR (95%) whatever their values are'
    >>> two = {"age": MeanWithin(500, 0.9, 2.0, FOLLOW, 3.0), "income": MeanWithin(500, 0.9, 310.0, FOLLOW, 490.0)}
    >>> sentence(two)
    'with 500 people: mean of age within 2, of income within 310 (90%) if their values follow the prior, within 3 and \
490 whatever they are'
    """
    means = list(found.values())
    first = means[0]
    each = ", ".join(
        f"{f'of {name} ' if name else ''}within {shown(mean.within, units)}" for name, mean in found.items()
    )
    many = f"{first.people:,} {'person' if first.people == 1 else 'people'}"
    shares = [shown(mean.share_within) for mean in means if mean.share_within is not None]
    share = f"share of {first.who} within {' and '.join(shares)}, " if shares else ""
    said = f"with {many}: {share}mean {'of theirs ' if shares else ''}{each} ({100 * first.confidence:.6g}%)"
    if all(mean.under == ANY for mean in means):
        return f"{said} whatever their values are"
    said += f" if {first.under}"
    anyway = [shown(mean.any_values, units) for mean in means if mean.any_values is not None]
    return f"{said}, within {' and '.join(anyway)} whatever they are" if anyway else said


def shown(value: float, units: str = "") -> str:
    """Format how far a mean is off, of four significant digits, rounded up; of dates and times in days or hours.

    Example
    -------
    >>> shown(1239.01), shown(0.0123401, "km"), shown(274.4, "days since 1970-01-01")
    ('1,240', '0.01235 km', '274.4 days')
    """
    if (length := length_on(value, units)) is not None:
        return length
    text = f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(value)):,.12g}"
    return f"{text} {units}" if units else text


def promised_within(
    people: int, error: MeanError, trust: float, *, confidence: float = CONFIDENCE, left_out: float = 0.0
) -> MeanWithin:
    """Return how far the mean of n people may be off whose reports are biased: of their noise and bias, both the
    largest while the prior is right within a factor, and the standard error of those whom chance left out.

    Example
    -------
    >>> from optldp.solvers.biased.error_program import MeanError
    >>> print(promised_within(900, MeanError(5.0, 3.0, 4.0), 2.0))
    with 900 people: mean within 8.935 (95%) if the prior is right within a factor of 2
    """
    within = bias_aware_reach(math.hypot(error.noise, left_out), error.bias_bound, confidence)
    return MeanWithin(int(people), confidence, within, f"the prior is right within a factor of {trust:g}", None)


def mean_within(
    people: int,
    variance: float | None,
    worst_variance: float | None,
    *,
    bias: float = 0.0,
    confidence: float = CONFIDENCE,
    under: str = FOLLOW,
) -> MeanWithin:
    r"""Return how far the mean of n people may be off, from the variance of one report and its bias.

    Parameters
    ----------
    people : int
        n, at least 1.
    variance : float or None
        Of one report, squared units, under what is assumed of the values; None where nothing is known of them.
    worst_variance : float or None
        The largest of any values; None where it is not known.
    bias : float
        The largest of a report, units.
    confidence : float
        Strictly between 0 and 1.
    under : str
        What is assumed.

    Raises
    ------
    InputError
        A number of people or a confidence out of range, or neither variance.

    Source: the central limit theorem, and Armstrong and Kolesar (2018) for the bias.

    Example
    -------
    >>> round(mean_within(10_000, 4.0, 9.0).within, 4), round(mean_within(10_000, None, 9.0).within, 4)
    (0.0392, 0.0588)
    """
    check_users(people)

    def reach(one: float | None) -> float | None:
        return None if one is None else bias_aware_reach(math.sqrt(one / people), bias, confidence)

    assumed, any_values = reach(variance), reach(worst_variance)
    if assumed is not None:
        return MeanWithin(int(people), confidence, assumed, under, any_values)
    if any_values is None:
        raise InputError("how far a mean is off takes a prior or a largest variance, got neither: give a prior")
    return MeanWithin(int(people), confidence, any_values, ANY, any_values)


def table_mean_within(
    mechanism: TabulatedMechanism | FloorForm,
    people: int,
    *,
    prior: KnotPrior | None = None,
    share: float = 1.0,
    confidence: float = CONFIDENCE,
) -> MeanWithin:
    """Return how far the mean of n people's reports of a table may be off, all of it computed from the table's numbers.

    Parameters
    ----------
    mechanism : TabulatedMechanism or FloorForm
    people : int
        n, who are asked.
    prior : KnotPrior, optional
        Of the values, on the table's knots. Default: that which the table carries, if any.
    share : float
        s of the people who report through this table, drawn by chance.
    confidence : float

    Raises
    ------
    InputError
        Numbers out of range, a table without an unbiased mean, or one for the error of a mean that does not say the
        prior or the factor that it promises it for.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> print(table_mean_within(duchi([-1.0, 0.0, 1.0], 1.0), 10_000))
    with 10,000 people: mean within 0.04242 (95%) whatever their values are
    """
    check_users(people)
    prior = mechanism.prior if prior is None else prior
    if mechanism.provenance.is_for_error:
        return _promised(expanded(mechanism), people, prior, share, confidence)
    variance, worst, bias = _variances(mechanism, prior)
    knots = mechanism.knots

    def of_share(noise: float, values: float) -> float:
        return (noise + (1 - share) * values) / share

    spread = 0.0 if prior is None or share == 1 else _spread(knots, prior)
    return mean_within(
        people,
        None if variance is None else of_share(variance, spread),
        of_share(worst, (knots[-1] - knots[0]) ** 2 / 4),
        bias=bias,
        confidence=confidence,
    )


def design_mean_within(made: Design, people: int, *, confidence: float = CONFIDENCE) -> MeanWithin:
    """Return how far the mean of n people may be off by a design, under what its objective goes by: a `Guarantee` under
    the worst prior of its set, an `Error` with noise and bias while the prior is right within its factor, any other as
    `table_mean_within` has it; see there.

    Example
    -------
    >>> from optldp.designer import Guarantee, Prior, TotalVariationAmbiguity, design
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> print(design_mean_within(design(prior, 1.0, objective=Guarantee(TotalVariationAmbiguity(0.1))), 10_000))
    with 10,000 people: mean within 0.03887 (95%) if the prior is right within total variation 0.1, within 0.04009 \
whatever they are
    """
    objective = made.objective
    if isinstance(objective, Error) and isinstance(objective.ambiguity, FactorAmbiguity):
        error = replace(objective, n=people).parts(made.mechanism, made.certificate.problem)
        return promised_within(people, error, objective.ambiguity.trust, confidence=confidence)
    if not isinstance(objective, Guarantee):
        return table_mean_within(made.mechanism, people, prior=made.prior.knot_prior, confidence=confidence)
    under = f"the prior is right within {objective.ambiguity.label}"
    return mean_within(
        people, made.value, made.worst_case_variance, bias=made.max_abs_bias, confidence=confidence, under=under
    )


@singledispatch
def _variances(mechanism: Any, prior: KnotPrior | None) -> tuple[float | None, float, float]:
    """The expected variance, the largest, and the largest bias, decoded where reports themselves are not unbiased."""
    raise unwired("mechanism", mechanism)


@_variances.register
def _(mechanism: FloorForm, prior: KnotPrior | None) -> tuple[float | None, float, float]:
    expected = None if prior is None else mechanism.expected_variance(prior)
    return expected, mechanism.worst_case_variance()[0], float(mechanism.proof().bias)


@_variances.register
def _(mechanism: TabulatedMechanism, prior: KnotPrior | None) -> tuple[float | None, float, float]:
    if mechanism.provenance.claims_unbiased:
        expected = None if prior is None else mechanism.expected_variance(prior)
        return expected, mechanism.worst_case_variance()[0], float(np.abs(mechanism.knot_bias).max())
    spread = decoded_variances(mechanism, plain_decoder(mechanism), InputGrid.knots(mechanism.knots))
    expected = None if prior is None else float(spread @ prior.weights + prior.rounding.sum())
    return expected, float((spread + rounding_excess(mechanism.knots)).max()), 0.0


def _spread(knots: np.ndarray, prior: KnotPrior) -> float:
    """The variance of the values under a prior, at most: rounding to knots takes nothing from it."""
    return float(prior.weights @ (knots - prior.weights @ knots) ** 2)


def _promised(
    table: TabulatedMechanism, people: int, prior: KnotPrior | None, share: float, confidence: float
) -> MeanWithin:
    """What a table for the error of a mean promises, its noise and its bias; of values that chance leaves out, what
    they vary by at most under the priors of the set."""
    reporting = max(int(share * people), 1)
    told = designed_for(table, users=reporting, prior=prior)
    error = largest_error(table, told.priors, reporting, on_knots=told.on_knots)
    left_out = 0.0
    if share < 1:
        middle = float(told.priors.some_prior @ table.knots)
        spread = float(np.asarray(told.priors.high) @ (table.knots - middle) ** 2)
        left_out = (1 - share) * min(spread, float(np.ptp(table.knots)) ** 2 / 4) / reporting
    return promised_within(people, error, told.trust, confidence=confidence, left_out=math.sqrt(left_out))
