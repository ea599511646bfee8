"""One prior at one budget, judged by several methods: the piece of a sweep that one worker does at a time."""

from __future__ import annotations

from collections.abc import Iterable

from threadpoolctl import threadpool_limits

from ...mechanisms.errors import OptldpError
from ..designs.design import Design, against_optimum
from ..priors.prior import Prior
from .table import SweepRow


def solve_case(
    name: str, prior: Prior, epsilon: float, methods: Iterable[str], *, floor: float, tolerance: float
) -> list[SweepRow]:
    """Solve the optimum once and judge every method against it, on one thread.

    A method that cannot be built is a row that says why; where the optimum itself cannot be solved, all are.

    Parameters
    ----------
    name : str
        Of the prior, for the rows.
    prior : Prior
    epsilon : float
        Budget, already checked.
    methods : iterable of str
        Out of `METHODS`, already checked.
    floor, tolerance : float
        As in `design`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> rows = solve_case("peak", prior, 1.0, ["optimal", "duchi"], floor=1e-3, tolerance=1e-6)
    >>> [(row.method, row.status) for row in rows]
    [('optimal', 'optimal'), ('duchi', 'optimal')]
    """
    with threadpool_limits(1):
        try:
            best, optimum = against_optimum(prior, epsilon, method="optimal", floor=floor, tolerance=tolerance)
        except OptldpError as error:
            return [SweepRow.failed(name, epsilon, method, f"no optimum: {error}") for method in methods]
        rows = []
        for method in methods:
            try:
                made = best
                if method != "optimal":
                    made, _ = against_optimum(
                        prior, epsilon, method=method, floor=floor, tolerance=tolerance, optimum=optimum
                    )
                rows.append(judged_row(name, epsilon, made, best))
            except OptldpError as error:
                rows.append(SweepRow.failed(name, epsilon, method, str(error)))
        return rows


def judged_row(name: str, epsilon: float, made: Design, best: Design) -> SweepRow:
    """Return the row of a design for the prior of that name, beside the best at the same budget."""
    return SweepRow(
        prior=name,
        epsilon=epsilon,
        method=made.method,
        expected_variance=made.expected_variance,
        worst_case_variance=made.worst_case_variance,
        program_variance=made.program_variance,
        lower_bound=made.lower_bound,
        relative_gap=made.relative_gap,
        ratio_to_optimal=made.expected_variance / best.expected_variance,
        status=str(made.status),
        error="",
        seconds=made.seconds,
    )
