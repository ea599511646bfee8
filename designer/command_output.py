"""What all commands share in speaking to a person or a program: errors, JSON, tables and progress."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from ..mechanisms.errors import OptldpError

if TYPE_CHECKING:
    from ..solvers import Progress

P = ParamSpec("P")

BAD_INPUT = 2
NOT_SO = 1


def one_line_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors that optldp raises on purpose into one line on stderr and exit code 2."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except OptldpError as error:
            say(f"error: {error}")
            raise typer.Exit(BAD_INPUT) from None

    return wrapped


def say(message: str) -> None:
    """Print one line to stderr."""
    typer.echo(f"optldp: {message}", err=True)


def print_json(result: dict[str, Any]) -> None:
    """Print exactly one JSON object; numbers that JSON has no word for become null."""
    typer.echo(json.dumps(_plain(result), indent=2, allow_nan=False))


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
    return "unknown" if value is None else f"{value:.7g}"


def print_facts(title: str, facts: list[tuple[str, str]]) -> None:
    """Print a two-column table of facts to stdout."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in facts:
        table.add_row(name, value)
    Console(highlight=False).print(table)


def print_rows(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table with a header to stdout; all columns but the first are right-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for k, name in enumerate(header):
        table.add_column(name, justify="left" if k == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


@contextmanager
def solver_progress(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on stderr, gone when done: from a gap of one down to 1e-6 on a logarithmic scale."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("gap {task.fields[gap]:.1e}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=6.0, gap=1.0)

        def update(step: Progress) -> None:
            gap = min(1.0, max(step.relative_gap, 1e-12))
            bar.update(task, completed=min(6.0, -math.log10(gap)), gap=gap)

        yield update


@contextmanager
def task_progress(what: str, total: int) -> Iterator[Callable[[str, bool], None]]:
    """Show a progress bar of `total` tasks on stderr; call with what is being done and whether one is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=total)

        def update(description: str, done: bool) -> None:
            bar.update(task, description=description, advance=1 if done else 0)

        yield update
