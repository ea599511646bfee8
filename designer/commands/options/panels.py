"""Help in panels: which options belong together, and which of them a help of one screen leaves out.

A new option needs nothing here: it is shown among what is asked. One whose name stands in `PANELS`, or that is declared
with a `rich_help_panel`, is shown there; the panels from `RARE` on are left out where a command's help would not fit a
screen, and `--help-all` shows them.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from ....mechanisms.errors import InputError
from ..output.output import BAD_INPUT, say
from .old_spellings import as_now

LINES, COLUMNS = 50, 80
"""Of a screen."""

EXAMPLES = 2
"""Of a short help."""

BRIEF = 100
"""Characters that a short help says of an option, unless its first sentence is longer."""

ASKED = "What is asked"

PANELS = {
    "Data": "--column --range --circle --clip --missing --drop-missing --categorical --prior --on --key --keep "
    "--counts --from",
    "Privacy": "--epsilon --privacy --public --secret --period --ledger --ledger-key --budget",
    ASKED: "--objective --method --table --mechanism --n --error --of --knots --between --above "
    "--confidence --versus --by --chosen",
    "Output": "--out --plot --results --force --resume --port --no-open --numbers --explain --json",
    "Objectives": "",
    "Over time": "--periods --changes --answers --protects --way --state --smooth",
    "Users, pairs and attributes": "--rounds --alike --keep-first --allow-disjoint --value-column --value-method "
    "--padding --sampled",
    "Several columns": "--for --attribute --rank --response",
    "Mixed reports": "--central-epsilon --shuffle-delta",
    "Levels of privacy": "--levels --level-column --level-epsilon --leakage",
    "Methods in detail": "--estimator --assume --assume-from --window --distance "
    "--cells --winsorise --raw --target --weights --simultaneous "
    "--top",
    "Precision": "--tolerance --uniform-share --rounding --seed --workers",
    "Files in detail": "--units --form --omit-prior --allow-unproved --allow-large --skip-invalid --group-readable "
    "--format --na",
    "Help": "--help --help-all",
}
"""Panels in their order, and what stands in them whatever the command."""

RARE = tuple(PANELS)[4:]
"""Panels that a help of one screen leaves out."""

_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names.split()}

_PLACES = list(_PANEL_OF)

_EXAMPLE = re.compile(r"^Example: ", re.MULTILINE)

COMPLETED = 70
"""Characters of help beside a word that a shell completes."""

_WITH_RANGE = re.compile(r".+=.*[^:]:[^:].*")
"""A column with a range, which a bare name is not."""

_SENTENCE = re.compile(r"(?<=\.)\s+")

_WHOLE, _GOES = "optldp.whole_help", "optldp.old_options"


class PanelledCommand(TyperCommand):
    """A command whose help is in panels, and fits a screen unless the whole of it is asked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read old options as new ones, and refuse one that is given twice and can be one thing only."""
        args = args if ctx.resilient_parsing else self._in_new_options(ctx, args)
        # Of an option that is given twice the parser keeps the last.
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for param in {id(each): each for each in given}.values():
            once = param.param_type_name == "option" and not (param.multiple or param.is_flag)  # pyright: ignore[reportAttributeAccessIssue] -- an option
            if once and given.count(param) > 1 and not ctx.resilient_parsing:
                raise typer.BadParameter(f"takes one value, and is given {given.count(param)} times", ctx, param)  # pyright: ignore[reportArgumentType] -- an option
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and say which of its options will go: after all else, so that an error is one line."""
        result = super().invoke(ctx)
        if note := ctx.meta.get(_GOES):
            say(note)
        return result

    def _in_new_options(self, ctx: Any, args: list[str]) -> list[str]:
        """Return a command line without old options, and keep what there is to say of them."""
        options = [each for each in self.params if each.param_type_name == "option"]
        takes = {name: 0 if getattr(each, "is_flag", False) else each.nargs for each in options for name in each.opts}
        several = [name for each in options if getattr(each, "multiple", False) for name in each.opts]
        try:
            words, note = as_now(_of_several_columns(args, several), takes, several)
        except InputError as error:
            say(f"error: {error}")
            raise typer.Exit(BAD_INPUT) from None
        ctx.meta[_GOES] = note
        return words

    def get_help(self, ctx: Any) -> str:
        """Return the whole help if it was asked for or is short, else what is used often, and how to see the rest."""
        whole = self._help(ctx, whole=True)
        return whole if _wanted(ctx) or screen_lines(whole) <= LINES else self._help(ctx, whole=False)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command is for, and examples."""
        said, self.help = self.help, _first_examples(self.help or "", None if ctx.meta[_WHOLE] else EXAMPLES)
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = said

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, panel by panel, arguments with the data."""
        rows: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for param in sorted(self.get_params(ctx), key=_place):
            if (row := param.get_help_record(ctx)) is not None:
                rows.setdefault(panel_of(param), []).append(row if ctx.meta[_WHOLE] else (row[0], _brief(row[1])))
        for panel in rows:
            if rows[panel] and (ctx.meta[_WHOLE] or panel not in RARE):
                with formatter.section(panel):
                    formatter.write_dl(rows[panel])
        if not ctx.meta[_WHOLE]:
            formatter.write(f"\nAll options and examples, in full: {ctx.command_path} --help-all\n")

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what a word may become, each with its help on one line."""
        return on_one_line(super().shell_complete(ctx, incomplete))

    def _help(self, ctx: Any, *, whole: bool) -> str:
        wanted, ctx.meta[_WHOLE] = _wanted(ctx), whole
        try:
            return super().get_help(ctx)
        finally:
            ctx.meta[_WHOLE] = wanted


def _of_several_columns(args: list[str], several: list[str]) -> list[str]:
    """Return a command line whose --column NAME=LO:HI, or any beside --for, is --attribute: two spellings of one."""
    if "--attribute" not in several:
        return args
    whole = any(word == "--for" or word.startswith("--for=") for word in args)
    found = list(args)
    for at, word in enumerate(args):
        option, equals, value = word.partition("=")
        if option == "--column" and (equals or at + 1 < len(args)):
            text = value if equals else args[at + 1]
            if whole or _WITH_RANGE.fullmatch(text):
                found[at] = f"--attribute{equals}{value}"
    return found


def screen_lines(text: str) -> int:
    """Return how many lines of a screen a text takes, those that are too long for one broken.

    Example
    -------
    >>> screen_lines("one\\n\\n" + "x" * 81)
    4
    """
    return sum(max(1, -(-len(line) // COLUMNS)) for line in text.splitlines())


def on_one_line(items: list[Any]) -> list[Any]:
    """Return what a shell may complete, with no help longer than a line: fish takes a second one as another word."""
    for item in items:
        item.help = textwrap.shorten(item.help or "", COMPLETED, placeholder=" ...")
    return items


def panel_of(param: Any) -> str:
    """Return the panel of an argument or option."""
    if param.param_type_name == "argument":
        return next(iter(PANELS))
    named = (_PANEL_OF[name] for name in param.opts if name in _PANEL_OF)
    return param.rich_help_panel or next(named, ASKED)


def _place(param: Any) -> int:
    """Return where an option stands: arguments first, and last what has no place."""
    if param.param_type_name == "argument":
        return -1
    return min((_PLACES.index(name) for name in param.opts if name in _PANEL_OF), default=len(_PLACES))


def with_help_all(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has --help-all beside its own options."""

    @functools.wraps(run)
    def command(*, help_all: bool = False, **given: Any) -> None:
        run(**given)

    hints = get_type_hints(run, include_extras=True)
    own = inspect.signature(run).parameters.values()
    help_all = inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_HelpAll)
    command.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue] -- what inspect looks for
        [*(each.replace(annotation=hints[each.name]) for each in own), help_all]
    )
    command.__annotations__ = hints | {"help_all": _HelpAll}
    return command


def _wanted(ctx: Any) -> bool:
    return bool(ctx.meta.get(_WHOLE))


def _first_examples(text: str, most: int | None) -> str:
    starts = [found.start() for found in _EXAMPLE.finditer(inspect.cleandoc(text))]
    return inspect.cleandoc(text)[: None if most is None or len(starts) <= most else starts[most]]


def _brief(text: str) -> str:
    """Return the first sentences of a help, and whether it is required."""
    first, *others = _SENTENCE.split(text)
    while others and len(first) + len(others[0]) < BRIEF:
        first += f" {others.pop(0)}"
    return f"{first} [required]" if others[-1:] == ["[required]"] else first


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[_WHOLE] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


_HelpAll = Annotated[
    bool,
    typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options and examples."),
]
