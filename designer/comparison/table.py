"""What a sweep finds: one row per prior, budget and method, and the tidy table of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from ...estimators.data.files import FilePath
from ...estimators.data.numbers import write_columns
from ..methods.registry import METHODS
from ..plots.variance_lines import variance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAILED = "failed"
"""Status of a row without a mechanism; the others are those of a design."""


@dataclass(frozen=True)
class SweepRow:
    """One method at one budget for one prior; variances in squared units, rounding between knots included.

    Every number but `seconds` is the same in whatever order, process or thread it was computed; rows are compared
    without it. A row that failed has None for all numbers.

    Attributes
    ----------
    prior : str
    epsilon : float
    method : str
    expected_variance, worst_case_variance : float or None
        Under the prior as given; largest over the whole domain.
    program_variance, lower_bound, relative_gap : float or None
        Under the floored prior that was solved for: of this method, of any unbiased mechanism on the knots
        (certified), and (program variance - lower bound) / program variance.
    ratio_to_optimal : float or None
        Expected variance over that of the "optimal" design, both under the prior as given; as in `ComparisonRow`.
    status : {"optimal", "gap-open", "failed"}
        How the solver behind the bound ended; "failed" where there is no mechanism.
    error : str
        Why there is none; empty otherwise.
    seconds : float or None
        Wall time of this method alone; that of the optimum is in the row of "optimal".
    """

    prior: str
    epsilon: float
    method: str
    expected_variance: float | None
    worst_case_variance: float | None
    program_variance: float | None
    lower_bound: float | None
    relative_gap: float | None
    ratio_to_optimal: float | None
    status: str
    error: str
    seconds: float | None = field(compare=False)

    @classmethod
    def failed(cls, prior: str, epsilon: float, method: str, reason: str) -> SweepRow:
        """Return the row of a case that has no mechanism.

        Example
        -------
        >>> SweepRow.failed("flat", 1.0, "aaa", "no such luck").status
        'failed'
        """
        return cls(prior, epsilon, method, None, None, None, None, None, None, FAILED, reason, None)

    @property
    def key(self) -> tuple[str, float, str]:
        """Prior, budget and method: what tells the rows of one sweep apart."""
        return self.prior, self.epsilon, self.method


COLUMNS = tuple(column.name for column in fields(SweepRow))
"""Names of the table's columns, in order."""

TEXT_COLUMNS = ("prior", "method", "status", "error")
"""Those that hold text; the others hold numbers."""


@dataclass(frozen=True)
class SweepTable:
    """All rows, by the prior's name, the budget and the method's place in `METHODS`."""

    rows: tuple[SweepRow, ...]

    def __post_init__(self) -> None:
        ordered = sorted(self.rows, key=lambda row: (row.prior, row.epsilon, METHODS.index(row.method)))
        object.__setattr__(self, "rows", tuple(ordered))

    @property
    def failures(self) -> tuple[SweepRow, ...]:
        """The rows without a mechanism; each says why in `error`."""
        return tuple(row for row in self.rows if row.status == FAILED)

    def columns(self) -> dict[str, list[str] | list[float]]:
        """Return the table by columns, as data frames take it; numbers of failed rows are NaN.

        Example
        -------
        >>> SweepTable((SweepRow.failed("flat", 1.0, "aaa", "no such luck"),)).columns()["epsilon"]
        [1.0]
        """
        cells = {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}
        return {
            name: values if name in TEXT_COLUMNS else [math.nan if value is None else value for value in values]
            for name, values in cells.items()
        }

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
        """Write the table as `.csv` or `.parquet`, whole or not at all; numbers of failed rows are empty cells.

        Raises
        ------
        InputError
            Another extension, or a destination that cannot be written.
        """
        write_columns(path, self.columns())
