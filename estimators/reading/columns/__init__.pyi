from .described import describe as describe
from .number_cells import read_column as read_column
from .number_cells import read_pairs as read_pairs
from .rows.skipped_rows import SkippedRows as SkippedRows
