"""Drawing reports of many users through a ledger, as `KeyedReports` draws them by a secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..floors.form import FloorForm
from ..table.table import TabulatedMechanism
from .kinds import Bookable
from .ledger import GivenReports, Ledger


class LedgerReports:
    """A mechanism whose reports a ledger books, and gives again to who asks again.

    Parameters
    ----------
    mechanism : of one value of one user
    ledger : Ledger

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.ledger import Ledger
    >>> made = categorical_grr(["yes", "no"], 1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drawn = LedgerReports(made, Ledger.create(Path(folder, "people.ledger"), bytes(range(32)), 1.0))
    ...     first = drawn.sample(["ann", "bo"], ["yes", "no"])
    ...     bool((drawn.sample(["ann", "bo"], ["yes", "no"]) == first).all())
    True
    """

    def __init__(self, mechanism: Bookable, ledger: Ledger) -> None:
        self.mechanism, self._ledger = mechanism, ledger
        self.given: GivenReports | None = None
        """What was given last."""

    def sample(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return one report (N, ...) for each user's value, as `sample` of the mechanism writes reports."""
        names, held = np.asarray(users, dtype=object), self._admitted(values)
        return np.array(self.rows(names.tolist(), held.tolist()))

    def sample_index(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the output of each report, of a table of numbers."""
        if not isinstance(self.mechanism, TabulatedMechanism | FloorForm):
            raise InputError("numbers of outputs are for tables of numbers, got categories: sample says reports")
        return self.mechanism.output_index(self.sample(users, values))

    def rows(
        self, users: Sequence[str], values: Sequence[Any], *, progress: Callable[[int], None] | None = None
    ) -> list:
        """Return the report of each user's value, all booked or none."""
        self.given = self._ledger.reports(self.mechanism, users, values, progress=progress)
        return self.given.reports

    def _admitted(self, values: ArrayLike) -> np.ndarray:
        """Values that the mechanism takes, or InputError with how many it does not."""
        if isinstance(self.mechanism, TabulatedMechanism | FloorForm):
            return self.mechanism.admitted(values)
        return np.asarray(values)
