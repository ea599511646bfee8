"""Arguments and options that several commands share, declared once, with their defaults.

The defaults repeat those of `prior.py` and `designs.design.py`, so that `--help` need not load numpy; a test compares
them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.models import OptionInfo

from ....mechanisms.option_grammar import Option, Taken, asked_for
from ..output.output import refuse_given, say

CONFIDENCE = 0.95
UNIFORM_SHARE = 1e-3
TOLERANCE = 1e-6

PAGES_ARE_USUAL = "note: the pages of a report say what is so with 95% confidence, whatever --confidence is"

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="Table file, .json or .npz.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
AllowUnproved = Annotated[
    bool, typer.Option("--allow-unproved", help="For research: accept tables in doubles too, which no client loads.")
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with no value.")]

SkipInvalid = Annotated[
    bool,
    typer.Option("--skip-invalid", help="Leave out, and count, rows without a report of the mechanism."),
]

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        min=1,
        rich_help_panel="Files in detail",
        help="From standard input (-) to standard output (--out -): process so many rows at a time, and "
        "release their results before the next are read, so that the stream need not end. Counts may go "
        "to a .csv, too, at its end.",
    ),
]

_DATA = typer.Argument(
    metavar="DATA", help="File with the values: .csv, .tsv or .txt, also .gz or .zst, .parquet, .feather; - for a pipe."
)
Data = Annotated[Path | None, _DATA]
DataFile = Annotated[Path, _DATA]
Column = Annotated[str | None, typer.Option("--column", help="Numeric column of DATA.")]


def _axis_number(text: str) -> float:
    """Return a number, or a date, a time or a duration as one; the parser of an option."""
    from ....estimators.reading.formats.axis import AxisNumber

    return AxisNumber.read(text)


Domain = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--range",
        metavar="LO HI",
        parser=_axis_number,
        help="Range of the values, numbers or dates; default: their extremes, which discloses them.",
    ),
]
Clip = Annotated[
    bool, typer.Option("--clip", help="Count values outside --range as its nearer end, and say how many there are.")
]
PriorFile = Annotated[
    Path | None,
    typer.Option(
        "--prior", help="CSV or Parquet with columns value and weight, instead of DATA; for places x, y and weight."
    ),
]
Knots = Annotated[
    int | None,
    typer.Option("--knots", help="Equally spaced knots. Default: 101, or a prior's own values (at most 401)."),
]
UniformShare = Annotated[
    float,
    typer.Option("--uniform-share", help="Uniform share mixed into the prior to protect knots of no mass; 0 for none."),
]
Tolerance = Annotated[float, typer.Option("--tolerance", help="Relative gap of the certificate to reach.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Coverage of intervals and bands.")]
Public = Annotated[bool, typer.Option("--public", help="The prior is public knowledge: no warning.")]

Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]

Plot = Annotated[Path | None, typer.Option("--plot", help="Draw the answer: .png, .svg or .pdf.")]

PLOTS = (".png", ".svg", ".pdf")
"""How a picture's name may end."""

EPSILON = typer.Option("--epsilon", help="Privacy budget of each user, natural units.")
EPSILONS = typer.Option("--epsilon", help="Budgets: repeat, or a list such as 0.5,1,2, or LO:HI:STEP with the end.")


def whole_number(text: str) -> int:
    """Return a whole number, which may be written as 1e5 is; the parser of an option.

    Example
    -------
    >>> whole_number("1e5"), whole_number("20_000"), whole_number("12345678901234567")
    (100000, 20000, 12345678901234567)
    >>> whole_number("2.5")
    Traceback (most recent call last):
    typer._click.exceptions.BadParameter: must be a whole number, such as 20000 or 2e4, got '2.5'
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer():  # neither are infinity and NaN
        raise typer.BadParameter(f"must be a whole number, such as 20000 or 2e4, got {text!r}")
    return int(number)


def people(help: str, **more: Any) -> OptionInfo:
    """Return the option --n, people who will report, as a command's help has it."""
    return typer.Option("--n", metavar="N", parser=whole_number, help=help, **more)


USERS = "Users who will report, once each."
Users = Annotated[int, people(USERS)]
Categorical = Annotated[bool, typer.Option("--categorical", help="The column holds categories.")]
Explain = Annotated[bool, typer.Option("--explain", help="Explain each number in plain sentences.")]
Units = Annotated[str, typer.Option("--units", help="Name of the units, kept in what is written.")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Repeat for several, with settings or without, such as ptt:eta=1.5; default: all."),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Make the simulation repeatable.")]


FORMATS = {
    "csv": Taken(
        "csv:delimiter=semicolon,decimal=,",
        (
            Option("delimiter", list, "between cells: a mark, comma, tab, semicolon"),
            Option("decimal", list, "mark, . or ,"),
            Option("encoding", str, "such as latin-1"),
        ),
    )
}
"""How files may be said to be written."""

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Form of text files, such as csv:delimiter=semicolon,decimal=,,encoding=latin-1. It has the mark between "
        "cells or its name, the decimal mark (comma or point; the other separates thousands) and the encoding. "
        "Default: recognised.",
    ),
]


