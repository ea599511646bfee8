"""The command `optldp`: design, show, verify, audit, perturb, estimate, compare, bounds, plan, two-phase,
advise.

Exit codes: 0 done; 1 the thing checked is not so; 2 bad usage or input.  Results go to stdout, everything else to
stderr.  Heavy imports wait until a command runs.
"""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from .commands.audit import audit_command
from .commands.bounds import bounds_command
from .commands.compare import compare_command
from .commands.design import design_command
from .commands.estimate import estimate_command
from .commands.perturb import perturb_command
from .commands.plan import plan_command
from .commands.protocol import advise_command, two_phase_command
from .commands.show import show_command, verify_command

app = typer.Typer(
    name="optldp",
    help="Derive local differential privacy mechanisms by optimisation, with certificates.",
    epilog="Start with: optldp design DATA.csv --column income --range 0 200000 --epsilon 1 --out mech.json",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("design", no_args_is_help=True)(design_command)
app.command("show", no_args_is_help=True)(show_command)
app.command("verify", no_args_is_help=True)(verify_command)
app.command("audit", no_args_is_help=True)(audit_command)
app.command("perturb", no_args_is_help=True)(perturb_command)
app.command("estimate", no_args_is_help=True)(estimate_command)
app.command("compare", no_args_is_help=True)(compare_command)
app.command("bounds", no_args_is_help=True)(bounds_command)
app.command("plan", no_args_is_help=True)(plan_command)
app.command("two-phase", no_args_is_help=True)(two_phase_command)
app.command("advise", no_args_is_help=True)(advise_command)


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
