"""`optldp describe`: what a column holds, the range to give, and the next command to type."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...mechanisms.errors import InputError
from .options.assumed import ASSUMPTIONS, exempt_from, exempt_note
from .options.shared import Categorical, DataFile, Json
from .output.output import number, one_line_errors, print_facts, print_json, print_rows, say

if TYPE_CHECKING:
    from ...estimators.reading.columns.described import CategoryColumn, NumberColumn

RAW = (
    "note: all this is told of the values themselves, the smallest and the largest of single people: what you publish "
    "of it discloses. A range is best known from elsewhere, such as last year or a law"
)
OTHER_QUESTIONS = (
    "that is for the mean; for another question, whose intervals are far shorter by a table of its own, add --n and "
    "--of cdf, --of median, --of share:above=20 or --of mean,cdf"
)
COMMON = 0.05
"""Share from which the commonest value is told."""

MOST_WHOLE = 100
"""Whole numbers in a bin from which it is named after both its ends, though it holds but the lower one."""

BAR = 40
"""Characters of the longest bar."""


@one_line_errors
def describe_command(
    data: DataFile,
    column: Annotated[
        str | None, typer.Option("--column", help="Column of DATA. Default: a line for each, to choose from.")
    ] = None,
    categorical: Categorical = False,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar=f"<{'|'.join(ASSUMPTIONS)}>",
            help="Compute how many people must be exempt for the column to meet an assumption near --prior, in the "
            "form of --assume of estimate. Example: --assume shape=1.1 --prior last_year.csv",
        ),
    ] = None,
    prior_file: Annotated[
        Path | None, typer.Option("--prior", help="For --assume: CSV or Parquet with columns value and weight.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Describe a column's values, the range to give, and the next command; without --column, list the columns.

    \b
    Example: optldp describe survey.csv --column income
    Example: optldp describe survey.csv --column job
    Example: optldp describe survey.csv
    """
    from ...estimators.reading.columns.described import CategoryColumn, describe

    if prior_file is not None and not assume:
        raise InputError("--prior is for --assume: leave it out")
    if assume and column is None:
        raise InputError("--assume is of one column: name it with --column")
    if column is None:
        _list_columns(data, as_json)
        return
    found = describe(data, column, categorical=categorical or None)
    command, hindrance = _next(data, column, found), _hindrance(data, column, found)
    exempt = _exempt(data, column, found, assume, prior_file) if assume else {}
    if as_json:
        kind = "categories" if isinstance(found, CategoryColumn) else "numbers"
        told = {"kind": kind, **asdict(found), "next": None if hindrance else command, "hindrance": hindrance}
        print_json(told | ({"exempt_needed": exempt} if assume else {}))
        say(RAW)
        return
    if isinstance(found, CategoryColumn):
        _print_categories(data, column, found)
    else:
        _print_numbers(data, column, found)
    typer.echo(f"before a design: {hindrance}" if hindrance else f"next: {command}")
    if not hindrance and not isinstance(found, CategoryColumn):
        typer.echo(OTHER_QUESTIONS)
    between = "of these values" if prior_file is None else f"between {prior_file.name!r} and these values"
    for line in [*(exempt_note(name, share, between) for name, share in exempt.items()), RAW]:
        say(line)


def _exempt(
    data: Path, column: str, found: NumberColumn | CategoryColumn, assume: list[str], prior_file: Path | None
) -> dict[str, float]:
    """How many people a column exempts from what is assumed of it."""
    from ...estimators.reading.columns.described import CategoryColumn
    from ..priors.prior import Prior
    from .options.trusted_prior import weights_on
    from .output.prior import read_prior

    if isinstance(found, CategoryColumn):
        raise InputError("--assume is of columns of numbers, got categories: leave it out")
    outside = bool(found.below + found.above)
    low, high = found.domain
    if prior_file is not None:  # whose values may reach further than those of this column
        earlier = read_prior(None, None, None, prior_file, None, True, False, "")[0].domain
        low, high = min(low, earlier[0]), max(high, earlier[1])
    held, _ = read_prior(data, column, (low, high), None, None, True, bool(found.missing), "", clip=outside)
    near = None
    if prior_file is not None:
        near = Prior.on_knots(held.knots, weights_on(prior_file, held.knots, held.units), source="public")
    return exempt_from(assume, held, near)


