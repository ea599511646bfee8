"""AAA's own parameters, for every command that builds its lattice noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Options

if TYPE_CHECKING:
    from ...methods.base import Method


@dataclass(frozen=True, kw_only=True)
class LatticeOptions(Options):
    """N, M and r of `Lattice`."""

    intervals: Annotated[int | None, typer.Option("--intervals", help="For aaa: N, lattice intervals.")] = None
    window: Annotated[int | None, typer.Option("--window", help="For aaa: M, free noise steps.")] = None
    tail_ratio: Annotated[float | None, typer.Option("--tail-ratio", help="For aaa: r of the tails.")] = None

    def with_lattice(self, method: str) -> str | Method:
        """Return the method, with these parameters if there are any; InputError for those of another."""
        from ....mechanisms.errors import InputError
        from ...methods.lattice import Lattice

        asked = (self.window, self.intervals, self.tail_ratio)
        if all(option is None for option in asked):
            return method
        if method != "aaa":
            raise InputError(
                f"--intervals, --window and --tail-ratio are for aaa, got method {method!r}: leave them out"
            )
        return Lattice(*asked)
