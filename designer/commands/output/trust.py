"""The factor within which a design for the error of a mean may trust its prior, from two earlier years' files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....mechanisms.errors import InputError
from .output import number

if TYPE_CHECKING:
    from ...priors.trust import MeasuredTrust

KNOTS = 41
"""As many as the evidence for the default trust rests on (docs/theory/error-measured.md), whatever the design's: finer
ones give sets of a hundredth of the values no other shares."""


def measured_trust(
    newer: Path, older: Path, column: str | None, domain: tuple[float, float] | None, drop_missing: bool
) -> MeasuredTrust:
    """Read a column of both files and measure; InputError for options that are lacking."""
    from ....estimators.reading.columns.number_cells import column_units, read_column
    from ....estimators.reading.formats.axis import in_units
    from ...priors.trust import measure_trust

    if column is None or domain is None:
        lacking = "--column NAME" if column is None else "--range LO HI"
        raise InputError(f"a trust between two files needs {lacking}, which both are read by: add it")
    units = column_units(newer, column)
    domain = in_units(domain, units) or domain
    values = [read_column(path, column, drop_missing=drop_missing, units=units) for path in (older, newer)]
    return measure_trust(*values, knots=KNOTS, domain=domain)


def trust_facts(found: MeasuredTrust) -> dict[str, Any]:
    """Return what a measured trust rests on, for JSON."""
    return vars(found) | {"decided_by": list(found.decided_by)}


def trust_note(found: MeasuredTrust) -> str:
    """Return it as a sentence.

    Example
    -------
    >>> from ...priors.trust import MeasuredTrust
    >>> found = MeasuredTrust(1.8, 1.5, 9000, 10_000, 0.95, 0.01, (80.0, 200.0), 0.012, 0.018, True)
    >>> trust_note(found)  # doctest: +ELLIPSIS
    'note: trust 1.8, measured: ...; it takes so much from 80 to 200, where a share of 0.012 was expected, 0.018 found'
    """
    low, high = (number(end) for end in found.decided_by)
    return (
        f"note: trust {found.factor:g}, measured: within it, with confidence {found.confidence:g}, are all shares of "
        f"{found.thin:.2g} and more of {found.newer:,} values and the {found.older:,} before; it takes so much from "
        f"{low} to {high}, where a share of {found.expected:.2g} was expected, {found.found:.2g} found"
    )
