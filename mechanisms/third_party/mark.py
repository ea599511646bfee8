"""Where mechanisms come from, and the mark of those whose reports others drew, known without loading any of them."""

from typing import Any

from ..errors import InputError
from ..table.provenance import Provenance

MARK = "not drawn by us, not audited"
"""What is said of reports that others drew."""

ADOPTED = "adopted"
"""The parameter of the provenance that holds the mark."""


def origin_of(mechanism: Any) -> Provenance | None:
    """Return where a mechanism comes from, where it is of those that say so.

    Example
    -------
    >>> from ..categorical.table import categorical_grr
    >>> origin_of(categorical_grr(["yes", "no"], 1.0)).method
    'grr'
    """
    origin = getattr(mechanism, "provenance", None)
    return origin if isinstance(origin, Provenance) else None


def is_adopted(mechanism: Any) -> bool:
    """Whether a mechanism says that others drew its reports.

    Example
    -------
    >>> is_adopted(None)
    False
    """
    origin = origin_of(mechanism)
    return origin is not None and origin.parameters.get(ADOPTED) is True


def require_ours(mechanism: Any, what: str) -> None:
    """Raise InputError for a mechanism that was adopted, which `what` is not for."""
    if is_adopted(mechanism):
        raise InputError(
            f"{what} needs a mechanism that can draw, got one for reports that others drew ({MARK}): design makes one"
        )
