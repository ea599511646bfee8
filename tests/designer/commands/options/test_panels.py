"""Help in panels: on one screen what is used often, and all of it when asked for."""

import re
from typing import Annotated, Any

import pytest
import typer
from optldp.designer.command_line import COMMANDS, app
from optldp.designer.commands.options.panels import (
    ASKED,
    LINES,
    PANELS,
    RARE,
    PanelledCommand,
    screen_lines,
    with_help_all,
)
from typer.testing import CliRunner


def options_of(command: str) -> list[Any]:
    group: Any = typer.main.get_command(app)
    return [param for param in group.commands[command].params if param.param_type_name == "option"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_help_all_shows_every_option(optldp, monkeypatch, command):
    """Each option once, with its whole help; what a short help leaves out, it says."""
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = optldp(command, "--help"), optldp(command, "--help-all")
    assert short.exit_code == whole.exit_code == 0
    assert screen_lines(short.stdout) <= LINES
    panels = whole.stdout[whole.stdout.index(f"\n{next(iter(PANELS))}:") :]
    letters = "".join(whole.stdout.split())
    for option in options_of(command):
        if getattr(option, "hidden", False):  # a name that was
            assert not re.search(rf"{option.opts[0]}(?![\w-])", panels)
            continue
        names = ", ".join(sorted(option.opts, key=len))
        rows = re.findall(rf"^  {names}(?: .*)?$", panels, re.MULTILINE)
        assert len(rows) == 1, option.opts
        assert "".join((option.help or "").split()) in letters
    assert (f"optldp {command} --help-all" in short.stdout) == (short.stdout != whole.stdout)
    assert all(f"\n{panel}:" not in short.stdout for panel in RARE) or short.stdout == whole.stdout


def test_no_option_stands_in_two_panels_or_in_none_that_is():
    """Every name in the panels is an option of a command, and every panel that is declared is one of them."""
    known = {name for command in COMMANDS for option in options_of(command) for name in option.opts}
    placed = [name for names in PANELS.values() for name in names.split()]
    assert len(placed) == len(set(placed))
    assert set(placed) - {"--help"} <= known
    declared = {option.rich_help_panel for command in COMMANDS for option in options_of(command)}
    assert declared <= {None, *PANELS}


def test_a_new_option_takes_one_line():
    """What nobody has placed is shown among what is asked."""

    def greet(loud: Annotated[bool, typer.Option("--loud", help="Shout.")] = False) -> None:
        """Greet somebody."""

    greeter = typer.Typer(add_completion=False, rich_markup_mode=None)
    greeter.command(cls=PanelledCommand)(with_help_all(greet))
    shown = CliRunner().invoke(greeter, ["--help"]).stdout
    assert f"{ASKED}:\n  --loud  Shout." in shown
