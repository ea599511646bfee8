"""Reports of a simulation carry a mark in the name of their column: whoever knows the seed can undo their noise."""

from collections.abc import Collection, Sequence

from ...mechanisms.errors import InputError

SIMULATED = "simulated_"
"""Before a column's name: its reports were drawn by a numpy Generator."""


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


def is_marked(column: str) -> bool:
    """Whether a column's name says that its reports are simulated.

    Example
    -------
    >>> is_marked("simulated_level"), is_marked("report")
    (True, False)
    """
    return column.startswith(SIMULATED)
