"""What columns of reports are called: numbers of outputs by a name of their own, and those of a simulation by a mark.

Whoever knows the seed of a simulation can undo its noise, so the mark stays wherever the reports go, their counts too.
"""

from collections.abc import Collection, Sequence

from ....mechanisms.errors import InputError

SIMULATED = "simulated_"
"""Before a column's name: its reports were drawn by a numpy Generator."""

REPORT = "report"
"""The column of reports, unless another is named."""

OUTPUT = "output"
"""The column of reports that are said by the numbers of their outputs, in files of reports and of counts."""

ROUND = "round"
"""The column of a file of reports that says in which round they were collected: one text in all rows."""

USERS = "n"
"""The column of a file of counts that says how many users made the report."""

BIT, SUPPORTS = "bit", "supports"
"""Columns of counts of reports of bits: the number of a bit, and how many of n reports have a one there."""

DAY, REPORT_ID = "day", "report_id"
"""Columns of reports: the day they are of, as 2026-05-01, and what names each, of fresh randomness."""

STATE = "state"
"""The column of counts by day that says what its row counts, one of the following."""

COUNTED, INVALID, WAITING, LATE = "counted", "invalid", "waiting", "late"
"""Reports; what is none; reports of a day that has too few yet; reports that came after their day was closed."""

NO_BIT = -1
"""In the column of bits: n reports are none of the mechanism's."""


def marked_column(names: Sequence[str], column: str, where: str, *, others: Collection[str] = ()) -> str:
    """Return the column that holds the reports: the one of this name, or the same with the mark.

    Parameters
    ----------
    names : sequence of str
        Columns of the file.
    column : str
    where : str
        The file, for the message.
    others : collection of str
        Names that are columns of their own, mark or not.

    Raises
    ------
    InputError
        Both are there.

    Example
    -------
    >>> marked_column(["user", "simulated_report"], "report", "'day.csv'")
    'simulated_report'
    """
    marked = SIMULATED + column
    if marked not in names or marked in others:
        return column
    if column in names:
        raise InputError(
            f"{where} must hold reports in earnest or of a simulation, got the columns {column!r} and {marked!r}: "
            "drop one of them"
        )
    return marked


def column_of_reports(names: Sequence[str], column: str) -> str:
    """Return what the column of reports is called: as asked for, or `OUTPUT` where that is there instead of `REPORT`.

    Example
    -------
    >>> column_of_reports(["user", "output"], "report"), column_of_reports(["output", "report"], "report")
    ('output', 'report')
    """
    there = {name.removeprefix(SIMULATED) for name in names}
    return OUTPUT if column == REPORT and REPORT not in there and OUTPUT in there else column


def is_marked(column: str) -> bool:
    """Whether a column's name says that its reports are simulated.

    Example
    -------
    >>> is_marked("simulated_level"), is_marked("report")
    (True, False)
    """
    return column.startswith(SIMULATED)
