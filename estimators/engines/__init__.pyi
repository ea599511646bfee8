from .cells import output_cells as output_cells
from .lazy import collect_lazily as collect_lazily
from .partitions import perturb_partition as perturb_partition
from .query import DIALECTS as DIALECTS
from .query import count_query as count_query
