"""`optldp perturb`: what a client does with a mechanism, by the operating system's generator unless it simulates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import DropMissing, Json, Table
from .output import one_line_errors, print_facts, print_json, refuse_given, require_place, say

if TYPE_CHECKING:
    import numpy as np

    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.documents.bundle import Bundle
    from .kinds.columns import WrittenReports

REPORT_COLUMN = "report"


@dataclass(frozen=True)
class Source:
    """Where the values are: the file, its columns, and what to do with values that are missing or outside."""

    data: Path
    column: str | None
    value_column: str | None
    level_column: str | None
    clip: bool
    drop_missing: bool

    def only(self, *options: str) -> None:
        """Refuse options that this kind of mechanism has no use for."""
        refuse_given(
            "of no use to this mechanism",
            {name: value for name, value in self._given().items() if name not in options},
        )

    def needed(self, option: str) -> str:
        """Return the column that an option names; InputError where it was not given."""
        from ...mechanisms import InputError

        value = self._given()[option]
        if not isinstance(value, str):
            raise InputError(f"this mechanism needs {option}, got none: name the column of DATA")
        return value

    def _given(self) -> dict[str, str | bool | None]:
        return {
            "--column": self.column,
            "--value-column": self.value_column,
            "--level-column": self.level_column,
            "--clip": self.clip or None,
            "--drop-missing": self.drop_missing or None,
        }


@one_line_errors
def perturb_command(
    table: Table,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file with the values.")],
    out: Annotated[Path, typer.Option("--out", help="Reports to write, .csv or .parquet: the column report.")],
    *,
    column: Annotated[
        str | None, typer.Option("--column", help="Column of DATA: numbers, categories, or keys of pairs.")
    ] = None,
    value_column: Annotated[
        str | None, typer.Option("--value-column", help="Column of DATA with the values, for key-value pairs.")
    ] = None,
    level_column: Annotated[
        str | None, typer.Option("--level-column", help="Column of DATA with each user's own budget, for levels.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Column of DATA that names the user, kept beside the reports.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Simulate with numpy: whoever knows the seed can undo the noise. Columns of reports are marked by "
            "simulated_ before their names.",
        ),
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values into the domain, counted.")] = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Perturb every value of a column through a mechanism, by the operating system's random numbers.

    \b
    Example: optldp perturb mech.json people.csv --column income --out reports.csv
    Example: optldp perturb jobs.json people.csv --column job --level-column budget --out reports.csv
    """
    import numpy as np

    from ...estimators.data.keyed import write_keyed_reports
    from ...estimators.data.numbers import write_columns
    from ...mechanisms import InputError, load_mechanism

    require_place(out, (".csv", ".parquet"))
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"the reports must not replace the values, got {str(out)!r} for both: choose another --out")
    mechanism = load_mechanism(table)
    rng = None if seed is None else np.random.default_rng(seed)
    source = Source(data, column, value_column, level_column, clip, drop_missing)
    written = _perturbed(mechanism, source, rng)
    if key is None:
        write_columns(out, written.columns)
    else:
        present = column or next(iter(written.columns))
        write_keyed_reports(out, written.columns, data=data, column=present, key=key)
    if written.clipped:
        say(f"note: {written.clipped} of {written.n} values were outside the domain and clipped")
    facts = {"n": written.n, "clipped": written.clipped, "out": str(out), "simulated": rng is not None}
    if as_json:
        print_json(facts)
    else:
        print_facts("perturbed", [(name, str(value)) for name, value in facts.items()])


def _perturbed(
    mechanism: TabulatedMechanism | Bundle, source: Source, rng: np.random.Generator | None
) -> WrittenReports:
    """Perturb the columns that the kind of mechanism takes."""
    from ...estimators.data.numbers import read_column
    from ...estimators.data.texts import read_labels
    from ...mechanisms import (
        AttributeSampling,
        CategoricalMechanism,
        InputError,
        KeyValueMechanism,
        PersonalisedMechanism,
    )
    from ...mechanisms import TabulatedMechanism as Table
    from .kinds.columns import perturb_attributes, perturb_categories, perturb_levels, perturb_pairs

    if isinstance(mechanism, Table):
        source.only("--column", "--clip", "--drop-missing")
        return _perturbed_numbers(mechanism, source, rng)
    if isinstance(mechanism, CategoricalMechanism):
        source.only("--column", "--drop-missing")
        labels = read_labels(source.data, source.needed("--column"), drop_missing=source.drop_missing)
        return perturb_categories(mechanism, labels, rng)
    if isinstance(mechanism, PersonalisedMechanism):
        source.only("--column", "--level-column")
        read = read_column if isinstance(mechanism.levels[0], Table) else read_labels
        values = read(source.data, source.needed("--column"))
        return perturb_levels(mechanism, values, read_column(source.data, source.needed("--level-column")), rng)
    if isinstance(mechanism, KeyValueMechanism):
        source.only("--column", "--value-column")
        return perturb_pairs(mechanism, source.data, source.needed("--column"), source.needed("--value-column"), rng)
    if isinstance(mechanism, AttributeSampling):
        source.only("--clip")
        return perturb_attributes(mechanism, source.data, rng, clip=source.clip)
    raise InputError(f"mechanisms of kind {mechanism.kind} cannot be used on the command line: use Python")


def _perturbed_numbers(
    mechanism: TabulatedMechanism, source: Source, rng: np.random.Generator | None
) -> WrittenReports:
    from ...estimators.data.numbers import read_column
    from ...mechanisms import Sampler
    from .kinds.columns import REPORT_COLUMN, WrittenReports, marked

    values = read_column(source.data, source.needed("--column"), drop_missing=source.drop_missing)
    clipped = 0
    if source.clip:
        values, clipped = mechanism.clip_to_domain(values)
    return WrittenReports(marked({REPORT_COLUMN: Sampler(mechanism, rng).sample(values)}, rng), len(values), clipped)
