from .lower_bound import least_variance as least_variance
from .lower_bound import phi as phi
from .rows import RowDesign as RowDesign
from .rows import best_rows as best_rows
