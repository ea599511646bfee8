"""A small random cone of every kind of privacy."""

from collections.abc import Callable

import numpy as np
import pytest
from optldp.solvers.cone import Cone, blocks, circle, line, pure, ratios, sensitive, value_budgets
from scipy.spatial.distance import cdist

Draw = Callable[[np.random.Generator], Cone]

KINDS: dict[str, Draw] = {
    "pure": lambda rng: pure(7, rng.uniform(0.1, 4)),
    "line": lambda rng: line(np.sort(rng.random(7)), rng.uniform(0.5, 20)),
    "line with a value twice": lambda rng: line(np.sort(rng.random(6))[[0, 1, 1, 2, 3, 4, 5]], 5.0),
    "circle": lambda rng: circle(rng.uniform(0, 7, 7), 7, rng.uniform(0.1, 2)),
    "average by value": lambda rng: value_budgets(rng.uniform(0.1, 4, 7)),
    "smaller by value": lambda rng: value_budgets(rng.uniform(0.1, 4, 7), rule="min"),
    "blocks": lambda rng: blocks(rng.permutation([0, 0, 1, 1, 2, 2, 2]), 1.0, rng.uniform(1.1, 4)),
    "blocks that are near": lambda rng: blocks([0, 0, 1, 1, 2, 2, 2], 3.0, rng.uniform(0.5, 3)),
    "sensitive": lambda rng: sensitive(rng.permutation(7) < rng.integers(1, 7), rng.uniform(0.1, 4)),
    "points": lambda rng: ratios(cdist(places := rng.random((7, 2)), places)),
    "any": lambda rng: ratios(rng.uniform(0.1, 4, (7, 7))),
    "any, some infinite": lambda rng: ratios(np.where(rng.random((7, 7)) < 0.5, np.inf, rng.uniform(0.1, 4, (7, 7)))),
}


@pytest.fixture(params=KINDS)
def cone(request: pytest.FixtureRequest) -> Cone:
    """Of each kind, seven values."""
    return KINDS[request.param](np.random.default_rng(3))
