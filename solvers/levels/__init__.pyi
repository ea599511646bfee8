from .optimum import solve_levels as solve_levels
from .outputs import solve_levels_freely as solve_levels_freely
from .program import LevelsProgram as LevelsProgram
