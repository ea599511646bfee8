"""What the pages say of what is kept."""

from __future__ import annotations

from ..experiment.keeping import Shelf
from ..experiment.pages import Telling


def said(shelf: Shelf) -> Telling:
    """Return the sentences and tables of the pages."""
    return Telling()
