"""Programs and their certificates."""

from .exact_pricing import certified_bound, price
from .fixed_outputs import FixedOutputsSolution, solve_on_outputs
from .ratio_program import RatioSolution, solve_with_cvxpy, solve_with_highs
from .unbiased_optimum import Progress, Status, UnbiasedOptimum, solve_unbiased

__all__ = [
    "FixedOutputsSolution",
    "Progress",
    "RatioSolution",
    "Status",
    "UnbiasedOptimum",
    "certified_bound",
    "price",
    "solve_on_outputs",
    "solve_unbiased",
    "solve_with_cvxpy",
    "solve_with_highs",
]
