"""What `perturb` may be asked, and which columns of DATA a kind of mechanism takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ....estimators.reading.columns.days import day_of
from ....estimators.reading.columns.simulated_columns import DAY, REPORT_ID, ROUND
from ....mechanisms.errors import InputError
from .ledger import LedgerOptions
from .report_ids import report_ids
from .shared import DataFile, DropMissing, Force, Json, Table, Window

if TYPE_CHECKING:
    import numpy as np

    from ....mechanisms.channel import Channel
    from ....mechanisms.pseudorandom import KeyedReports
    from ....mechanisms.pseudorandom.reports import Keyed
    from .booking import LedgerReports

KEYED = ("--secret", "--period")

Form = Literal["report", "index"]


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
        typer.Option("--column", help="Column of DATA: numbers, categories, or keys of pairs; for places x, then y."),
    ] = None
    value_column: Annotated[
        str | None, typer.Option("--value-column", help="Column of DATA with the values, for key-value pairs.")
    ] = None
    level_column: Annotated[
        str | None, typer.Option("--level-column", help="Column of DATA with each user's own budget, for levels.")
    ] = None
    key: Annotated[str | None, typer.Option("--key", help="Column of DATA that names the user, kept with reports.")] = (
        None
    )
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
            "A value that has changed is another report, which spends again and shows that it has changed. Nothing is "
            "local if an engine or a server that runs this sees raw values.",
        ),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            "--period",
            help="Period of the values, written into column round. With --secret users report anew in another "
            "period; default: none. With --ledger the same value has the same report in all; default: the date. "
            "For a way over time: its number, from 1, written into the column period.",
        ),
    ] = None
    day: Annotated[
        str | None,
        typer.Option(
            "--day",
            metavar="DAY",
            help="The day of the reports, such as 2026-05-01, or today (in UTC): written into the column day. Each "
            "report also gets a report_id, by which count --by table,day recognises copies and "
            "late reports. Ids are fresh; with --secret or --ledger a repeated run gives the same ids, "
            "one for each user and period.",
        ),
    ] = None
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            help="For a way over time: file of the reports sent in each period, made if there is none. A repeated "
            "period has the same reports, and no user reports more often than promised.",
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
            help="Keep finished rows in a folder OUT.partial at an interruption; the same command then continues, and "
            "no row gets a second report.",
        ),
    ] = False
    window: Window = None
    clip: Annotated[bool, typer.Option("--clip", help="Clip values to the range, and say how many there are.")] = False
    rounding: Annotated[
        Literal["nearest"] | None,
        typer.Option(
            "--rounding",
            help="For a promise of pairs of knots, which takes no values between them: nearest moves values to a "
            "knot, and the resulting promise is printed. A promise by a matrix does not cover them.",
        ),
    ] = None
    drop_missing: DropMissing = False
    as_json: Json = False

    def only(self, *options: str) -> None:
        """Refuse options that this kind of mechanism has no use for."""
        of_a_kind = (
            "--column", "--value-column", "--level-column", "--as", "--secret", "--period", "--ledger", "--clip",
            "--drop-missing", "--rounding", "--state",
        )  # fmt: skip
        named = ("--period",) if self.ledger is not None and "--ledger" in options else ()
        if "--secret" not in options:
            keyed = (name for name in KEYED if name not in (*named, *options))
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

    def with_round(
        self, columns: Mapping[str, np.ndarray], mechanism: Channel, users: Callable[[], np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return columns of reports with those of their round and of their day, where they have one.

        The users of their rows are asked for only where ids are theirs.
        """
        import numpy as np

        rows = next(iter(columns.values())).size
        found: dict[str, np.ndarray] = dict(columns)
        if self.period is not None:
            found[ROUND] = np.full(rows, self.period, dtype=object)
        if self.day is not None:
            found[DAY] = np.full(rows, self._day_named(), dtype=object)
            found[REPORT_ID] = np.array(report_ids(self, mechanism, users, rows), dtype=object)
        return found

    def _day_named(self) -> str:
        """The day that reports are of."""
        if taken := {DAY, REPORT_ID} & {*self.beside}:
            raise InputError(f"{min(taken)!r} is a column beside each report, got one of that name: rename it")
        return (datetime.now(UTC).date() if self.day == "today" else day_of(self.day or "")).isoformat()

    def refuse_to_keep(self, secret: Iterable[str]) -> None:
        """Refuse --keep of a column that a mechanism protects, or that is not there, before anything is spent."""
        from ....estimators.reading.columns.keyed import require_columns

        if self.day is not None:
            self._day_named()
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

        from ....estimators.reading.columns.cells import missing_message
        from ....estimators.reading.columns.texts import missing_texts

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
        from ....estimators.reading.columns.keyed import read_keys
        from ....estimators.reading.columns.short_floats import require_doubles_in
        from .booking import LedgerReports

        self.refuse("of no use to a --ledger, which keeps reports in earnest", "--seed", "--secret")
        if self.key is None:
            raise InputError("--ledger needs --key, the column that names the user, got none: name it")
        for column in columns:
            require_doubles_in(self.data, column)
        return LedgerReports(mechanism, self.opened), read_keys(self.data, columns, self.key).tolist()

    def keyed(self, mechanism: Keyed, column: str) -> KeyedReports | None:
        """Return what draws reports by the secret, for users whom --key names; None without a secret."""
        if self.secret is None:
            self.refuse("for reports by a --secret, through a --ledger, or of a way over time", "--period")
            return None
        from ....estimators.reading.columns.short_floats import require_doubles_in
        from ....mechanisms.pseudorandom import KeyedReports, read_secret

        self.refuse("of a simulation, and a --secret is in earnest", "--seed")
        if self.key is None:
            raise InputError("--secret needs --key, the column that names the user, got none: name it")
        require_doubles_in(self.data, column)
        secret = read_secret(self.secret, group_readable=self.group_readable)
        return KeyedReports(mechanism, secret, column=column, label=self.label or "")

    def users(self, column: str) -> np.ndarray | None:
        """Return the users (n,) of the rows that have a value, where reports are theirs by a secret; else None."""
        return None if self.secret is None or self.key is None else self.users_of([column])

    def users_of(self, columns: Sequence[str]) -> np.ndarray:
        """Return the users (n,) of the rows that have values in these columns."""
        from ....estimators.reading.columns.keyed import read_keys

        return read_keys(self.data, columns, self.needed("--key"))

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
