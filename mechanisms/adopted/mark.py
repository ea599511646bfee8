"""The mark of mechanisms whose reports others drew, known without loading any of them."""

from typing import Any

from ..errors import InputError
from ..table.provenance import Provenance

MARK = "not drawn by us, not audited"
"""What is said of reports that others drew."""

ADOPTED = "adopted"
"""The parameter of the provenance that holds the mark."""


def is_adopted(mechanism: Any) -> bool:
    """Whether a mechanism says that others drew its reports.

    Example
    -------
    >>> is_adopted(None)
    False
    """
    provenance = getattr(mechanism, "provenance", None)
    return isinstance(provenance, Provenance) and provenance.parameters.get(ADOPTED) is True


def require_ours(mechanism: Any, what: str) -> None:
    """Raise InputError for a mechanism that was adopted, which `what` is not for."""
    if is_adopted(mechanism):
        raise InputError(
            f"{what} is for mechanisms that draw here, got one of reports that others drew ({MARK}): design makes one"
        )