def _list_columns(data: Path, as_json: bool) -> None:
    """A line for each column of a file, to choose one from."""
    from ...estimators.reading.columns.described import CategoryColumn, describe
    from ...estimators.reading.columns.files import connected, open_file
    from ...mechanisms.cost import columns_cost, require_affordable

    with connected() as connection:
        _, names = open_file(connection, data)
    require_affordable(
        f"a look at each of {len(names)} columns", columns_cost(len(names), read=len(names)), "name one with --column"
    )
    columns = []
    for name in names:
        try:
            found = describe(data, name)
            kind = "categories" if isinstance(found, CategoryColumn) else found.units or "numbers"
            columns.append({"column": name, "holds": kind, "distinct": found.distinct, "missing": found.missing})
        except InputError as error:  # such as two decimal marks: the others are shown all the same
            columns.append({"column": name, "holds": "unreadable", "distinct": None, "missing": None})
            say(f"note: {error}")
    if as_json:
        print_json({"columns": columns, "next": None})
        return
    rows = [["" if cell is None else str(cell) for cell in column.values()] for column in columns]
    print_rows(f"columns of {data}", ["column", "holds", "different", "missing"], rows)
    typer.echo(f"next: optldp describe {shlex.quote(str(data))} --column NAME")


def _hindrance(data: Path, column: str, found: NumberColumn | CategoryColumn) -> str | None:
    """What keeps `design` from reading this column as the next command says; None if nothing does."""
    from ...estimators.reading.columns.described import NumberColumn
    from .output.prior import read_categorical_prior, read_prior

    drop = bool(found.missing)
    try:
        if isinstance(found, NumberColumn):
            clip = bool(found.below + found.above)
            read_prior(data, column, found.domain, None, None, True, drop, "", clip=clip)
        else:
            read_categorical_prior(data, column, None, drop_missing=drop, public=True)
    except InputError as error:
        return str(error)
    return None


def _next(data: Path, column: str, found: NumberColumn | CategoryColumn) -> str:
    """The command that designs for this column."""
    from ...estimators.reading.columns.described import NumberColumn
    from ...estimators.reading.formats.overrides import written_as

    words = ["optldp", "design", str(data), "--column", column]
    words += written_as()
    if isinstance(found, NumberColumn):
        words += ["--range", *(_argument(end, found.units) for end in (found.low, found.high))]
        words += ["--clip"] if found.below + found.above else []
    else:
        words.append("--categorical")
    words += ["--drop-missing"] if found.missing else []
    return shlex.join([*words, "--epsilon", "1", "--out", "mech.json"])


def _argument(end: float, units: str) -> str:
    """An end of a range as it can be typed."""
    from ...estimators.reading.formats.axis import said_on

    written = f"{end:.12g}"
    return (
        (said_on(end, units) or (written if float(written) == end else repr(end)))
        .replace(" UTC", "Z")
        .replace(" ", "T")
    )


