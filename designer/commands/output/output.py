"""What all commands share in speaking to a person or a program: errors, JSON, tables and progress.

Progress is rich's.  Tables are not: the same bytes go to a terminal, a pipe and the documentation, whatever the width,
and none of them waits for rich to be loaded.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, ParamSpec, get_type_hints

import typer
from typer.models import OptionInfo

from ....mechanisms.errors import InputError, OptldpError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from ....estimators.reading.columns import SkippedRows
    from ....solvers import Progress
    from ...planning.people import MeanWithin

P = ParamSpec("P")

BAD_INPUT = 2
NOT_SO = 1
OTHER_NAMES = {"target_error": "--error", "n_jobs": "--workers"}
"""Options that are no arguments' names with hyphens."""

UNUSUAL = ("simulated", "skipped", "bias_low", "bias_high", "simultaneous")
"""Facts that a person is shown only where they are true, or not zero."""

INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def one_line_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors that optldp raises on purpose into one line on stderr and exit code 2; Ctrl-C likewise."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:

        try:
            command(*args, **kwargs)
        except OptldpError as error:
            say(f"error: {_in_command_words(str(error), command)}")
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:
            raise  # the reader of stdout has gone: typer ends quietly
        except OSError as error:
            say(f"error: files must be usable, got {error.filename!r}: {error.strerror or error}")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            say("error: the problem must fit in memory: use fewer --knots, or a smaller file")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


def _in_command_words(message: str, command: Callable[..., None]) -> str:
    """Return a message that begins with a Python name by the option that says it, where the command has that."""
    first, _, rest = message.partition(" ")
    option = OTHER_NAMES.get(first, f"--{first.replace('_', '-')}")
    if "_" not in first:
        return message
    hints = get_type_hints(command, include_extras=True).values()
    options = [info for hint in hints for info in getattr(hint, "__metadata__", ()) if isinstance(info, OptionInfo)]
    known = {name for info in options for name in (str(info.default), *(info.param_decls or ()))}
    return f"{option} {rest}" if option in known else message


def require_place(path: Path | None, suffixes: tuple[str, ...] = (), *, force: bool = False) -> None:
    """Refuse an output that cannot be written, or would replace a file unasked, before the long work for it begins.

    Raises
    ------
    InputError
        A folder that does not exist, a suffix that is not one of the given, a folder, or a file without `force`.
    """

    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(f"the output must end in {' or '.join(suffixes)}, got {str(path)!r}: rename it")
    if not path.parent.is_dir():
        raise InputError(f"the output's folder must exist, got {str(path)!r}: create {str(path.parent)!r} first")
    if os.path.isdir(path):  # false, not an error, for a name too long to exist
        raise InputError(f"the output must be a file, got the folder {str(path)!r}: name a file in it")
    if os.path.lexists(path) and not force:
        raise InputError(f"the output must not replace a file, got {str(path)!r}, which exists: --force replaces it")


def refuse_given(why: str, options: Mapping[str, object]) -> None:
    """Refuse the first option that was given, whatever its value, with what it would be good for.

    Raises
    ------
    InputError
        One of the options is not None.
    """

    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is {why}: leave it out")


def say_wrote(path: Path, what: str) -> None:
    """Say on stderr that a file was written, and what it holds."""
    say(f"wrote {path} ({what})")


def write_figure(axes: Axes, path: Path) -> None:
    """Write a figure, and say which letters no font has, and that it was written."""
    from ...plots.saving import save_figure

    if lacking := save_figure(axes, path):
        say(f"warning: {lacking}")
    say_wrote(path, "a figure")


def say(message: str) -> None:
    """Print one line to stderr, whatever a file's text in it holds."""
    typer.echo(f"optldp: {_printable(message)}", err=True)


def _printable(text: str) -> str:
    """What a file or a name holds is shown, and never obeyed by the terminal."""
    from ....mechanisms.printable import printable

    return printable(text)


def print_json(result: dict[str, Any]) -> None:
    """Print exactly one JSON object; numbers that JSON has no word for become null."""
    typer.echo(json_text(result))


def json_text(result: dict[str, Any]) -> str:
    """Return one JSON object as text; numbers that JSON has no word for become null."""
    return json.dumps(_plain(result), indent=2, allow_nan=False)


def told_of_reports(simulated: bool, skipped: SkippedRows) -> dict[str, Any]:
    """Return what a file told of its reports, as facts; `say_of_reports` says it where it is not as usual."""
    return {"simulated": simulated, "skipped": skipped.count, "skipped_first": list(skipped.first)}


def say_of_reports(facts: Mapping[str, Any]) -> None:
    """Say on stderr that reports were simulated, that rows were left out, what users have several of."""
    if facts["simulated"]:
        say("note: these reports are simulated: whoever knows the seed can undo their noise, so they protect nobody")
    if facts["skipped"]:
        first = "; ".join(facts["skipped_first"])
        one = facts["skipped"] == 1
        rows = "1 row holds no report and was" if one else f"{facts['skipped']} rows hold no report and were"
        say(f"note: {rows} left out, the first of them {first}")
    if "not_one_value" in facts:
        say(
            f"warning: services that are joined have not measured one value of each user: {facts['not_one_value']}; "
            "read each with its own table, and files of different times by --rounds"
        )
    for found in facts.get("repeated_users", ()):
        say(
            f"note: {found['rows']:,} rows of {found['file']!r} are of {found['users']:,} users by its column "
            f"{found['column']!r}, and each counts as a user of its own: intervals are too short; files of different "
            f"times, each by itself, are for --key {found['column']} --rounds"
        )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def number(value: float | None) -> str:
    """Format a number for people: seven significant digits."""
    return "unknown" if value is None or math.isnan(value) else f"{value:.7g}"


