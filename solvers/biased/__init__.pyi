from .optimum import ErrorOptimum as ErrorOptimum
from .optimum import solve_error as solve_error
from .optimum import trusted as trusted
from .program import ErrorProgram as ErrorProgram
from .program import MeanError as MeanError
from .program import Multipliers as Multipliers
from .rows import Clip as Clip
