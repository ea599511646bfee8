"""Numbers at budgets that users choose: a mean, or a distribution by the joint likelihood of values and levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from .....mechanisms.errors import InputError, unwired
from .....mechanisms.exactness.verification import verify
from ....levels import Levels as Promise
from ...options.designs.levels import budget_numbers, even_outputs
from ...options.kind import DesignKind
from ...output.output import solver_progress
from ..kind import Answer, Designed, Found, Kind
from ..numbers.estimates import require_method
from ..numbers.fits import told_fit
from ..numbers.handler import Numbers, design_numbers
from .levels import Levels, with_shares
from .report_of_level import CLEAR, designed, together

if TYPE_CHECKING:
    from .....estimators import PersonalisedCounts
    from .....estimators.reading.columns import SkippedRows
    from .....mechanisms import TabulatedMechanism
    from ....priors.prior import Prior
    from ...options.designs.design import DesignOptions
    from ..options import EstimateOptions


@dataclass(frozen=True, eq=False)
class LevelsOfNumbers(Levels):
    """Numbers at levels, each by a table."""

    wraps: ClassVar[type[Kind]] = Numbers
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS,)
    moves: ClassVar[str] = "of n, all of one level, moves the mean by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return one table for each level, together with the protection of the level itself."""
        prior, notes = options.prior()
        if options.leakage is not None:
            return _on_common_outputs(options, notes, prior)
        made = [design_numbers(options, prior, epsilon) for epsilon in options.budgets.epsilons]
        levels = [each.mechanism.without_prior() for each in made]
        found = designed(options, notes, levels, "--leakage bounds it")
        return replace(found, priors=[each.prior.knot_prior for each in made])

    @property
    def takes(self) -> tuple[str, ...]:
        return ("--of", "--cells", "--between", "--above")

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> PersonalisedCounts:
        from .....estimators import PersonalisedCounts

        return PersonalisedCounts.from_counts(self.mechanism, self.rows_of(path, skip_invalid))

    def found(self, counts: PersonalisedCounts, asked: EstimateOptions) -> Found:
        from .....estimators import personalised_mean

        method = asked.chosen("population", "em")
        require_method(asked, alone=True)
        if asked.of in (None, "mean") and method == "population":
            mean = personalised_mean(counts, target=asked.target)
            return Found("mean of the values", mean.to_dict(asked.confidence))
        asked.of_population("an estimated distribution")
        return fitted(counts, self.mechanism.epsilons, asked)

    def own_facts(self) -> dict[str, Any]:
        return {"max_log_ratio": [verify(table).max_log_ratio for table in self.mechanism.levels]}

    def influence_times_n(self) -> list[float] | None:
        """Return each level's, if all users were of that level."""
        from .....estimators import influence

        return [float(influence(table).times_n[0]) for table in self.mechanism.levels]


def fitted(counts: PersonalisedCounts, budgets: tuple[float, ...], asked: EstimateOptions) -> Found:
    """Return the distribution, its mean or its quantiles, by the joint likelihood of values and levels."""
    from .....estimators import InputGrid, personalised_distribution

    if asked.method not in (None, "population", "em"):
        raise unwired("--method", asked.method)
    table: TabulatedMechanism = counts.mechanism.levels[0]
    grid = None if asked.cells is None else InputGrid.equal_cells(*table.domain, asked.cells)
    found = personalised_distribution(counts, grid=grid)
    shares = replace(found.level_shares, levels=budgets)
    return with_shares(told_fit(found, table.units, {}, asked), shares, asked.confidence)


def _on_common_outputs(options: DesignOptions, notes: list[str], prior: Prior) -> Designed:
    """Return tables of which a report tells the level by no more than was asked for."""
    from ....designs.design import design

    assert options.leakage is not None  # the caller asked
    if options.asked_method != "optimal":
        raise InputError(f"--leakage is for method optimal, got {options.method!r}: leave one of them out")
    budgets, shares, outputs = options.budgets, *map(options.of_leakage.get, ("shares", "outputs"))
    promise = Promise(
        budgets.epsilons,
        shares=None if shares is None else budget_numbers(shares, "level shares"),
        leakage=options.leakage,
        level_epsilon=budgets.level_epsilon,
    )
    with solver_progress(str(promise)) as progress:
        made = design(
            prior,
            promise,
            outputs=None if outputs is None else even_outputs(outputs),
            uniform_share=options.uniform_share,
            tolerance=options.tolerance,
            progress=progress,
        )
    more = {
        "expected_variances": list(made.evidence.expected_variances),
        "value": made.value,
        "lower_bound": made.bound,
        "relative_gap": made.gap,
        "outputs": made.evidence.outputs,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    if budgets.level_epsilon is None:
        notes.append(CLEAR)
    if made.status != "optimal":
        notes.append(f"warning: {made.status.sentence} (gap {made.gap:.1e})")
    levels = made.mechanism.levels
    return Designed(together(options, levels), notes, more, priors=[made.prior.knot_prior] * len(levels))
