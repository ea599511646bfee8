"""`optldp workbench`: a local page to design in, or every number of it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...mechanisms.errors import InputError
from .options.shared import Column, Data, Domain, Json, Public
from .output.output import one_line_errors, print_facts, print_json, readable, say

if TYPE_CHECKING:
    from ..priors.categorical import CategoricalPrior
    from ..priors.prior import Prior
    from ..workbench.state import State
    from ..workbench.taking import Source


@one_line_errors
def workbench_command(
    data: Data = None,
    column: Column = None,
    domain: Domain = None,
    public: Public = False,
    state: Annotated[str, typer.Option("--chosen", help="Choices to restore, as in the page's last step.")] = "",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the page; default: any free.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address and open no browser.")] = False,
    numbers: Annotated[bool, typer.Option("--numbers", help="Print the page's numbers and show no page.")] = False,
    as_json: Json = False,
) -> None:
    """Open a local page to design in: values, question, mechanism, a trial, and the files to take away.

    \b
    Without DATA the values are drawn by hand. --numbers and --json print every number of the page instead.

    \b
    Example: optldp workbench --chosen "n=2000&epsilon=2" --numbers
    Example: optldp workbench survey.csv --column income --range 0 200000
    Example: optldp workbench survey.csv --column job --chosen of=categories
    """
    from ..workbench.state import State

    chosen = State.from_query(state)
    source, prior = _from_file(data, column, domain, public, named=chosen.of == "categories")
    if numbers or as_json:
        _print(chosen.drawn() if prior is None else prior, chosen, as_json)
        return
    if find_spec("nicegui") is None or find_spec("jinja2") is None:
        raise InputError("the workbench needs NiceGUI, which is not installed: pip install 'optldp[workbench]'")
    from ..workbench.server import serve

    def build(address: str) -> Any:
        from ..workbench.page import Page  # takes NiceGUI with it, which `serve` imports once the browser was opened

        return Page(address, prior, source).build()

    query = chosen.query(drawn=prior is None)
    serve(build, query, port=port, opens=not no_open, told=lambda address: say(f"the workbench is at {address}"))


def _from_file(
    data: Path | None, column: str | None, domain: tuple[float, float] | None, public: bool, *, named: bool
) -> tuple[Source | None, Prior | CategoricalPrior | None]:
    """Return where the values come from and their prior; nothing of either where they are drawn."""
    from ..workbench.state import KNOTS
    from ..workbench.taking import Source
    from .output.prior import read_prior

    if data is None:
        if column is not None or domain is not None:
            raise InputError(
                "--column and --range are of DATA, got no file: name it, or leave them out and draw values"
            )
        return None, None
    if named:
        from ..priors.categorical import CategoricalPrior

        if column is None or domain is not None:
            raise InputError("categories need --column and no --range: name the column that holds them")
        return Source(str(data), column, None, public), CategoricalPrior.from_column(data, column)
    prior, notes = read_prior(data, column, domain, None, KNOTS, public, False, "")
    for note in notes:
        say(note)
    assert column is not None  # read_prior refuses a file without
    return Source(str(data), column, domain, public), prior


def _print(prior: Prior | CategoricalPrior, state: State, as_json: bool) -> None:
    from ..workbench.answers import answer, facts, rivals
    from ..workbench.trial import tried

    made = answer(prior, state)
    told = facts(made, rivals(prior, state)) | {"trial": tried(prior, made, state.seed).facts()}
    if as_json:
        print_json(told)
        return
    inner = {f"{name} {key}": value for name in ("beliefs", "rivals", "trial") for key, value in told[name].items()}
    flat = {name: value for name, value in told.items() if not isinstance(value, dict)} | inner
    print_facts("the workbench", [(name, readable(value)) for name, value in flat.items() if value is not None])
