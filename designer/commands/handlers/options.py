"""What `count` and `estimate` may be asked of reports, each option declared once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....estimators.methods import (
    BIAS_AWARE,
    DISTRIBUTION_METHODS,
    FREQUENCY_METHODS,
    KEY_VALUES,
    MEAN_METHODS,
    TOLD,
    Target,
    unknown,
)
from ....estimators.reading.columns.simulated_columns import REPORT
from ....mechanisms.errors import InputError
from ....mechanisms.option_grammar import Option, Taken, asked_for, name_asked, told_in_words
from ..options.assumed import ASSUMPTIONS
from ..options.days import DayOptions
from ..options.differences import ContrastOptions
from ..options.shared import (
    CONFIDENCE,
    AllowUnproved,
    Confidence,
    DropMissing,
    Force,
    Json,
    Options,
    SkipInvalid,
    Window,
)

if TYPE_CHECKING:
    pass

REPORT_COLUMN = REPORT
LEVEL_COLUMN = "level"

OF_PAIRS = tuple(way.asked_as for way in KEY_VALUES.values())
METHODS = tuple(dict.fromkeys((*MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS, *FREQUENCY_METHODS, *OF_PAIRS)))

REDUCTION = ("threshold", "least-components", "bic-rise", "prune", "preselect")
"""What a method may be told of the reduction of components."""

OF = {
    "mean": Taken("mean"),
    "distribution": Taken("distribution"),
    "quantiles": Taken("quantiles:0.25,0.75", (Option("shares", list, "of the values below them"),)),
    "queries": Taken("queries:prefix", (Option("workload", Path, "prefix, ranges, moments, or a file"),)),
    "each": Taken("each"),
    "average": Taken("average"),
    "change": Taken("change"),
    "reports": Taken(
        "reports:absolute",
        (
            Option("loss", Path, "absolute, squared, zero-one, or a file, a row for each value"),
            Option("outputs", str, "what reports may be read as, LO:HI:STEP or a file"),
        ),
    ),
}
"""What may be estimated, and what it may be told."""

STOPS = ("certificate", "loglik")


def _known_method(given: str) -> str:
    """Return a method by its name; what is raised says what took the place of one that is gone."""
    if name_asked(given) in METHODS:
        return given
    raise typer.BadParameter(unknown("method", METHODS, given))


def _estimates(incomplete: str) -> list[str]:
    """Return what a word may become, for shells."""
    return [name for name in OF if name.startswith(incomplete)]


def estimate_asked(of: str) -> tuple[str, dict[str, Any]]:
    """Return what is to be estimated and what it is told, shares as numbers.

    Raises
    ------
    InputError
        Something else to estimate than there is, or a share that is none.

    Example
    -------
    >>> estimate_asked("quantiles:0.1,0.5"), estimate_asked("mean")
    (('quantiles', {'shares': (0.1, 0.5)}), ('mean', {}))
    """
    name, told = asked_for(of, OF, "--of")
    if (shares := told.get("shares")) is None:
        return name, told
    try:
        found = tuple(float(share) for share in shares.split(","))
    except ValueError:
        raise InputError(f"shares of --of quantiles must be numbers, got {shares!r}") from None
    for share in found:
        if not 0.0 < share < 1.0:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
    return name, {"shares": found}


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """Which reports `optldp estimate` and `optldp count` are to look at."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE REPORTS",
            help="A service's table and its reports; then the next's. Or a way over time, its files.",
        ),
    ]
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="Column of the reports; for places x, then y. Default: report, or else output."),
    ] = None
    key: Annotated[
        str | None,
        typer.Option("--key", help="Column that names the user, in every file; needed for several services."),
    ] = None
    keep_first: Annotated[bool, typer.Option("--keep-first", help="Keep a user's first report to a service.")] = False
    allow_disjoint: Annotated[bool, typer.Option("--allow-disjoint", help="Accept services without common users.")] = (
        False
    )
    rounds: Annotated[
        bool,
        typer.Option(
            "--rounds",
            help="The files are of different times: estimate each file, and their average weighted by reports, with "
            "intervals that count users. Without it, services have measured one value.",
        ),
    ] = False
    drop_missing: DropMissing = False
    skip_invalid: SkipInvalid = False
    allow_unproved: AllowUnproved = False
    as_json: Json = False

    @property
    def column(self) -> str:
        """The column of the reports; of places the two of x and y, with a comma between them."""
        return ",".join(self.columns or [REPORT_COLUMN])


