"""Programs to solve, from plain to awkward."""

from collections.abc import Callable

import numpy as np
import pytest
from optldp.solvers import UnbiasedProgram

MakeProgram = Callable[..., UnbiasedProgram]


@pytest.fixture(scope="session")
def random_program() -> MakeProgram:
    """Knots equally or unequally spaced, weights even to sparse (zeros too), a budget from 0.05 to 8."""

    def make(
        seed: int, *, knots: tuple[int, int] = (2, 9), budgets: tuple[float, float] = (0.05, 8.0)
    ) -> UnbiasedProgram:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(knots[0], knots[1] + 1))
        x = np.linspace(-1, 1, n)
        if rng.random() < 0.5:
            x[1:-1] = np.sort(rng.uniform(-1, 1, n - 2))
        p = rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 10.0])))
        if rng.random() < 0.3:
            p[rng.random(n) < 0.5] = 0
        p = p / p.sum() if p.sum() > 0 else np.eye(n)[0]
        return UnbiasedProgram(x, p, float(np.exp(np.exp(rng.uniform(*np.log(budgets))))))

    return make
