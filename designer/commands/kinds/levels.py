"""Budgets that users choose: a column of values and one of budgets in; reports, and the reported budgets, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....estimators.data.simulated_columns import OUTPUT, USERS
from ....estimators.intervals import CONFIDENCE
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.composed.level_leakage import report_leakage
from ....mechanisms.composed.personalised import PersonalisedMechanism, PersonalisedReports
from ....mechanisms.errors import InputError, unwired, wired
from ....mechanisms.exactness.verification import verify
from ....mechanisms.files.identifier import table_identifier
from ....mechanisms.spaces.categories import Categories
from ....mechanisms.table.table import TabulatedMechanism
from ..asked.kind import DesignKind
from ..said.output import number, refuse_given
from .asked import LEVEL_COLUMN, REPORT_COLUMN
from .bundle import BundleKind, read_to_count, report_texts
from .categories import frequency_table, read_labels_prior, require_oracle
from .kind import Designed, Found, Kind, Layout, Part, Service, WrittenReports, marked
from .number_estimates import require_method
from .number_fits import told_fit
from .numbers import design_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from ....estimators import PersonalisedCounts
    from ....estimators.data import SkippedRows
    from ....estimators.personalised.estimate import LevelShares
    from ....mechanisms.table.knot_prior import KnotPrior
    from ...planning.people import MeanWithin
    from ...priors.prior import Prior
    from ..asked.design import DesignOptions
    from .asked import CountOptions, EstimateOptions, PerturbOptions

CLEAR = "note: levels are reported in the clear; --level-epsilon protects them"

LEAKY = 2.0
"""Times the level's own budget from which the leakage through the value's report is worth a line."""


@dataclass(frozen=True, eq=False)
class Levels(BundleKind[PersonalisedMechanism]):
    """Values are numbers or labels, and every user has a budget, which is reported beside them."""

    of: ClassVar[type] = PersonalisedMechanism
    of_level: ClassVar[tuple[type, ...]] = (
        TabulatedMechanism,
        CategoricalMechanism,
    )
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS, DesignKind.LEVELS_OF_CATEGORIES)
    moves: ClassVar[str] = "of n, all of one level, moves the mean by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return one mechanism for each level, together with the protection of the level itself."""
        if options.kind is DesignKind.LEVELS:
            prior, notes = options.prior()
            if options.leakage is not None:
                return _on_common_outputs(options, notes, prior)
            made = [design_numbers(options, prior, epsilon) for epsilon in options.budgets.epsilons]
            found = _together(options, notes, [each.mechanism.without_prior() for each in made])
            return replace(found, priors=[each.prior.knot_prior for each in made])
        from ...methods.oracles import ORACLES, levels_of_oracle

        labels, notes = read_labels_prior(options)
        method = options.method or "auto"
        require_oracle(method, options, [*ORACLES], "levels of categories")
        return _together(options, notes, levels_of_oracle(method, labels.categories, options.budgets.epsilons))

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from ....estimators.data.numbers import read_sparse_column
        from ....estimators.data.texts import read_texts

        mechanism, clipped = self.mechanism, 0
        asked.only("--column", "--level-column", "--drop-missing", *(("--clip",) if mechanism.tables else ()))
        present = column, level_column = asked.needed("--column"), asked.needed("--level-column")
        if mechanism.tables:
            values = read_sparse_column(asked.data, column, units=mechanism.tables[0].units)
        else:
            (values,) = read_texts(asked.data, [column])
        budgets = read_sparse_column(asked.data, level_column)
        rows = asked.rows_with({column: values, level_column: budgets})
        values, budgets = values[rows], budgets[rows]
        if mechanism.tables:
            values, clipped = asked.inside(values, mechanism.tables[0].domain)
        sent = mechanism.sample(values, mechanism.level_numbers(budgets), rng)
        reports = sent.reports if mechanism.tables else report_texts(mechanism.categorical[0], sent.reports)
        columns = {REPORT_COLUMN: reports, LEVEL_COLUMN: told_levels(mechanism, sent.levels)}
        return WrittenReports(marked(columns, rng), len(values), clipped, present=present)

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout((column, level_column), (bool(self.mechanism.tables), True), self._parse)

    def _parse(self, cells: Sequence[np.ndarray]) -> PersonalisedReports:
        from ....estimators.personalised.counts import PersonalisedCounts

        reports = cells[0] if self.mechanism.tables else self.mechanism.categorical[0].from_text(cells[0].tolist())
        sent = PersonalisedReports(read_levels(self.mechanism, cells[1]), reports)
        PersonalisedCounts.from_reports(self.mechanism, sent)
        return sent

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        first = None if self.mechanism.tables else self.mechanism.categorical[0]
        return answer_of_levels(self, services, asked, list if first is None else first.to_text)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        return query_of_levels(kinds, relations, **options)

    def counted(self, path: Path, skip_invalid: bool | SkippedRows) -> PersonalisedCounts:
        from ....estimators import PersonalisedCounts

        return PersonalisedCounts.from_counts(self.mechanism, counted_levels(self.mechanism, path, skip_invalid))

    def found(self, counts: PersonalisedCounts, asked: EstimateOptions) -> Found:
        from ....estimators import auem, personalised_mean, personalised_mle
        from ....estimators.personalised import personalised_shrunk

        mechanism = self.mechanism
        method = asked.chosen(*(("population", "em") if mechanism.tables else ("mle", "unbiased", "shrunk")))
        if mechanism.tables:
            require_method(asked, alone=True)
            if asked.of in (None, "mean") and method == "population":
                mean = personalised_mean(counts, target=asked.target)
                return Found("mean of the values", mean.to_dict(asked.confidence))
            asked.of_population("an estimated distribution")
            return fitted(counts, mechanism.epsilons, asked)
        estimators = {"mle": personalised_mle, "unbiased": auem, "shrunk": personalised_shrunk}
        estimate = wired("--method", estimators, method)(counts, target=asked.target)
        return with_shares(frequency_table(estimate, asked.confidence, {}), estimate.level_shares, asked.confidence)

    def parts(self) -> list[Part]:
        return [Part(level_name(level.epsilon), level) for level in self.mechanism.levels]

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        tables = [verify(table).max_log_ratio for table in made.tables]
        planned = self._planned_error()
        return {
            "kind": made.kind,
            "method": made.levels[0].provenance.method,
            **level_facts(made),
            "max_log_ratio": tables or [level.max_log_ratio for level in made.categorical],
        } | ({} if planned is None else {"std_error_times_root_n": planned})

    def _planned_error(self) -> float | None:
        """Return that of AUEM's frequencies, were all alike and as many users at each level; None without AUEM."""
        from ....estimators.personalised.auem import auem_variance

        made = self.mechanism
        if made.tables:
            return None
        shares, frequencies = (np.full(many, 1 / many) for many in (len(made.levels), len(made.categories)))
        try:
            return float(np.sqrt(auem_variance(made, shares, frequencies).mean()))
        except InputError:  # levels of other tables
            return None

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return those of people who are all of one level, for each level."""
        from ...planning.people import table_mean_within

        made = self.mechanism
        if not made.tables:
            return super().means_within(people, confidence=confidence)
        each = zip(made.epsilons, made.tables, priors or [None] * len(made.tables), strict=True)
        return {
            f"all at {level:g}": table_mean_within(table, people, prior=prior, confidence=confidence)
            for level, table, prior in each
        }

    @property
    def takes(self) -> tuple[str, ...]:
        return ("--of", "--cells", "--quantile", "--between", "--above") if self.mechanism.tables else ()

    def influence_times_n(self) -> list[float] | None:
        """Return each level's, if all users were of that level; None for levels of categories."""
        from ....estimators import influence

        return [float(influence(table).times_n[0]) for table in self.mechanism.tables] or None


