"""Draws private reports of numbers by tables that optldp designed; the standard library alone.

Reading and proving (`reading`, `proving`) end in a `Table`, which draws (`drawing`). Formats: docs/table-format.md and
docs/floor-form.md of optldp.
"""

from .drawing import Table
from .proving import read_table
from .reading import TableError

__all__ = ["Table", "TableError", "read_table"]