def at_least(value: float | None) -> str:
    """Format what nothing is below for people: as `number` does, rounded down.

    Example
    -------
    >>> at_least(387.8399999), number(387.8399999)
    ('387.8399', '387.84')
    """
    if value is None or not math.isfinite(value):
        return number(value)
    return number(float(Context(prec=7, rounding=ROUND_FLOOR).create_decimal_from_float(value)))


def up_to(value: float | None) -> str:
    """Format what something is certain not to exceed for people: as `number` does, rounded up.

    Example
    -------
    >>> up_to(0.0414312341), number(0.0414312341), up_to(0.1)
    ('0.04143124', '0.04143123', '0.1')
    """
    if value is None or not math.isfinite(value) or float(number(value)) >= value:
        return number(value)
    return number(float(Context(prec=7, rounding=ROUND_CEILING).create_decimal_from_float(value)))


def at_most(value: float) -> str:
    """Format what nothing is above for people: two significant digits, rounded up.

    Example
    -------
    >>> at_most(8.5101e-05), at_most(0.25)
    ('8.6e-5', '2.5e-1')
    """
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(value):.1e}"


def readable(value: object) -> str:
    """Format a fact for people: numbers by `number`, lists by their members, estimates by value and standard error."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(readable, value))
    if isinstance(value, dict):
        return f"{number(value['value'])} +- {number(value['std_error'])}"
    return str(value)


def readable_fact(name: str, value: object) -> str:
    """Format a fact by its name for people: what nothing is below is rounded down, so that it still holds as printed.

    Example
    -------
    >>> readable_fact("value", 1.23456789), readable_fact("lower_bound", 1.23456789)
    ('1.234568', '1.234567')
    """
    if name.endswith("lower_bound") and isinstance(value, float):
        return at_least(value)
    return readable(value)


def facts_shown(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts that a person is shown: those that are known, and of the file only what is not as usual."""
    hidden = [name for name in UNUSUAL if not facts.get(name)]
    hidden += ["skipped_first"]  # a note has said it
    shown = {name: value for name, value in facts.items() if value is not None and name not in hidden}
    return [(name, readable_fact(name, value)) for name, value in shown.items()]


def print_facts(title: str, facts: list[tuple[str, str]]) -> None:
    """Print names and values to stdout, aligned."""
    title, facts = _printable(title), [(_printable(name), _printable(value)) for name, value in facts]
    width = max((len(name) for name, _ in facts), default=0)
    typer.echo("\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in facts)]))


def print_rows(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table with a header to stdout; all columns but the first are right-aligned."""
    header, *rows = [[_printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    typer.echo(_printable(title))
    for first, *others in [header, *rows]:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        typer.echo(("  " + "  ".join([f"{first:<{widths[0]}}", *cells])).rstrip())


def print_explained(names: Iterable[str]) -> None:
    """Print to stdout what the facts of these names mean, in plain sentences."""
    from .words import explained

    told = explained(names)
    width = max(map(len, told), default=0)
    typer.echo("\n".join(["what they mean", *(f"  {name:<{width}}  {said}" for name, said in told.items())]))


def means_facts(within: Mapping[str, MeanWithin]) -> dict[str, Any]:
    """Return how far means may be off under the names of every JSON object; nothing if that was not asked."""
    if not within:
        return {}
    from ...planning.people import facts_of

    return facts_of(within)


def print_means(within: Mapping[str, MeanWithin], units: str = "") -> None:
    """Print to stdout in a sentence how far means may be off, if that was asked."""
    if within:
        from ...planning.people import sentence

        typer.echo(_printable(sentence(within, units)))


@contextmanager
def solver_progress(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on stderr, gone when done: from a gap of one down to 1e-6 on a logarithmic scale."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("gap {task.fields[gap]:.1e}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=6.0, gap=1.0)

        def update(step: Progress) -> None:
            # Twelve digits are the end of the bar: a gap of nothing has no logarithm.
            gap = min(1.0, max(step.gap, 1e-12))
            bar.update(task, completed=min(6.0, -math.log10(gap)), gap=gap)

        yield update


@contextmanager
def task_progress(what: str, total: int) -> Iterator[Callable[[str, bool], None]]:
    """Show a progress bar of `total` tasks on stderr; call with what is being done and whether one is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=total)

        def update(description: str, done: bool) -> None:
            bar.update(task, description=_printable(description), advance=1 if done else 0)

        yield update


@contextmanager
def rows_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of `total` rows on stderr, with those that are done, their rate and the time that is left."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=total, rate="")

        def update(done: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, rate="" if speed is None else f"{speed:,.0f} rows/s")

        yield update


@contextmanager
def share_progress(what: str) -> Iterator[Callable[[str, float], None]]:
    """Show a progress bar on stderr; call with what is being done and the share of it that is done, from 0 to 1."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=1.0)

        def update(description: str, share: float) -> None:
            bar.update(task, description=_printable(description), completed=share)

        yield update


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on stderr, for work whose length nobody knows; call with what has just been done."""
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=None)

        def update(done: str) -> None:
            bar.update(task, description=_printable(f"{what}: {done}"))

        yield update
