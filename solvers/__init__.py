"""Programs and their certificates."""

from .exact_pricing import certified_bound, price
from .ratio_program import RatioSolution, solve_with_cvxpy, solve_with_highs
from .unbiased_optimum import Progress, Status, UnbiasedOptimum, solve_unbiased

__all__ = [
    "Progress",
    "RatioSolution",
    "Status",
    "UnbiasedOptimum",
    "certified_bound",
    "price",
    "solve_unbiased",
    "solve_with_cvxpy",
    "solve_with_highs",
]
