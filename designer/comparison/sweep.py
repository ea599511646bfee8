"""Sweeps: every method, at every budget, for every prior, in parallel and safe to interrupt."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

from ...estimators.reading.columns.files import FilePath
from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ..methods.registry import METHODS, check_methods
from ..objectives.base import Objective
from ..objectives.variance import Variance
from ..priors.prior import Prior
from .judging import check_objectives, solve_case, wanted_keys
from .row import Row
from .sweep_results import SweepResults
from .sweep_table import SweepTable

CASES_PER_ROUND = 4
"""Cases per worker between two visits to the results file, where a backend gives lists only: an interruption loses at
most these, and workers wait for the slowest of them."""

EARLY_EXIT = ".*could benefit from adjusting the input task"
"""joblib's warning to those who stop early; an interruption is meant to."""


def sweep(
    priors: Mapping[str, Prior],
    epsilons: Iterable[float],
    methods: Iterable[str] = METHODS,
    *,
    objective: Objective | None = None,
    objectives: Iterable[Objective] = (),
    uniform_share: float | None = None,
    tolerance: float | None = None,
    results: FilePath | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int, Row], None] | None = None,
) -> SweepTable:
    """Judge every method at every budget for every prior, each against the certified optimum; rows as of `compare`.

    One prior at one budget is one piece of work, so that each objective is solved once. Pieces run in processes of this
    machine by default, or on the backend that ``joblib.parallel_config(backend=...)`` names. The table does not depend
    on the backend. Time is that of a design, times priors, times budgets, over the workers.

    Parameters
    ----------
    priors : mapping of str to Prior
        Priors by name; all on one domain in one unit, so that their variances compare. Their knots may differ.
    epsilons : iterable of float
        Budgets; one that is named twice counts once.
    methods : iterable of str
        Out of `METHODS`.
    objective, objectives, uniform_share, tolerance
        As in `compare`: the objective that decides, and what else to judge by.
    results : path, optional
        A file to which rows are added as they come. After an interruption, Ctrl-C included, the same call computes only
        what it lacks; a call with more budgets or methods adds to it. Rows that failed are kept too.
    n_jobs : int, optional
        Workers, as joblib counts them: -1 for every core; default that of ``joblib.parallel_config``, or 1.
    progress : callable, optional
        Called with the number of rows done, the number in all, and each new row as it comes, in no particular order.

    Returns
    -------
    SweepTable
        A row for every case. A case without a solution gets a row with the reason and does not stop the others.

    Raises
    ------
    InputError
        No prior, budget or method, or one that is not usable; mixed domains or units; a results file of another sweep.

    Example
    -------
    >>> from optldp import Prior, sweep
    >>> priors = {
    ...     "flat": Prior.on_knots([-1, 0, 1], [1, 1, 1], source="public"),
    ...     "peak": Prior.on_knots([-1, 0, 1], [1, 8, 1], source="public"),
    ... }
    >>> table = sweep(priors, [1.0, 2.0], ["optimal", "duchi"])
    >>> [(row.prior, row.epsilon, row.method) for row in table.rows][:3]
    [('flat', 1.0, 'optimal'), ('flat', 1.0, 'duchi'), ('flat', 2.0, 'optimal')]
    """
    budgets, chosen = sorted({check_epsilon(epsilon) for epsilon in epsilons}), tuple(dict.fromkeys(methods))
    _check(priors, budgets, chosen, n_jobs)
    decides, others = Variance() if objective is None else objective, tuple(objectives)
    for prior in priors.values():
        check_objectives(prior, budgets[0], decides, others, uniform_share, tolerance)
    share = decides.uniform_share if uniform_share is None else uniform_share
    precision = decides.tolerance if tolerance is None else tolerance
    asked = {"objective": decides, "objectives": others, "uniform_share": share, "tolerance": precision}
    of_each = wanted_keys(chosen, decides, others)
    wanted = {(name, epsilon, *key) for name in priors for epsilon in budgets for key in of_each}
    file = None if results is None else SweepResults(results, priors, **asked)
    rows = {row.key: row for row in file.rows if row.key in wanted} if file is not None else {}
    cases = []
    for name in sorted(priors):
        for epsilon in budgets:
            lacking = {method for by, method in of_each if (name, epsilon, by, method) not in rows}
            if lacking:  # the best by a further objective comes with any method, or with none
                missing = [method for method in chosen if method in lacking]
                cases.append(joblib.delayed(solve_case)(name, priors[name], epsilon, missing, **asked))
    with closing(as_they_come(cases, n_jobs)) as solved:
        for found in solved:
            if file is not None:
                file.append(found)
            for row in found:
                new = row.key not in rows  # the best by a further objective comes again with methods that were missing
                rows[row.key] = row
                if progress is not None and new:
                    progress(len(rows), len(wanted), row)
    return SweepTable(tuple(rows.values()))


def as_they_come(cases: Sequence[Any], n_jobs: int | None) -> Generator[Any]:
    """Yield what the cases give as it comes; no further case is started once the caller stops.

    Parameters
    ----------
    cases : sequence of joblib.delayed calls
    n_jobs : int, optional
        As in `sweep`.
    """
    jobs: Any = joblib  # it has no types, and those that checkers infer from its defaults are not those it documents
    backend: Any = get_active_backend()[0]
    # Limiting the threads here too keeps workers that are threads of this process from restoring each other's limits.
    with threadpool_limits(1):
        if backend.supports_return_generator:
            # Batches of one, or finished rows would wait for their neighbours and an interruption lose them.
            found = jobs.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(cases)
            try:
                for rows in found:  # noqa: UP028 "yield from" would close it before its warning is silenced
                    yield rows
            finally:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", EARLY_EXIT, UserWarning)
                    found.close()
            return
        # Ray's and multiprocessing's backends only give lists.
        with jobs.Parallel(n_jobs=n_jobs, batch_size=1) as parallel:
            size = CASES_PER_ROUND * jobs.effective_n_jobs(n_jobs)
            for start in range(0, len(cases), size):
                yield from parallel(cases[start : start + size])


def _check(
    priors: Mapping[str, Prior],
    budgets: list[float],
    methods: tuple[str, ...],
    n_jobs: int | None,
) -> None:
    if not priors or not budgets or not methods:
        raise InputError("a sweep needs at least one prior, one epsilon and one method, got none")
    if unnamed := [name for name in priors if not isinstance(name, str)]:
        raise InputError(f"the priors of a sweep must be named by text, got {unnamed[0]!r}")
    check_methods(methods)
    if n_jobs == 0:
        raise InputError("n_jobs must be a number of workers or -1 for every core, got 0")
    names = list(priors)
    for name in names[1:]:
        for what, of in (("domain", lambda prior: prior.domain), ("unit", lambda prior: prior.units)):
            if of(priors[name]) != of(priors[names[0]]):
                raise InputError(
                    f"the priors of a sweep must share one {what}, got {names[0]!r} with {of(priors[names[0]])!r} and "
                    f"{name!r} with {of(priors[name])!r}: sweep mixed {what}s apart"
                )
