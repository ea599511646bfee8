"""Which kind a mechanism is: the one place that knows all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....mechanisms.errors import InputError, unwired
from .options import LEVEL_COLUMN, REPORT_COLUMN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....estimators.reading.columns.files import FilePath
    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.documents.bundle import Bundle
    from ..options.designs.design import DesignOptions
    from .bundle import BundleKind
    from .kind import Designed, Kind
    from .reading import ReadReports


def kinds() -> Iterator[type[Kind]]:
    """Yield every kind, each loaded only if it was none of those before it."""
    from .numbers.handler import Numbers

    yield Numbers
    from .numbers.floors import Floors

    yield Floors
    yield from bundle_kinds()


def bundle_kinds() -> Iterator[type[BundleKind]]:
    """Yield every kind that is more than a table of numbers: a new one is a file and two lines here."""
    from .places import Places

    yield Places
    from .numbers.tables import Tables

    yield Tables
    from .categories import Categories

    yield Categories
    from .pairs import Pairs

    yield Pairs
    from .attributes import Attributes

    yield Attributes
    from .histories import Histories, Trees

    yield Histories
    yield Trees
    from .features import FeatureReports

    yield FeatureReports
    from .over_time import Ways

    yield Ways
    from .levels.numbers import LevelsOfNumbers

    yield LevelsOfNumbers
    from .levels.categories import LevelsOfCategories

    yield LevelsOfCategories
    from .levels.pairs import LevelsOfPairs

    yield LevelsOfPairs
    from .levels.attributes import LevelsOfAttributes

    yield LevelsOfAttributes


def kind_of(mechanism: TabulatedMechanism | Bundle) -> Kind:
    """Return a mechanism as commands see it, or raise InputError for one of a kind that they do not know.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> kind_of(duchi([0, 10], 1.0)).facts()["method"]
    'duchi'
    """
    for kind in kinds():
        if kind.suits(mechanism):
            return kind(mechanism)
    raise InputError(f"mechanisms of kind {mechanism!r:.60} cannot be used on the command line: use Python")


def design_bundle(options: DesignOptions) -> Designed:
    """Design what was asked for, whatever it is beside one table of numbers."""
    for kind in bundle_kinds():
        if options.kind in kind.designs:
            return kind.design(options)
    raise unwired("kind", options.kind.label)


def read_reports(
    mechanism: TabulatedMechanism | Bundle,
    path: FilePath,
    *,
    column: str = REPORT_COLUMN,
    level_column: str = LEVEL_COLUMN,
    drop_missing: bool = False,
    skip_invalid: bool = False,
) -> ReadReports:
    """Read the reports of a mechanism of any kind from a CSV or Parquet file.

    Parameters
    ----------
    mechanism : TabulatedMechanism or Bundle
        That made them.
    path : str or path-like
        A `.csv` or `.parquet` file.
    column : str
        Column of the reports; if it is missing, the one of the same name with "simulated_" before it. Attributes have
        columns by their own names.
    level_column : str
        Of the reported levels, likewise.
    drop_missing : bool
        Leave out rows without a value, uncounted.
    skip_invalid : bool
        Leave out, and count, rows without a report that the mechanism can make, and malformed rows of a CSV.

    Returns
    -------
    read : ReadReports
        `reports`, as the mechanism's `sample` returns them, which `count` takes; and what was `skipped`.

    Raises
    ------
    InputError
        One line each: a file that cannot be read, a column that is missing, or present both real and simulated; reports
        of another table; unless skip_invalid, rows without a report, with their number and the first; no report at all.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.designer import read_reports
    >>> from optldp.mechanisms import grr
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reports.csv"
    >>> _ = path.write_text("report\\n0\\nbanana\\n2\\n7\\n")
    >>> read = read_reports(grr([0, 1, 2], 1.0), path, skip_invalid=True)
    >>> read.reports, read.skipped.first
    (array([0., 2.]), ("row 2: 'banana' is no number", 'row 4: 7.0 is no output of this table'))
    """
    from .reading import read_laid_out

    kind = kind_of(mechanism)
    return read_laid_out(
        kind.layout(column, level_column), path, kind.identifier, drop_missing=drop_missing, skip_invalid=skip_invalid
    )
