from .levels_program import LevelsProgram as LevelsProgram
from .optimal_levels import solve_levels as solve_levels
from .outputs import solve_levels_freely as solve_levels_freely
