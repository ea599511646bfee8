"""Seeded repetitions on all cores, and their means with standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from redone.experiment.repeated import Errors, Scores
from threadpoolctl import threadpool_limits


def repeat(
    job: Callable[..., Errors], cases: Sequence[tuple[Any, ...]], repetitions: int, workers: int
) -> list[Summary]:
    """Run job(*case, rng) for every case and repetition; each has a generator of its own, whatever the order."""
    tasks = [(job, case, number, r) for number, case in enumerate(cases) for r in range(repetitions)]
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(_one, tasks, chunksize=1))
    return [Summary(found[i : i + repetitions]) for i in range(0, len(found), repetitions)]


def _one(task: tuple[Callable[..., Errors], tuple[Any, ...], int, int]) -> Errors:
    job, case, number, repetition = task
    with threadpool_limits(1):
        return job(*case, np.random.default_rng([number, repetition]))


class Summary(Scores):
    """Means over repetitions, by name, shown as the pages of docs/accuracy have them."""

    def show(self, name: str, scale: float = 1.0) -> str:
        """Return "mean +- standard error", the latter with two digits."""
        return f"{scale * self.mean(name):.3g} ± {scale * self.error(name):.2g}"
