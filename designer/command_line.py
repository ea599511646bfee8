"""The command `optldp`: its verbs by name, each loaded when it is called.

Exit codes: 0 done; 1 the thing checked is not so; 2 bad usage or input.  Results go to stdout, everything else to
stderr.  What a command computes with is loaded when it runs.  Help is plain text: the same
bytes go to a terminal and a pipe, an example is one line to copy, and nothing waits for rich.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module, metadata
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from .commands.options.panels import PanelledCommand, on_one_line, with_help_all

COMMANDS = {
    "describe": ".commands.describe",
    "design": ".commands.design",
    "show": ".commands.show",
    "verify": ".commands.show",
    "audit": ".commands.audit",
    "shuffle": ".commands.shuffle",
    "perturb": ".commands.perturb",
    "ledger": ".commands.ledger",
    "adopt": ".commands.adopt",
    "count": ".commands.count",
    "count-sql": ".commands.count",
    "estimate": ".commands.estimate",
    "monitor": ".commands.monitor",
    "compare": ".commands.compare",
    "bounds": ".commands.bounds",
    "evaluate": ".commands.evaluate",
    "plan": ".commands.plan",
    "two-phase": ".commands.two_phase",
    "advise": ".commands.advise",
    "workbench": ".commands.workbench",
}
"""Where each command lives, as a function of its name with `_command` after it; in the order of the help."""

ASK_NOTHING = {"workbench"}
"""Those that do something when they are told nothing; others then show their help."""

READ_FILES = set(COMMANDS) - {"show", "verify", "audit", "shuffle", "ledger", "count-sql", "monitor"}
"""Those that read columns, and can be told how a file of them is written."""


@cache
def _loaded(name: str) -> Any:
    """Return a command as typer calls it."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    run = getattr(import_module(COMMANDS[name], __package__), f"{name.replace('-', '_')}_command")
    options, output = (import_module(f".commands.{each}", __package__) for each in ("options.shared", "output.output"))
    run = options.allows_large(run)
    if name in READ_FILES:
        run = options.reads_files(run)
    run = output.one_line_errors(run)
    first = (run.__doc__ or "").partition("\n\n")[0]
    said = " ".join(first.split())
    app.command(name, cls=PanelledCommand, no_args_is_help=name not in ASK_NOTHING, short_help=said)(with_help_all(run))
    return typer.main.get_command(app)


class _Commands(Mapping[str, Any]):
    """The commands by their names, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _OnCall(TyperGroup):
    """A group whose commands are loaded when they are called, or all of them to be listed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast(MutableMapping[str, Any], _Commands())

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        return on_one_line(super().shell_complete(ctx, incomplete))


app = typer.Typer(
    name="optldp",
    cls=_OnCall,
    help="Derive local differential privacy mechanisms by optimisation, with certificates.",
    epilog="Start with: optldp design DATA.csv --column income --range 0 200000 --epsilon 1 --out mech.json",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"optldp {metadata.version('optldp')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Derive local differential privacy mechanisms by optimisation, with certificates."""


def main() -> None:
    """Run the command line."""
    app()
