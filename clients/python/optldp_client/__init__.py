"""Draws private reports of numbers and categories by mechanisms that optldp designed; the standard library alone.

Reading and proving (`reading`, `proving`, `category_proving`) end in a `Table` or in `Categories`, which draw
(`drawing`, `category_drawing`). Formats: docs/table-format.md, docs/floor-form.md, docs/bundle-format.md of optldp.
"""

from .category_drawing import Categories
from .category_proving import read_categories
from .drawing import Table
from .proving import read_table
from .reading import TableError

__all__ = ["Categories", "Table", "TableError", "read_categories", "read_table"]