NoValue = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        help="Cell that means a missing value, such as N/A; repeat for several. Empty cells and NA always "
        "count as missing.",
    ),
]


def reads_files(run: Callable[..., None]) -> Callable[..., None]:
    """Let a command be told how the text files that it reads are written, and let it tell what it recognised.

    Example
    -------
    >>> list(inspect.signature(reads_files(lambda: None)).parameters)
    ['text_format', 'na']
    """

    @functools.wraps(run)
    def command(text_format: str | None, na: list[str] | None, **given: Any) -> None:
        from ....estimators.reading.formats.overrides import read_as

        said = {} if text_format is None else asked_for(text_format, FORMATS, "--format")[1]
        with read_as(**said, na=na or (), told=lambda message: say(f"note: {message}")):
            run(**given)

    return _with_options(command, run, {"text_format": (Format, None), "na": (NoValue, None)})


AllowLarge = Annotated[
    bool,
    typer.Option(
        "--allow-large",
        help="Accept files of any cost. Otherwise files that may take over 2 GiB of memory or 2^33 "
        "multiplications are refused, with their cost.",
    ),
]


def allows_large(run: Callable[..., None]) -> Callable[..., None]:
    """Let a command be told that the files that it reads may cost more than what anybody's file may.

    Example
    -------
    >>> list(inspect.signature(allows_large(lambda: None)).parameters)
    ['allow_large']
    """

    @functools.wraps(run)
    def command(allow_large: bool, **given: Any) -> None:
        from ....mechanisms import cost

        with cost.allow_large(allow_large):
            run(**given)

    return _with_options(command, run, {"allow_large": (AllowLarge, False)})


def _with_options(
    command: Callable[..., None], run: Callable[..., None], asked: dict[str, tuple[Any, Any]]
) -> Callable[..., None]:
    """Give a command the signature of what it runs and these options, each with its annotation and its default."""
    signature, hints = inspect.signature(run), get_type_hints(run, include_extras=True)
    given_too = [each.replace(annotation=hints.get(name)) for name, each in signature.parameters.items()]
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        for name, (hint, default) in asked.items()
    ]
    command.__signature__ = signature.replace(  # pyright: ignore[reportAttributeAccessIssue] -- what inspect looks for
        parameters=[*given_too, *parameters]
    )
    command.__annotations__ = hints | {name: hint for name, (hint, _) in asked.items()}
    return command


def checked_confidence(confidence: float) -> float:
    """Return what --confidence says; InputError unless it is strictly between 0 and 1."""
    from ....estimators.intervals import check_confidence

    check_confidence(confidence)
    return confidence


class Options:
    """What a command may be asked: a frozen dataclass, each of whose fields is annotated as typer reads it.

    So an option is declared once, wherever it is handed on to; `takes_options` makes commands of them.
    """

    def given(self) -> dict[str, Any]:
        """Return every option under its name on the command line; None where it is as by default."""
        found: dict[str, Any] = {}
        defaults = {each.name: each.default for each in fields(self)}  # pyright: ignore[reportArgumentType] -- dataclasses
        for name, option in _options_of(type(self)).items():
            value = getattr(self, name)
            found[option] = None if value in (defaults[name], []) else value
        return found

    def refuse(self, why: str, *options: str) -> None:
        """Raise InputError for the first of these options that was given, with what it would be good for."""
        given = self.given()
        refuse_given(why, {option: given[option] for option in options})


@functools.cache
def _options_of(asked: type[Options]) -> dict[str, str]:
    """Return which option each field is; arguments are none."""
    infos = {name: hint.__metadata__[0] for name, hint in get_type_hints(asked, include_extras=True).items()}
    # In Annotated, an option's first argument is its name.
    return {name: str(info.default) for name, info in infos.items() if isinstance(info, OptionInfo)}


Asked = TypeVar("Asked", bound=Options)


def takes_options(run: Callable[[Asked], None]) -> Callable[..., None]:
    """Make a command of a function of its options: typer reads a signature with a parameter for each field.

    Example
    -------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Greeting(Options):
    ...     name: Annotated[str, typer.Option("--name")] = "you"
    >>> @takes_options
    ... def greet(asked: Greeting) -> None:
    ...     print("hello", asked.name)
    >>> greet(name="Ada")
    hello Ada
    """
    (options,) = (hint for name, hint in get_type_hints(run).items() if name != "return")
    hints = get_type_hints(options, include_extras=True)

    @functools.wraps(run)
    def command(**given: Any) -> None:
        run(options(**given))

    defaults = {each.name: each.default for each in fields(options)}
    command.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue] -- what inspect looks for
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if default is MISSING else default,
                annotation=hints[name],
            )
            for name, default in defaults.items()
        ]
    )
    command.__annotations__ = hints
    return command
