"""Draws private reports of numbers and categories by mechanisms that optldp designed; the standard library alone.

Reading and proving (`reading`, `proving`, `category_proving`, `way_proving`) end in a `Table`, in `Categories`, or in a
`Panel` or `Memoised` over time, which draw (`drawing`, `category_drawing`, `over_time`). Formats: docs/table-format.md,
docs/floor-form.md, docs/bundle-format.md of optldp.
"""

from .category_drawing import Categories
from .category_proving import read_categories
from .drawing import Table
from .over_time import FilePlace, Memoised, Panel
from .proving import read_table
from .reading import TableError
from .way_proving import read_way

__all__ = [
    "Categories",
    "FilePlace",
    "Memoised",
    "Panel",
    "Table",
    "TableError",
    "read_categories",
    "read_table",
    "read_way",
]
