"""Drawing through a ledger while saying how many reports are booked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....mechanisms.ledger.drawing import LedgerReports
from ..said.output import task_progress


class ToldReports(LedgerReports):
    """Reports through a ledger, with progress on stderr."""

    def rows(
        self, users: Sequence[str], values: Sequence[Any], *, progress: Callable[[int], None] | None = None
    ) -> list:
        with task_progress("booking", len(users)) as update:
            return super().rows(users, values, progress=lambda done: update(f"booking, {done:,} done", True))
