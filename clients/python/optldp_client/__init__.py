"""Draws private reports of numbers, categories, pairs and levels by optldp's mechanisms; the standard library alone.

Reading and proving (`reading`, `proving`, `category_proving`, `combined_proving`, `way_proving`) end in a `Table`, in
`Categories`, in what is `Combined` of these, or in a `Way` over time, which draw (`drawing`, `category_drawing`,
`combined_drawing`, `over_time`, `whole_lives`). Formats: docs/table-format.md,
docs/floor-form.md, docs/bundle-format.md of optldp.
"""

from .category_drawing import Categories
from .category_proving import read_categories
from .combined_drawing import Combined
from .combined_proving import read_combined
from .drawing import Table
from .over_time import FilePlace, Memoised, Panel, Way
from .proving import read_table
from .reading import TableError
from .way_proving import read_way
from .whole_lives import Rows, Tree

__all__ = [
    "Categories",
    "Combined",
    "FilePlace",
    "Memoised",
    "Panel",
    "Rows",
    "Table",
    "TableError",
    "Tree",
    "Way",
    "read_categories",
    "read_combined",
    "read_table",
    "read_way",
]
