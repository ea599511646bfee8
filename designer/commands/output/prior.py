"""The prior of a command: from a column of data, or from a file of pairs; and what there is to say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ....mechanisms.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from ...priors.categorical import CategoricalPrior
    from ...priors.prior import Prior

MAX_STEPS = 151
"""Values on at most so many equal steps have those as their knots, ages from 0 to 120 among them."""

SENSITIVE = (
    "warning: the result is a function of the prior; if that comes from values to be protected, the result is as "
    "sensitive as they are. Say --public if the prior is public knowledge."
)
CARRIED = "warning: the table file holds the prior itself; optldp design --omit-prior leaves it out."
LABELS_DISCLOSED = (
    "note: the categories are those that occur in DATA, a disclosure; --prior FILE with the columns value and weight "
    "declares them"
)


def read_prior(
    data: Path | None,
    column: str | None,
    domain: tuple[float, float] | None,
    prior_file: Path | None,
    knots: int | None,
    public: bool,
    drop_missing: bool,
    units: str,
    *,
    clip: bool = False,
) -> tuple[Prior, list[str]]:
    """Read the prior from whichever of the two was given, and what there is to say of it once all went well."""
    from ....estimators.reading.columns.number_cells import column_units, read_column, read_pairs
    from ....estimators.reading.formats.axis import in_units
    from ...priors.checks import MOST_OWN_KNOTS
    from ...priors.prior import DEFAULT_KNOTS, Prior

    require_one_source(data, column, prior_file)
    source = "public" if public else "sensitive"
    notes = [] if public else [SENSITIVE]
    if prior_file is not None:
        values, weights = read_pairs(prior_file, units=units or None)
        units = units or column_units(prior_file, "value")
        domain = in_units(domain, units)
        held = weights != 0  # what has no weight may lie anywhere
        values[held] = within_range(values[held], domain, clip, notes, str(prior_file), units)
        _require_width(values, domain, str(prior_file))
        made = Prior.from_pairs(values, weights, knots=knots, domain=domain, source=source, units=units)
        if knots is None and (count := len(set(values.tolist()))) > MOST_OWN_KNOTS:
            notes.append(
                f"note: {prior_file} has {count:,} values, and knots are at most {MOST_OWN_KNOTS} of them: the prior "
                "is rounded to fewer knots at equal steps, whose number is told below; --knots N chooses it"
            )
        return made, notes
    assert data is not None
    assert column is not None
    found = column_units(data, column)
    units, domain = units or found, in_units(domain, units or found)
    numbers = read_column(data, column, drop_missing=drop_missing, units=units if found else None)
    numbers = within_range(numbers, domain, clip, notes, column, units)
    _require_width(numbers, domain, str(data))
    if domain is None:
        notes.append(
            "note: no --range given; the range is the data's own "
            f"[{_said(numbers.min(), units, 'g')}, {_said(numbers.max(), units, 'g')}], a disclosure"
        )
    made = Prior.from_data(
        numbers, knots=DEFAULT_KNOTS if knots is None else knots, domain=domain, source=source, units=units
    )
    return on_own_steps(made) if knots is None else made, notes


def on_own_steps(prior: Prior) -> Prior:
    """Return a prior of values that lie on few equal steps, such as whole numbers, on these; others as they are.

    Steps, and not the values themselves, so that the knots tell no value that somebody has.
    """
    from ...priors.even_knots import fewest_even_knots

    count = fewest_even_knots(prior.on, prior.domain, MAX_STEPS)
    return prior if count is None or count < 2 else prior.on(count)


def require_one_source(data: Path | None, column: str | None, prior_file: Path | None) -> None:
    """Raise InputError unless a prior comes from a column of data, or from a file of its own."""

    if data is None and prior_file is None:
        raise InputError("the prior must come from a file, got none: give DATA with --column NAME, or --prior FILE")
    if data is not None and prior_file is not None:
        raise InputError(f"the prior must come from one file, got {str(data)!r} and {str(prior_file)!r}: leave one out")
    if data is not None and column is None:
        raise InputError(f"a column of {str(data)!r} must be named, got none: add --column NAME")
    if prior_file is not None and column is not None:
        raise InputError(f"--column {column} is of DATA, and --prior has columns of its own: leave one out")


def _said(number: float, units: str, form: str) -> str:
    from ....estimators.reading.formats.axis import said_on

    return said_on(float(number), units) or f"{number:{form}}"


def within_range(
    values: np.ndarray, domain: tuple[float, float] | None, clip: bool, notes: list[str], of: str, units: str = ""
) -> np.ndarray:
    """Return the values; those outside the range count as its nearer end where that is wished, which is noted.

    Raises
    ------
    InputError
        Values outside a range when they are not to be clipped, or clipping without a range.
    """
    import numpy as np

    if domain is None:
        if clip:
            raise InputError("--clip moves values to the ends of a range, got none: give --range LO HI")
        return values
    low, high = domain
    outside = int(np.count_nonzero((values < low) | (values > high)))
    if not (outside and low < high):  # a range that is none is refused where knots are made
        return values
    if not clip:
        raise InputError(
            f"values must lie in the range [{_said(low, units, '.9g')}, {_said(high, units, '.9g')}], got {outside:,} "
            f"of {values.size:,} of {of} outside it (smallest {_said(values.min(), units, '.9g')}, largest "
            f"{_said(values.max(), units, '.9g')}): take a wider range, or count them as its ends by --clip"
        )
    notes.append(
        f"note: {outside:,} of {values.size:,} values of {of} lie outside the range and count as its ends: every mean "
        "is of values as counted"
    )
    return np.clip(values, *domain)


def _require_width(values: np.ndarray, domain: tuple[float, float] | None, where: str) -> None:

    if domain is None and values.min() == values.max():
        raise InputError(f"values must not all be equal, got only {values[0]:g} in {where!r}: give --range LO HI")


def read_categorical_prior(
    data: Path | None, column: str | None, prior_file: Path | None, *, drop_missing: bool, public: bool
) -> tuple[CategoricalPrior, list[str]]:
    """Read categories and their weights from whichever of the two was given, and what there is to say of it."""
    from ...priors.categorical import CategoricalPrior

    require_one_source(data, column, prior_file)
    if prior_file is not None:
        return CategoricalPrior.from_pairs_file(prior_file), []
    assert data is not None
    assert column is not None
    return CategoricalPrior.from_column(data, column, drop_missing=drop_missing), [] if public else [LABELS_DISCLOSED]
