"""Drawing the reports of many users through a ledger, as `KeyedReports` draws them by a secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....mechanisms.ledger import GivenReports, Ledger
from ..output.output import task_progress


class LedgerReports:
    """A mechanism whose reports a ledger books, and gives again to who asks again.

    Parameters
    ----------
    mechanism : of one value of one user
    ledger : Ledger
    """

    def __init__(self, mechanism: Any, ledger: Ledger) -> None:
        self.mechanism, self._ledger = mechanism, ledger
        self.given: GivenReports | None = None
        """What was given last."""

    def sample(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return one report (N, ...) for each user's value, as `sample` of the mechanism writes reports."""
        names, held = np.asarray(users, dtype=object), np.asarray(values)
        return np.array(self.rows(names.tolist(), held.tolist()))

    def sample_index(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the output of each report, of a mechanism for numbers."""
        return self.mechanism.output_index(self.sample(users, values))

    def rows(self, users: Sequence[str], values: Sequence[Any]) -> list:
        """Return the report of each user's value, all booked or none."""
        with task_progress("booking", len(users)) as update:
            self.given = self._ledger.reports(
                self.mechanism, users, values, progress=lambda done: update(f"booking, {done:,} done", True)
            )
        return self.given.reports