def _print_numbers(data: Path, column: str, found: NumberColumn) -> None:
    from ...estimators.reading.formats.axis import DAYS, said_on

    def told(value: float) -> str:
        return said_on(round(value) if found.units == DAYS else value, found.units) or _plain(value)

    held = found.rows - found.missing - found.texts
    facts = [("rows", f"{found.rows:,}"), ("missing", _share(found.missing, found.rows))]
    if found.texts:
        facts.append(("no numbers", f"{_share(found.texts, found.rows)}, the first {found.first_text}: correct them"))
    facts.append(("values", f"{found.distinct:,} different{', all whole' if found.whole and not found.units else ''}"))
    facts.append(("smallest, largest", f"{told(found.smallest)}, {told(found.largest)}"))
    facts += [(f"{share:.0%} are at most", told(quantile)) for share, quantile in found.quantiles]
    if found.common >= COMMON:
        facts.append(("commonest", f"{told(found.commonest)}, {found.common:.1%} of them"))
    if found.heaped:
        facts.append(("heaped", f"{found.heaped:.0%} of all others are multiples of {_plain(found.heap)}"))
    print_facts(f"{column} of {data}: {found.units or 'numbers'}", facts)
    most, rows = max(found.counts), []
    few = found.whole and not found.units and found.edges[1] - found.edges[0] in range(2, MOST_WHOLE)
    for low, high, count in zip(found.edges, found.edges[1:], found.counts, strict=False):
        last = high - 1 if few and high != found.edges[-1] else high  # a bin holds its lower end, the last one both
        bin_ = _plain((low + high) / 2) if found.stepped else f"{told(low)} to {told(last)}"
        rows.append([bin_, _percent(count, held), "#" * round(BAR * count / most)])
    if found.below:
        rows.insert(0, [f"below {told(found.low)}", _percent(found.below, held), ""])
    if found.above:
        rows.append([f"above {told(found.high)}", _percent(found.above, held), ""])
    width = max(len(bar) for _, _, bar in rows)
    print_rows("", ["value", "share", ""], [[value, share, bar.ljust(width)] for value, share, bar in rows])
    outside = found.below + found.above
    left_out = (
        f"{outside:,} of {held:,} lie outside, which --clip counts as its ends" if outside else "it holds every value"
    )
    kind = "a range" if found.stepped else "a range with round ends"
    typer.echo(f"{kind}: {told(found.low)} to {told(found.high)}; {left_out}")
    if found.narrow is not None:
        low, high = found.narrow
        times = (found.high - found.low) / (high - low)
        typer.echo(
            f"a narrower one: {told(low)} to {told(high)}, with {times:.2g} times less noise, for "
            f"{found.outside_narrow:,} outside ({_percent(found.outside_narrow, held)}): far values move a mean, so "
            "design --objective error weighs the two"
        )
    if found.stepped:
        typer.echo("if these numbers are codes, such as 1 for yes and 2 for no: --categorical")


def _plain(value: float) -> str:
    """A number as people write it, with marks for thousands from 10,000 on, so that years have none.

    Example
    -------
    >>> _plain(2014.0), _plain(14e6), _plain(94831.32), _plain(0.25)
    ('2014', '14,000,000', '94,831.32', '0.25')
    """
    if abs(value) < 1e4 or abs(value) >= 1e15:
        return number(value)
    return f"{value:,.0f}" if abs(value) >= 1e7 or value == int(value) else f"{value:,.7g}"


def _print_categories(data: Path, column: str, found: CategoryColumn) -> None:
    held = found.rows - found.missing
    facts = [("rows", f"{found.rows:,}"), ("missing", _share(found.missing, found.rows))]
    facts.append(("categories", f"{found.distinct:,}"))
    facts += [("spelt differently", " = ".join(map(repr, group))) for group in found.alike]
    print_facts(f"{column} of {data}: categories", facts)
    rows = [[text, f"{count:,}", _percent(count, held)] for text, count in found.commonest]
    if (others := held - sum(count for _, count in found.commonest)) > 0:
        rows.append([f"{found.distinct - len(found.commonest):,} others", f"{others:,}", _percent(others, held)])
    print_rows("", ["category", "rows", "share"], rows)


def _share(count: int, of: int) -> str:
    return f"{count:,} ({_percent(count, of)})" if count and of else f"{count:,}"


def _percent(count: int, of: int) -> str:
    """A share; none and few are told apart."""
    return "0%" if not count else "<0.1%" if count < 0.001 * of else f"{count / of:.1%}"