def told_levels(mechanism: PersonalisedMechanism, reported: np.ndarray) -> np.ndarray:
    """Return what a column tells of reports of levels: their budgets, or numbers of another protocol."""
    return reported if mechanism.level_mechanism is not None else np.array(mechanism.epsilons)[reported]


def read_levels(mechanism: PersonalisedMechanism, told: np.ndarray) -> np.ndarray:
    """Return the reports of levels that a column tells: by their budgets, or as numbers of another protocol."""
    if mechanism.level_mechanism is None:
        return mechanism.level_numbers(told)
    if (told != np.rint(told)).any():
        raise InputError("reports of the level must be whole numbers, got others: use the column as perturb wrote it")
    return mechanism.checked_level_reports(told.astype(np.int64))


def answer_of_levels(
    kind: BundleKind[Any], services: Sequence[Service], asked: CountOptions, texts: Callable[[np.ndarray], Sequence]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the distinct pairs of a report and of a level, both as `perturb` writes them, and of how many users."""
    from ..said.output import told_of_reports

    read = read_to_count(kind, services, asked)
    sent: PersonalisedReports = read.reports
    told = told_levels(kind.mechanism, sent.levels).tolist()
    counts = Counter(zip(texts(sent.reports), told, strict=True))
    ordered = sorted(counts, key=lambda pair: (pair[1], pair[0]))
    outputs = [report for report, _ in ordered]
    columns = {
        OUTPUT: np.array(outputs, dtype=object if isinstance(outputs[0], str) else float),
        LEVEL_COLUMN: np.array([level for _, level in ordered], dtype=float),
        USERS: np.array([counts[pair] for pair in ordered]),
    }
    return columns, told_of_reports(read.simulated, read.skipped)


def query_of_levels(kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
    """Return the query that counts pairs of a report and a level, as `perturb` writes them."""
    from ....estimators.engines.query import count_together

    refuse_given("for tables of numbers", {f"--{name}": options[name] for name in ("key", "cells")})
    if len(kinds) > 1:
        raise InputError("several services must be tables of numbers, got levels: count them by themselves")
    column = REPORT_COLUMN if options["column"] == OUTPUT else options["column"]
    columns = {column: OUTPUT, LEVEL_COLUMN: LEVEL_COLUMN}
    return count_together(relations[0], columns, options["dialect"], table=options["table"])


def counted_levels(
    mechanism: PersonalisedMechanism, path: Path, skip_invalid: bool | SkippedRows
) -> dict[str, np.ndarray]:
    """Return the rows of such an answer as `from_counts` takes them: levels as numbers, or as reports."""
    from ....estimators.data.counted_rows import Wanted, counted_rows
    from ....estimators.personalised.counts import doubles

    if skip_invalid:
        raise InputError("--skip-invalid is not for counts of levels: leave it out, or give the reports")
    made = partial(table_identifier, mechanism)
    found = counted_rows(path, [Wanted((OUTPUT, LEVEL_COLUMN), whole=False)], made)
    levels = read_levels(mechanism, doubles(found.columns[1].tolist()))
    return {OUTPUT: found.columns[0], LEVEL_COLUMN: levels, USERS: found.users}


def level_name(epsilon: float) -> str:
    """Return what a level is called in pictures and tables."""
    return f"level {epsilon:g}"


def level_facts(mechanism: PersonalisedMechanism) -> dict[str, Any]:
    """Return the levels, how they are reported, and what all reports together tell of them."""
    return {
        "levels": list(mechanism.epsilons),
        "level_epsilon": mechanism.level_epsilon,
        "level_method": mechanism.level_report.method,
        "report_leakage": report_leakage(mechanism.levels),
        "level_leakage": mechanism.level_leakage,
    }


def fitted(counts: PersonalisedCounts, budgets: tuple[float, ...], asked: EstimateOptions) -> Found:
    """Return the distribution, its mean or its quantiles, by the joint likelihood of values and levels."""
    from ....estimators import InputGrid, personalised_distribution

    if asked.method not in (None, "population", "em"):
        raise unwired("--method", asked.method)
    table = counts.mechanism.tables[0]
    grid = None if asked.cells is None else InputGrid.equal_cells(*table.domain, asked.cells)
    found = personalised_distribution(counts, grid=grid)
    shares = replace(found.level_shares, levels=budgets)
    return with_shares(told_fit(found, table.units, {}, asked), shares, asked.confidence)


def protocol_of_level(many: int, options: DesignOptions) -> dict[str, Any]:
    """Return how the level is to be reported, as mechanisms of levels take it."""
    from ...methods.oracles import ORACLES

    epsilon, method = options.budgets.level_epsilon, options.level_method
    if epsilon is None or method in (None, "grr"):
        return {"level_epsilon": epsilon}
    if method not in ORACLES:
        raise InputError(f"method of --level-epsilon must be one of {', '.join(ORACLES)}, got {method!r}")
    return {"level_mechanism": ORACLES[method](Categories(range(many)), epsilon)}


def level_notes(mechanism: PersonalisedMechanism, cure: str) -> list[str]:
    """Return what to know of the levels' protection; `cure` lessens what the report of the value tells."""
    if mechanism.level_epsilon is None:
        return [CLEAR]
    if mechanism.level_leakage <= LEAKY * mechanism.level_epsilon:
        return []
    return [
        f"note: the report of the value tells more about the level than its own report: to somebody who knows "
        f"the value, level_leakage {mechanism.level_leakage:.3g} in all; {cure}"
    ]


def with_shares(found: Found, shares: LevelShares, confidence: float) -> Found:
    """Return what was found, with the shares of the users at each level."""
    said = [f"{number(share)} at {level:g}" for level, share in zip(shares.levels, shares.value, strict=True)]
    return replace(
        found,
        more=found.more | {"level_shares": shares.to_dict(confidence)},
        said=(found.facts if found.said is None else found.said) | {"level_shares": said},
    )


def _on_common_outputs(options: DesignOptions, notes: list[str], prior: Prior) -> Designed:
    """Return tables of which a report tells the level by no more than was asked for."""
    from ...designs.design import design
    from ...levels import Levels as Promise
    from ..asked.levels import budget_numbers, even_outputs
    from ..said.output import solver_progress

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
    together = PersonalisedMechanism(levels, **protocol_of_level(len(levels), options))
    return Designed(together, notes, more, priors=[made.prior.knot_prior] * len(levels))


def _together(options: DesignOptions, notes: list[str], levels: Sequence[Any]) -> Designed:
    made = PersonalisedMechanism(levels, **protocol_of_level(len(levels), options))
    cure = "--leakage bounds it" if made.tables else "methods grr and olh leak least"
    return Designed(made, notes + level_notes(made, cure))
