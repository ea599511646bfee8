"""Names of methods of estimation and of dialects of SQL, each said once: for estimators, plans, and the command line.

They stand apart from the estimators so that the command line offers them without loading one.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ..mechanisms.option_grammar import Option, Taken

Dialect = Literal["duckdb", "spark", "bigquery", "snowflake", "postgres", "trino", "redshift", "clickhouse"]
"""Of `count_query`: SQL that queries are written in."""

Target = Literal["users", "population"]
"""Whom an estimate is about: the very users who reported, or the population that they are a random sample of.

Where an estimator lets one choose, "population" is the default: every estimator has it, and its standard errors are the
larger ones, by the scatter of the users' own values.  "users" leaves only the mechanism's noise.
"""

MeanMethod = Literal["ua", "uwa", "population", "decoder"]
"""Of `estimate_combined_mean`: of several services."""

DistributionMethod = str
"""Of `estimate_distribution`: a name in `DISTRIBUTIONS`."""

FrequencyMethod = str
"""Of `estimate_frequencies`: a name in `FREQUENCIES`."""

BiasAware = Literal["bias-aware"]
"""Of `bias_aware_mean`: of one service or several."""

BIAS_AWARE: BiasAware = "bias-aware"

MEAN_METHODS: tuple[MeanMethod, ...] = get_args(MeanMethod)


class DistributionWay(NamedTuple):
    """A way to a distribution of numbers, as data: nothing is imported until it is taken.

    Attributes
    ----------
    at : str
        "module:object" in `optldp.estimators.distributions`; `Way` there has the contract.
    settings : tuple of str
        Arguments of `estimate_distribution` that it takes.
    same_as : str
        The method that it is another name of; "" for none.
    instead : str
        The method that takes its place where it finds no fit; "" for none.
    """

    at: str
    settings: tuple[str, ...] = ()
    same_as: str = ""
    instead: str = ""


_OF_MAXIMUM = ("solver", "certificate", "loglik_change")

DISTRIBUTIONS: Mapping[str, DistributionWay] = {
    "smooth": DistributionWay("likelihood_methods:AVERAGED", instead="em"),
    "em": DistributionWay("likelihood_methods:LIKELIEST", _OF_MAXIMUM),
    "ule": DistributionWay("likelihood_methods:LIKELIEST", _OF_MAXIMUM, same_as="em"),
    "ems": DistributionWay("likelihood_methods:SMOOTHED", ("loglik_change",)),
    "mr": DistributionWay(
        "likelihood_methods:REDUCED",
        ("loglik_change", "threshold", "rule", "operation", "least_components", "bic_rise"),
    ),
}
"""A new way to a distribution is a file with a `Way` and an entry here; what the command line offers follows."""

DISTRIBUTION_METHODS: tuple[DistributionMethod, ...] = tuple(DISTRIBUTIONS)

OF_ONE_SERVICE: tuple[DistributionMethod, ...] = tuple(name for name, way in DISTRIBUTIONS.items() if not way.same_as)
"""Every way to a distribution once: what plans simulate."""


class FrequencyWay(NamedTuple):
    """A way to frequencies, as data: nothing is imported until it is taken.

    Attributes
    ----------
    at : str
        "module:function" in `optldp.estimators.frequencies`; `way` there has the contract.
    settings : tuple of str
        Arguments of `estimate_frequencies` that it takes.
    of_supports : bool
        Whether it needs no more than sums of supports, so that it can be about these very users, too.
    """

    at: str
    settings: tuple[str, ...] = ()
    of_supports: bool = False


FREQUENCIES: Mapping[str, FrequencyWay] = {
    "unbiased": FrequencyWay("decoded:unbiased", ("prior",), of_supports=True),
    "norm-sub": FrequencyWay("decoded:nearest", ("prior",), of_supports=True),
    "base-cut": FrequencyWay("decoded:cut", ("prior", "threshold"), of_supports=True),
    "iiw": FrequencyWay("decoded:smoothed", ("prior",), of_supports=True),
    "shrunk": FrequencyWay("empirical_bayes:drawn_together", of_supports=True),
    "em": FrequencyWay("fitted:early_stopped", ("loglik_change",)),
    "mle": FrequencyWay("fitted:likeliest", ("certificate",)),
    "mr": FrequencyWay(
        "fitted:reduced",
        ("loglik_change", "threshold", "operation", "preselect", "least_components", "bic_rise"),
    ),
}
"""A new way to frequencies is a file with its function and an entry here; what the command line offers follows."""

FREQUENCY_METHODS: tuple[FrequencyMethod, ...] = tuple(FREQUENCIES)

KeyValueMethod = str
"""Of `fit_key_values`: a name in `KEY_VALUES`."""


class KeyValueWay(NamedTuple):
    """A way to fit keys and values, as data: nothing is imported until it is taken.

    Attributes
    ----------
    at : str
        "module:function" in `optldp.estimators.key_values`; `ways` there has the contract.
    asked_as : str
        What the command line calls it.
    """

    at: str
    asked_as: str


KEY_VALUES: Mapping[str, KeyValueWay] = {
    "joint": KeyValueWay("ways:together", "mle"),
    "em": KeyValueWay("ways:stopped_early", "em"),
    "mr": KeyValueWay("ways:reduced", "mr"),
}
"""A new way to fit keys and values is a function and an entry here; what the command line offers follows."""

_THRESHOLD = Option("threshold", float, "weight or frequency below which it acts", "two standard deviations")
_OF_LIKELIEST = Taken(
    "em:stop=loglik", (Option("stop", str, "certificate, or loglik at a step of 0.001 as in papers", "certificate"),)
)

TRUST = "factor by which each weight of the prior may be off: else that of the table's design for the error, or 3"

TOLD: Mapping[str, Taken] = {
    BIAS_AWARE: Taken(f"{BIAS_AWARE}:trust=2", (Option("trust", float, TRUST),)),
    "ua": Taken("ua:per-report", (Option("per-report", bool, "each report weighs the same, not each user"),)),
    "em": _OF_LIKELIEST,
    "ule": _OF_LIKELIEST,
    "base-cut": Taken("base-cut:threshold=0.01", (_THRESHOLD,)),
    "mr": Taken(
        "mr:threshold=0.01,prune",
        (
            _THRESHOLD,
            Option("least-components", int, "to stop reducing at", "a quarter"),
            Option("bic-rise", float, "a rise of BIC to keep", 0),
            Option("prune", bool, "reduced components have no weight"),
            Option(
                "preselect",
                float,
                "categories below so many standard errors go first: 0, the negative ones; 2, all that may be noise",
            ),
        ),
    ),
}
"""What the command line may tell methods, by their names there; every other is its name alone."""

PriorMethod = Literal["em", "smooth", "ems", "mr", "least-absolute"]
"""From the reports of a first phase to a prior: those ways, and AAA's linear program."""

PRIOR_METHODS: tuple[PriorMethod, ...] = get_args(PriorMethod)

OF_ORACLE: tuple[PriorMethod, ...] = ("em", "mr", "least-absolute")
"""Those that the reports of a frequency oracle have: its knots are categories, whose order nothing smooths."""

GONE = {"penalised": "smooth, the default of distributions, takes its place and errs less"}
"""Methods that were, and what takes their place."""


def unknown(what: str, known: Sequence[str], given: object, among: str = "one of") -> str:
    """Return what there is to say of a name that is not known.

    Example
    -------
    >>> unknown("method", ["em", "mr"], "mle")
    "method must be one of em, mr, got 'mle'"
    >>> unknown("method", ["em", "mr"], "penalised")
    'method penalised is gone: smooth, the default of distributions, takes its place and errs less'
    """
    if isinstance(given, str) and given in GONE:
        return f"{what} {given} is gone: {GONE[given]}"
    return f"{what} must be {among} {', '.join(known)}, got {given!r}"
