from .described import describe as describe
from .numbers import read_column as read_column
from .numbers import read_pairs as read_pairs
from .skipped_rows import SkippedRows as SkippedRows