@dataclass(frozen=True, kw_only=True)
class CountOptions(DayOptions, ReportOptions):
    """What `optldp count` may be asked."""

    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Counts to write, .csv, .parquet or - for a pipe: the columns output and n. With --by a folder, to "
            "which runs add.",
        ),
    ]
    window: Window = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(ContrastOptions, ReportOptions):
    """What `optldp estimate` may be asked; which of it makes sense depends on the kind of mechanism."""

    counts: Annotated[
        list[Path] | None,
        typer.Option(
            "--counts",
            help="Use counts instead of REPORTS: a file from count, or an engine's answer to count-sql's "
            "query. May be repeated "
            "for other users of the same services: counts add up.",
        ),
    ] = None
    method_text: Annotated[
        str | None,
        typer.Option(
            "--method",
            parser=_known_method,
            metavar=f"<{'|'.join(METHODS)}>",
            help="Default: population for means of several services, bias-aware with --prior or tables "
            "designed for the error, smooth for distributions; unbiased for categories and pairs, mle for levels "
            f"of categories. Some take settings, such as mr:threshold=0.01,prune: {told_in_words(TOLD)}.",
        ),
    ] = None
    attribute: Annotated[
        str | None,
        typer.Option("--attribute", help="Of several attributes, the one to estimate. Default: the means of all."),
    ] = None
    of_text: Annotated[
        str | None,
        typer.Option(
            "--of",
            metavar=f"<{'|'.join(OF)}>",
            autocompletion=_estimates,
            help="What to estimate. Default: mean. quantiles:0.25,0.75 names them; queries:prefix, ranges, "
            "moments or FILE answers these, without bias. reports:absolute reads each report alone, by "
            "--prior, with the least expected loss. For a way over time: each period's mean (default), "
            "the average of all, or change.",
        ),
    ] = None
    smooth: Annotated[
        float | None,
        typer.Option(
            "--smooth",
            metavar="STEP",
            help="For a way over time: typical change of the level from period to period; each is estimated from all "
            "periods.",
        ),
    ] = None
    confidence: Confidence = CONFIDENCE
    target: Annotated[
        Target,
        typer.Option(
            "--target",
            help="Whose mean or share it is: that of the population of which these users are a random sample, or that "
            "of these very users, with shorter intervals. For unbiased "
            "estimates, and for mle and shrunk of levels.",
        ),
    ] = "population"
    alike: Annotated[
        bool,
        typer.Option(
            "--alike",
            help="Several services: weigh users by the precision of their services, assuming that "
            "participation is independent of the value; their means are compared, and a warning names those that "
            "differ by more than chance. "
            "Versions of tables for categories are also weighed this way.",
        ),
    ] = False
    level_column: Annotated[
        str | None, typer.Option("--level-column", help="Column of the reported levels. Default: level.")
    ] = None
    cells: Annotated[
        int | None, typer.Option("--cells", min=1, help="Equal cells to estimate on. Default: the tables' knots.")
    ] = None
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--between",
            metavar="LO HI",
            help="Add the probability of this range of values. Alone, it comes from their distribution.",
        ),
    ] = None
    above: Annotated[
        float | None,
        typer.Option(
            "--above",
            help="Add the probability of values above this. Alone, it comes from their distribution; with --versus "
            "only the difference between both groups is printed.",
        ),
    ] = None
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar=f"<{'|'.join(ASSUMPTIONS)}>",
            help="Assumption of intervals of distributions of numbers; several may be given; default: none. "
            "shape=1.1,exempt=0.01: the ratio to the prior changes by at most a tenth per hundredth of the range, but "
            "for 1% of people. trust=3: each weight of the prior is right within a factor of 3. unimodal=20: one peak, "
            "there. monotone=50: the density falls beyond it. The prior is --prior's, or the table's.",
        ),
    ] = None
    assume_from: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--assume-from",
            metavar="OLD OLDER",
            help="Two earlier priors, like --prior: the people who had to be exempt from --assume between them. Used "
            "if --assume names no number.",
        ),
    ] = None
    prior_file: Annotated[
        Path | None,
        typer.Option(
            "--prior",
            help="--assume, bias-aware, and --of reports: CSV or Parquet, columns value and weight, last year's for "
            "instance. Default: the prior that a table carries.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the distribution, or the number for each report (bias-aware): .csv or .parquet."
        ),
    ] = None
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the same: .png, .svg or .pdf.")] = None
    force: Force = False
    winsorise: Annotated[
        float | None,
        typer.Option(
            "--winsorise",
            help="Mean of one table: move reports beyond limits that at most this share of honest ones exceeds; the "
            "interval includes the stated bias.",
        ),
    ] = None
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Mean of one table, ua and uwa of several: average reports as they are, as papers do; this is "
            "never better.",
        ),
    ] = False

    @property
    def method(self) -> str | None:
        """The name of the method, None if none was named."""
        return None if self.method_text is None else name_asked(self.method_text)

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the method is told; InputError for what it does not take."""
        if self.method is None or self.method_text is None:
            return {}
        told = asked_for(self.method_text, {self.method: TOLD.get(self.method) or Taken(self.method)}, "--method")[1]
        if told.get("stop") not in (None, *STOPS):
            raise InputError(f"stop of --method {self.method} must be one of {', '.join(STOPS)}, got {told['stop']!r}")
        return told

    @cached_property
    def _estimate(self) -> tuple[str | None, dict[str, Any]]:
        return (None, {}) if self.of_text is None else estimate_asked(self.of_text)

    @property
    def of(self) -> str | None:
        """What is to be estimated, None if that was not said; InputError for what there is not."""
        return self._estimate[0]

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The shares that quantiles are asked for at, none where they were not said."""
        return self._estimate[1].get("shares", ())

    @property
    def workload(self) -> str:
        """What queries are asked for, by name or as a file."""
        return str(self._estimate[1].get("workload", "prefix"))

    @property
    def read_by(self) -> tuple[str | None, str | None]:
        """By which loss single reports are read, a name or a file, and as what; None where that was not said."""
        told = self._estimate[1]
        return (str(told["loss"]) if "loss" in told else None), told.get("outputs")

    def refuse_told(self, why: str, *keys: str) -> None:
        """Raise InputError for the first of these that the method is told, with what it would be good for."""
        for key in (key for key in keys if key in self.told):
            raise InputError(f"{key} of --method {self.method} is {why}: leave it out")

    def reduction(self) -> dict[str, Any]:
        """Return how components are to be reduced, as estimators name it."""
        told = {key.replace("-", "_"): value for key, value in self.told.items() if key in REDUCTION}
        return told | ({"operation": "prune"} if told.pop("prune", False) else {})

    def of_one_table(self) -> dict[str, Any]:
        """Return what the plain mean of one table is asked for, as `estimate_mean` names it."""
        return {"winsorise": self.winsorise, "raw": self.raw, "target": self.target}

    def of_population(self, what: str) -> None:
        """Refuse the target users for an estimate that is of the population alone."""
        self.refuse(f"of the population alone for {what}", "--target")

    def chosen(self, *known: str) -> Any:
        """Return the method, the first of the known ones by default; InputError for one that is not known."""
        if self.method is not None and self.method not in known:
            raise InputError(f"--method must be one of {', '.join(known)} for these reports, got {self.method!r}")
        return self.method or known[0]
