"""The method that an option asks for, with what it is told, and the options that said so before, which are hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.models import OptionInfo

from ....mechanisms.named import as_asked
from ...methods.told import TOLD, read_method, told_method
from .options import Options

if TYPE_CHECKING:
    from ...methods.base import Method

OF_AAA = ("--intervals", "--window", "--tail-ratio")
OF_PTT = ("--worst-case", "--eta")


def old_of_method(name: str, method: str) -> OptionInfo:
    return typer.Option(name, hidden=True, help=f"Write --method {method},{name[2:]}=... instead.")


@dataclass(frozen=True, kw_only=True)
class LatticeOptions(Options):
    """The options that `--method aaa:...` takes the place of."""

    intervals: Annotated[int | None, old_of_method("--intervals", "aaa")] = None
    window: Annotated[int | None, old_of_method("--window", "aaa")] = None
    tail_ratio: Annotated[float | None, old_of_method("--tail-ratio", "aaa")] = None

    def told_of_old_method(self) -> dict[str, Any]:
        """Return what old options tell a method, by its own names for it."""
        given = self.given()
        return {name[2:]: given[name] for name in (*OF_AAA, *OF_PTT) if given.get(name) is not None}

    def method_told(self, text: str) -> str:
        """Return the text of a method with what old options tell it; InputError for those of another, or told twice."""
        from ....mechanisms.errors import InputError

        (name, told), old = read_method(text), self.told_of_old_method()
        for key in old:
            if f"--{key}" in OF_AAA and name != "aaa":
                raise InputError(
                    f"--intervals, --window and --tail-ratio are for aaa, got method {name!r}: leave them out"
                )
            if f"--{key}" in OF_PTT and name not in ("ptt", "ptt2"):
                raise InputError(f"--{key} is an option of ptt and ptt2, got method {name!r}")
            if key in told:
                raise InputError(f"{key} of --method {text} must be told once, and is an option, too: leave that out")
        return as_asked(name, told | old, TOLD[name].options) if old else text

    def method_of(self, text: str) -> str | Method:
        """Return the method of a text and of old options; InputError for what it does not take."""
        return told_method(self.method_told(text))

    def method_notes(self, text: str) -> list[str]:
        """Return what there is to say of old options."""
        if not (old := self.told_of_old_method()):
            return []
        return [f"note: {' and '.join(f'--{key}' for key in old)} will go: write --method {self.method_told(text)}"]
