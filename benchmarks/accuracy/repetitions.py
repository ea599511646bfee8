"""Seeded repetitions on all cores, and their means with standard errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from redone.experiment.repeated import Errors, Scores
from threadpoolctl import threadpool_limits


def repeat(
    job: Callable[..., Errors],
    cases: Sequence[tuple[Any, ...]],
    repetitions: int,
    workers: int,
    kept: Path | None = None,
) -> list[Summary]:
    """Run job(*case, rng) for every case and repetition; each has a generator of its own, whatever the order.

    The folder `kept` gets what is found as it is found, a line of JSON each, and what it has is not run again. Whoever
    has changed what is run takes another folder.
    """
    tasks = [(job, case, number, r) for r in range(repetitions) for number, case in enumerate(cases)]
    lines = None if kept is None else _lines_of(job, kept)
    found = {}
    if lines is not None and lines.exists():
        whole = [line for line in lines.read_text().splitlines(keepends=True) if line.endswith("\n")]
        lines.write_text("".join(whole))  # a run that was killed may have left half a line
        found = dict(map(json.loads, whole))
    missing = [task for task in tasks if _label(*task[1:]) not in found]
    with ProcessPoolExecutor(workers) as pool:
        for task, one in zip(missing, pool.map(_one, missing, chunksize=1), strict=True):
            found[_label(*task[1:])] = one
            if lines is not None:
                with lines.open("a") as file:
                    file.write(json.dumps([_label(*task[1:]), one]) + "\n")
    return [Summary([found[_label(case, number, r)] for r in range(repetitions)]) for number, case in enumerate(cases)]


def found_before(
    job: Callable[..., Errors], cases: Sequence[tuple[Any, ...]], kept: Path
) -> list[tuple[tuple[Any, ...], Summary]]:
    """Return the cases of which a folder has kept repetitions, each with as many as there are.

    What was kept of other cases, or of these in another order, is left out.
    """
    by_case: dict[int, list[Errors]] = {}
    for line in _lines_of(job, kept).read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            continue
        label, one = json.loads(line)
        *_, last, repetition = json.loads(label)
        number = int(last)
        if number < len(cases) and label == _label(cases[number], number, repetition):
            by_case.setdefault(number, []).append(one)
    return [(cases[number], Summary(found)) for number, found in sorted(by_case.items())]


def _lines_of(job: Callable[..., Errors], kept: Path) -> Path:
    return kept / f"{job.__module__.rpartition('.')[2]}-{job.__name__.strip('_')}.jsonl"


def _label(case: tuple[Any, ...], number: int, repetition: int) -> str:
    """What names a repetition of a case in a file, wherever the data are."""
    return json.dumps([*(part for part in case if not isinstance(part, Path)), number, repetition], default=str)


def _one(task: tuple[Callable[..., Errors], tuple[Any, ...], int, int]) -> Errors:
    job, case, number, repetition = task
    with threadpool_limits(1):
        return job(*case, np.random.default_rng([number, repetition]))


class Summary(Scores):
    """Means over repetitions, by name, shown as the pages of docs/accuracy have them."""

    def show(self, name: str, scale: float = 1.0) -> str:
        """Return "mean +- standard error", the latter with two digits."""
        return f"{scale * self.mean(name):.3g} ± {scale * self.error(name):.2g}"
