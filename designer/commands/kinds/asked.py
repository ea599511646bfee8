"""What commands may be asked of a kind of mechanism: the options of `perturb` and `estimate`, each declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ....estimators.data.simulated_columns import REPORT, ROUND
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
from ....mechanisms.errors import InputError
from ....mechanisms.named import Option, Taken, asked_for, name_asked, told_in_words
from ..asked.contrasts import ContrastOptions
from ..asked.ledger import LedgerOptions
from ..asked.options import (
    CONFIDENCE,
    AllowUnproved,
    Confidence,
    DataFile,
    DropMissing,
    Force,
    Json,
    Options,
    SkipInvalid,
    Table,
    Window,
)

if TYPE_CHECKING:
    import numpy as np

    from ....mechanisms.channel import Channel
    from ....mechanisms.keyed import KeyedReports
    from ....mechanisms.keyed.reports import Keyed
    from .booking import LedgerReports

REPORT_COLUMN = REPORT
LEVEL_COLUMN = "level"

OF_PAIRS = tuple(way.asked_as for way in KEY_VALUES.values())
METHODS = tuple(dict.fromkeys((*MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS, *FREQUENCY_METHODS, *OF_PAIRS)))

REDUCTION = ("threshold", "least-components", "prune", "preselect")
"""What a method may be told of the reduction of components."""

KEYED = ("--secret", "--round")

OF = {
    "mean": Taken("mean"),
    "distribution": Taken("distribution"),
    "quantiles": Taken("quantiles:0.25,0.75", (Option("shares", list, "of the values below them"),)),
    "queries": Taken("queries:prefix", (Option("workload", Path, "prefix, ranges, moments, or a file"),)),
    "reports": Taken(
        "reports:absolute",
        (
            Option("loss", Path, "absolute, squared, zero-one, or a file, a row for each value"),
            Option("outputs", str, "what reports may be read as, LO:HI:STEP or a file"),
        ),
    ),
}
"""What may be estimated, and what it may be told."""

Form = Literal["report", "index"]
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
class PerturbOptions(LedgerOptions):
    """What `optldp perturb` may be asked; which columns of DATA there must be depends on the kind of mechanism."""

    table: Table
    data: DataFile
    out: Annotated[
        Path,
        typer.Option("--out", help="Reports to write, .csv, .parquet or - for a pipe: the column report, or output."),
    ]
    force: Force = False
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="Column of DATA: numbers, categories, or keys of pairs; of places x, then y."),
    ] = None
    value_column: Annotated[
        str | None, typer.Option("--value-column", help="Column of DATA with the values, for key-value pairs.")
    ] = None
    level_column: Annotated[
        str | None, typer.Option("--level-column", help="Column of DATA with each user's own budget, for levels.")
    ] = None
    key: Annotated[
        str | None, typer.Option("--key", help="Column of DATA that names the user, kept beside the reports.")
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Public column of DATA to carry along, in clear, for estimate --by; repeat."),
    ] = None
    secret: Annotated[
        Path | None,
        typer.Option(
            "--secret",
            help="File of 32 random bytes, closed to others, by which a repeated run draws the same reports and spends "
            "nothing twice; whoever holds it can undo the noise: keep it with the values, never with the collector. "
            "Reports become a function of it, the table, the column, the round, the user (--key) and the value. "
            "A value that has changed is another report, which spends again and shows that it has changed.",
        ),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            "--round",
            help="The period, written into the column round. With --secret users report anew in another one; default: "
            "none. With --ledger the same value has the same report in all; default: the date.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Simulate with numpy: whoever knows the seed can undo the noise. Columns of reports are marked by "
            "simulated_ before their names.",
        ),
    ] = None
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="report: as the mechanism writes it. index: the number of its output, from 0, in the column output, "
            "so that any engine counts reports by GROUP BY.",
        ),
    ] = "report"
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keep what is written at an interruption, in a folder OUT.partial, and go on from there when asked "
            "again: no row that has a report gets a second one.",
        ),
    ] = False
    window: Window = None
    clip: Annotated[bool, typer.Option("--clip", help="Move values into the range, counted.")] = False
    rounding: Annotated[
        Literal["nearest"] | None,
        typer.Option(
            "--rounding",
            help="For a promise of pairs of knots, which takes no values between: nearest moves these to a knot, and "
            "what is then promised of two values is said. A promise by a matrix says nothing of them.",
        ),
    ] = None
    drop_missing: DropMissing = False
    as_json: Json = False

    def only(self, *options: str) -> None:
        """Refuse options that this kind of mechanism has no use for."""
        of_a_kind = (
            "--column", "--value-column", "--level-column", "--as", "--secret", "--round", "--ledger", "--clip",
            "--drop-missing", "--rounding",
        )  # fmt: skip
        named = ("--round",) if self.ledger is not None and "--ledger" in options else ()
        if "--secret" not in options:
            keyed = (name for name in KEYED if name not in named)
            self.refuse("for one table of numbers and for categories, whose reports can be drawn again", *keyed)
        if "--as" not in options:
            self.refuse(
                "for one table of numbers and for categories: GROUP BY counts these reports as they are", "--as"
            )
        self.refuse("of no use to this mechanism", *(name for name in of_a_kind if name not in (*options, *named)))

    @property
    def beside(self) -> list[str]:
        """Columns of DATA that stand beside each report: the key, and what is kept."""
        return ([] if self.key is None else [self.key]) + list(self.keep or ())

    @cached_property
    def period(self) -> str | None:
        """What stands in the column of the round; None where reports have none."""
        today = None if self.ledger is None else datetime.now(UTC).date().isoformat()
        return self.label or today

    def with_round(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return columns of reports with that of their round, where they have one."""
        import numpy as np

        if self.period is None:
            return dict(columns)
        rows = next(iter(columns.values())).size
        return {**columns, ROUND: np.full(rows, self.period, dtype=object)}

    def refuse_to_keep(self, secret: Iterable[str]) -> None:
        """Refuse --keep of a column that a mechanism protects, or that is not there, before anything is spent."""
        from ....estimators.data.keyed import require_columns

        if self.period is not None and ROUND in (*secret, *self.beside):
            raise InputError(f"the round is written into the column {ROUND!r}, got one of that name: rename it")
        hidden = {*secret, *(self.columns or ()), self.value_column, self.level_column}
        for name in self.keep or ():
            if name in hidden:
                raise InputError(
                    f"--keep carries columns along in clear, got {name!r}, which is protected: leave it out"
                )
        if self.keep:
            require_columns(self.data, self.keep)

    def inside(self, values: np.ndarray, domain: tuple[float, float]) -> tuple[np.ndarray, int]:
        """Return the values, moved into the domain and counted where --clip asks for it; what is missing stays."""
        import numpy as np

        outside = (values < domain[0]) | (values > domain[1])
        return (np.clip(values, *domain), int(outside.sum())) if self.clip else (values, 0)

    def rows_with(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return which rows have all of these, which hold NaN or None where a value is missing.

        Raises
        ------
        InputError
            A row that misses one, unless --drop-missing leaves such rows out; none that is left.
        """
        import numpy as np

        from ....estimators.data.cells import missing_message
        from ....estimators.data.texts import missing_texts

        lacks = [missing_texts(each) if each.dtype == object else np.isnan(each) for each in columns.values()]
        for name, lacking in zip(columns, lacks, strict=True):
            if lacking.any() and not self.drop_missing:
                where, row = f"column {name!r} of {str(self.data)!r}", int(np.argmax(lacking)) + 1
                raise InputError(missing_message(where, int(lacking.sum()), row))
        held = ~np.any(lacks, axis=0)
        if not held.any():
            raise InputError(f"a row of {str(self.data)!r} must hold {', '.join(columns)}, but none holds all of them")
        return held

    def booked(self, mechanism: Channel, columns: Sequence[str]) -> tuple[LedgerReports, list[str]] | None:
        """Return what draws reports through the ledger, and the users of rows that have these; None without one."""
        if self.opened is None:
            return None
        from ....estimators.data.keyed import read_keys
        from .booking import LedgerReports

        self.refuse("of no use to a --ledger, which keeps reports in earnest", "--seed", "--secret")
        if self.key is None:
            raise InputError("--ledger needs --key, the column that names the user, got none: name it")
        return LedgerReports(mechanism, self.opened), read_keys(self.data, columns, self.key).tolist()

    def keyed(self, mechanism: Keyed, column: str) -> KeyedReports | None:
        """Return what draws reports by the secret, for users whom --key names; None without a secret."""
        if self.secret is None:
            self.refuse("for reports by a --secret or through a --ledger", "--round")
            return None
        from ....mechanisms.keyed import KeyedReports, read_secret

        self.refuse("of a simulation, and a --secret is in earnest", "--seed")
        if self.key is None:
            raise InputError("--secret needs --key, the column that names the user, got none: name it")
        secret = read_secret(self.secret, group_readable=self.group_readable)
        return KeyedReports(mechanism, secret, column=column, label=self.label or "")

    def users(self, column: str) -> np.ndarray | None:
        """Return the users (n,) of the rows that have a value, where reports are theirs by a secret; else None."""
        if self.secret is None or self.key is None:
            return None
        from ....estimators.data.keyed import read_keys

        return read_keys(self.data, [column], self.key)

    @property
    def column(self) -> str | None:
        """The one column of values, None if none was named; InputError for several."""
        if len(names := self.columns or [None]) > 1:
            raise InputError(f"this mechanism takes one --column, got {len(names)}: two are for places")
        return names[0]

    def needed(self, option: str) -> str:
        """Return the column that an option names; InputError where it was not given."""
        value = self.column if option == "--column" else self.given().get(option)
        if not isinstance(value, str):
            raise InputError(f"this mechanism needs {option}, got none: name the column of DATA")
        return value


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """Which reports `optldp estimate` and `optldp count` are to look at."""

    files: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE REPORTS", help="A service's table and its reports; then the next service's."),
    ]
    column: Annotated[str, typer.Option("--column", help="Column of the reports. Default: report, or else output.")] = (
        REPORT_COLUMN
    )
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
            help="The files are of different times: the average over them, weighed by their reports, with intervals "
            "that count users, and each file by itself. Without it services are taken to have measured one value.",
        ),
    ] = False
    drop_missing: DropMissing = False
    skip_invalid: SkipInvalid = False
    allow_unproved: AllowUnproved = False
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class CountOptions(ReportOptions):
    """What `optldp count` may be asked."""

    out: Annotated[
        Path, typer.Option("--out", help="Counts to write, .csv, .parquet or - for a pipe: the columns output and n.")
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
            help="Instead of REPORTS: what count wrote, or an engine answered to the query of count-sql, .csv or "
            ".parquet. May be repeated for other users of the same services: counts add up.",
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
            f"of categories. Some may be told more, as mr:threshold=0.01,prune is: {told_in_words(TOLD)}.",
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
            help="What to estimate. Default: mean. quantiles:0.25,0.75 says which; queries:prefix, ranges, moments or "
            "FILE answers these of one table, without bias. reports:absolute reads each report by itself, by --prior, "
            "as what costs least.",
        ),
    ] = None
    confidence: Confidence = CONFIDENCE
    target: Annotated[
        Target,
        typer.Option(
            "--target",
            help="Whose mean or share it is: of the population that these users are a random sample of, or of these "
            "very users, whose values are fixed: shorter intervals. Of unbiased estimates, and mle, shrunk of levels.",
        ),
    ] = "population"
    alike: Annotated[
        bool,
        typer.Option(
            "--alike",
            help="Several services: weigh users by what their services tell, as if who reports to which said nothing "
            "of the value; their means are compared, and a warning says where they differ by more than chance.",
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
        typer.Option("--between", metavar="LO HI", help="Add the probability of this range of values."),
    ] = None
    above: Annotated[
        float | None,
        typer.Option("--above", help="Add the probability of values above this."),
    ] = None
    prior_file: Annotated[
        Path | None,
        typer.Option(
            "--prior",
            help="bias-aware, and --of reports: CSV or Parquet with columns value and weight, last year's for "
            "instance. Default: the prior that a table carries.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the distribution, or what reports count as (bias-aware): .csv or .parquet."),
    ] = None
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the same: .png, .svg or .pdf.")] = None
    force: Force = False
    winsorise: Annotated[
        float | None,
        typer.Option(
            "--winsorise",
            help="Mean of one table: move reports beyond limits that at most this share of honest ones exceeds; "
            "the bias is stated and in the interval.",
        ),
    ] = None
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Mean of one table, ua and uwa of several: average reports as they are, as papers do; never better.",
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
