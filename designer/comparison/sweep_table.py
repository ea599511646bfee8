"""What a sweep finds: a row per prior, budget, objective and method, and the tidy table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...estimators.reading.columns.files import FilePath
from ...estimators.reading.columns.number_cells import write_columns
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ..methods.registry import place_of
from ..plots.variance_lines import variance
from .row import Row, columns_of, line_of, told_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class SweepTable(Shown):
    """All rows, by the prior's name, the budget, the objective's key, and the method's place in `METHODS`.

    Example
    -------
    >>> SweepTable((Row.failed("flat", 1.0, "expected", "aaa", "no such luck"),))
    SweepTable(rows=1, epsilon='1', methods='aaa', failed=1)
    """

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        ordered = sorted(self.rows, key=lambda row: (row.prior, row.epsilon, row.objective, place_of(row.method)))
        object.__setattr__(self, "rows", tuple(ordered))

    @property
    def failures(self) -> tuple[Row, ...]:
        """The rows without a mechanism; each says why in `error`."""
        return tuple(row for row in self.rows if not row.solved)

    def columns(self) -> dict[str, list[str] | list[float]]:
        """Return the table by columns, as data frames take it; numbers that there are not are NaN.

        Example
        -------
        >>> SweepTable((Row.failed("flat", 1.0, "expected", "aaa", "no such luck"),)).columns()["epsilon"]
        [1.0]
        """
        return columns_of(self.rows)

    def _line(self) -> dict[str, Any]:
        return line_of(self.rows)

    def _told(self) -> Told:
        return told_of(self.rows)

    def _columns(self) -> dict[str, Any]:
        return self.columns()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        prior: str | None = None,
        worst_case: bool = False,
        relative: bool = False,
        units: str = "",
    ) -> Axes:
        """Draw the variances of the prior of that name, which several priors need, as `plots.variance` does."""
        rows = [row for row in self.rows if prior in (None, row.prior)]
        return variance(rows, ax, worst_case=worst_case, relative=relative, units=units)

    def write(self, path: FilePath) -> None:
        """Write the table as `.csv` or `.parquet`, whole or not at all; numbers that there are not are empty cells.

        Raises
        ------
        InputError
            Another extension, or a destination that cannot be written.
        """
        write_columns(path, self.columns())
