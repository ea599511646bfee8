"""Several attributes: a column of numbers for each, by its name; the same out, empty where one was not drawn."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ....estimators.intervals import CONFIDENCE
from ....estimators.methods import BIAS_AWARE, DISTRIBUTION_METHODS, MEAN_METHODS
from ....estimators.reading.columns import SkippedRows
from ....estimators.reading.columns.simulated_columns import USERS
from ....estimators.reading.formats.axis import AxisNumber, in_units
from ....mechanisms.combinators.attribute_sampling import AttributeSampling
from ....mechanisms.errors import InputError
from ....mechanisms.exactness.verification import verify
from ..options.kind import DesignKind
from ..output.output import share_progress, told_of_reports
from ..output.prior import SENSITIVE, on_own_steps, within_range
from .bundle import BundleKind, found_rows, read_to_count
from .kind import Answer, Designed, Found, Held, Layout, Part, Service, split
from .numbers.clipped import marked
from .numbers.estimates import names_of, require_method, say_of_users, told_by_counts, told_of_join, with_usual
from .numbers.fits import mean_found

if TYPE_CHECKING:
    from ....estimators import BiasAwareMean
    from ....estimators.attributes import AttributeCounts
    from ....estimators.means.means_of_attributes import AttributeMeans
    from ....estimators.methods import MeanMethod
    from ....estimators.reading.columns import SkippedRows
    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.table.knot_prior import KnotPrior
    from ...designs.result import Design
    from ...planning.people import MeanWithin
    from ...priors.prior import Prior
    from ..options.designs.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .options import CountOptions, EstimateOptions


@dataclass(frozen=True, eq=False)
class Attributes(BundleKind[AttributeSampling]):
    """Values are the columns that the attributes are named after; a user reports some of them."""

    of: ClassVar[type] = AttributeSampling
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.ATTRIBUTES,)
    holds: ClassVar[tuple[str, ...]] = ("--clip", "--drop-missing")
    moves: ClassVar[str] = "of n moves the means by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return a table for each attribute, given as NAME=LO:HI, and how many of them a user reports."""
        priors, notes = attribute_priors(options)
        made = design_attributes(options, priors, options.sampled, options.budgets.epsilons[0])
        found, mechanism = made.evidence, made.mechanism
        tables = zip(mechanism.attributes, mechanism.mechanisms, strict=True)
        told = [marked(table, options, name) for name, table in tables]
        mechanism = AttributeSampling(mechanism.attributes, told, mechanism.sampled, mechanism.epsilon)
        before = [one.prior.knot_prior for one in found.designs.values()]
        if found.users is not None:
            return replace(
                _designed_for_error(made, [*notes, *options.objective_notes]), bundle=mechanism, priors=before
            )
        more = {
            "expected_variance": [one.expected_variance for one in found.designs.values()],
            "relative_gap": [one.gap for one in found.designs.values()],
            "predicted_variance_one_user": list(found.predicted_variances(1).values()),
            "rule_of_thumb": found.rule_of_thumb,
        }
        return Designed(mechanism, notes, more, priors=before)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        from ....estimators.reading.columns.number_cells import read_sparse_column

        tables = dict(zip(self.mechanism.attributes, self.mechanism.mechanisms, strict=True))
        columns = {name: read_sparse_column(asked.data, name, units=table.units) for name, table in tables.items()}
        rows = asked.rows_with({**columns, **beside})
        moved = [asked.inside(columns[name][rows], table.domain) for name, table in tables.items()]
        values = np.transpose([inside for inside, _ in moved])

        def each() -> list[dict[str, float]]:
            return [dict(zip(tables, row, strict=True)) for row in values.tolist()]

        return Held(values, rows, sum(many for _, many in moved), (*columns, *beside), each)

    def booked(self, rows: list[dict[str, float]]) -> np.ndarray:
        return np.array([[row[name] for name in self.mechanism.attributes] for row in rows])

    def reports_of(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        return np.column_stack(cells)

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.mechanism.attributes, reports.T, strict=True))

    def layout(self, column: str, level_column: str) -> Layout:
        names = self.mechanism.attributes
        return Layout(names, (True,) * len(names), self._parse, may_be_blank=True)

    def _parse(self, cells: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        drawn = ~np.isnan(cells)
        if (drawn.sum(axis=0) != self.mechanism.sampled).any():
            raise InputError(f"every user must have {self.mechanism.sampled} reports")
        for table, column, mine in zip(self.mechanism.mechanisms, cells, drawn, strict=True):
            table.output_index(column[mine])
        return dict(zip(self.mechanism.attributes, cells, strict=True))

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        """Return the means of all attributes, or what reports tell of the one that was asked for."""
        asked.refuse("for levels of budgets", "--level-column")
        asked.refuse("of no use to attributes, which have columns of their own names", "--column")
        asked.refuse("for the plain mean of one table", "--winsorise")
        asked.refuse("as it is for attributes, which chance draws", "--alike")
        held = [_require_attributes(service, asked.attribute) for service in services]
        asked = with_usual(asked, [table for made in held for table in made.mechanisms])
        if len(services) == 1:
            asked.refuse("for several files of different times", "--rounds")
        alone = len(services) == 1 and asked.key is None and asked.of in (None, "mean")
        alone = alone and asked.method in (None, "unbiased")
        if asked.method not in (None, *MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS) and not alone:
            raise InputError(f"--method {asked.method} is for frequencies or one service alone: leave it out")
        require_method(asked, alone, rows=asked.attribute is None)
        if alone:
            return self.told_alone(services[0], asked)
        if asked.attribute is None and (asked.of not in (None, "mean") or asked.method in DISTRIBUTION_METHODS):
            names = ", ".join(dict.fromkeys(name for one in held for name in one.attributes))
            raise InputError(f"a distribution is one attribute's, got none: choose it by --attribute, one of {names}")
        if asked.attribute is None and asked.prior_file is not None:
            raise InputError("--prior is of one attribute, got none: choose it by --attribute, or leave --prior out")
        return _of_counts(services, held, asked)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if USERS in self.mechanism.attributes:
            raise InputError(f"counts have a column {USERS!r}, got an attribute of that name: give the reports")
        read = read_to_count(self, services, asked)
        tables = zip(self.mechanism.attributes, self.mechanism.mechanisms, strict=True)
        outputs = np.stack([_outputs(table, read.reports[name]) for name, table in tables], axis=1)
        distinct, users = np.unique(outputs, axis=0, return_counts=True)
        columns = np.where(distinct < 0, np.nan, distinct).T
        return dict(zip(self.mechanism.attributes, columns, strict=True)) | {USERS: users}, told_of_reports(
            read.simulated, read.skipped
        )

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> AttributeCounts:
        from ....estimators.attributes import AttributeCounts

        return AttributeCounts.from_counts(self.mechanism, path, skip_invalid=skip_invalid)

    def found(self, counts: AttributeCounts, asked: EstimateOptions) -> Found:
        from ....estimators import estimate_attribute_means

        means = estimate_attribute_means(counts, target=asked.target)
        if asked.attribute is not None:
            return named(mean_found(means[asked.attribute], asked, {}), asked.attribute)
        return mean_rows(means, asked, units_of([self.mechanism]))

    def parts(self) -> list[Part]:
        made, share = self.mechanism, self.mechanism.sampled / len(self.mechanism.attributes)
        return [Part(name, table, name, share) for name, table in zip(made.attributes, made.mechanisms, strict=True)]

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "method": made.mechanisms[0].provenance.method,
            "epsilon": made.epsilon,
            "attributes": list(made.attributes),
            "sampled": made.sampled,
            **_promised(made),
            "max_log_ratio": [verify(table).max_log_ratio for table in made.mechanisms],
        }

    def units(self, attribute: str | None) -> str:
        return units_of([self.mechanism]).get(attribute or "", "")

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        from ...planning.people import table_mean_within

        made = self.mechanism
        share = made.sampled / len(made.attributes)
        each = zip(made.attributes, made.mechanisms, priors or [None] * len(made.attributes), strict=True)
        return {
            name: table_mean_within(table, people, prior=prior, share=share, confidence=confidence)
            for name, table, prior in each
        }

    def influence_times_n(self) -> list[float]:
        """Return that of each attribute's mean."""
        from ....estimators import influence

        return influence(self.mechanism).times_n.tolist()


def _designed_for_error(made: Design, notes: list[str]) -> Designed:
    """Tables for the error of the means of so many users, each with its own clip."""
    from ...objectives.biased import cut_words

    found, tables = made.evidence, made.mechanism.mechanisms
    more = {
        "all_users": found.users,
        "rmse_unbiased": [one.evidence.rmse_unbiased for one in found.designs.values()],
        "rmse_clip": [one.evidence.rmse_clip for one in found.designs.values()],
        "lower_bound": [one.bound for one in found.designs.values()],
        "relative_gap": [one.gap for one in found.designs.values()],
        "rmse_of_all_users": [variance**0.5 for variance in found.predicted_variances(found.users).values()],
        "rule_of_thumb": found.rule_of_thumb,
    }
    cuts = (f"{name}: {cut_words(table)}" for name, table in zip(found.designs, tables, strict=True))
    title = (
        f"biased mechanism for the means of {found.users:,} users; {'; '.join(cuts)}; unbiased: --objective expected"
    )
    return Designed(made.mechanism, notes, more, title)


def _promised(made: AttributeSampling) -> dict[str, list[Any]]:
    """What tables for the error of a mean promise, a list of each fact; none where one of them is for another end."""
    if not all(table.provenance.is_for_error for table in made.mechanisms):
        return {}
    from ...objectives.biased import biased_facts

    facts = [biased_facts(table) for table in made.mechanisms]
    return {name: [each[name] for each in facts] for name in facts[0]}


def _outputs(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Return the numbers of the outputs of reports, -1 where there is none."""
    found, drawn = np.full(reports.size, -1), ~np.isnan(reports)
    found[drawn] = table.output_index(reports[drawn])
    return found


def _require_attributes(service: Service, attribute: str | None) -> AttributeSampling:
    """Return the mechanism of a service, or raise InputError unless it is of attributes and holds the one asked for."""
    name = str(service.table)
    if not isinstance(service.kind, Attributes):
        raise InputError(
            f"services of attributes are estimated from together, got {name!r} of another kind: estimate from it by "
            "itself"
        )
    made = service.kind.mechanism
    if attribute is not None and attribute not in made.attributes:
        raise InputError(
            f"every service must hold the attribute {attribute!r}, got {', '.join(made.attributes)} in {name!r}: "
            "leave it out"
        )
    return made


def _of_counts(services: Sequence[Service], held: Sequence[AttributeSampling], asked: EstimateOptions) -> Found:
    """Return what counts tell, of one service or of several that have users in common."""
    from ....estimators import count, estimate_attribute_means
    from ....estimators.bias_aware import bias_aware_attribute_means
    from .reading import holds_simulated

    started, skipped = time.perf_counter(), SkippedRows()
    paths = [service.reports for service in services]
    if asked.counts:
        raise InputError("--counts of attributes are those of one service and its means, got more: give the reports")
    with share_progress("counting reports") as update:
        counts = count(
            list(zip(names_of(services, asked), held, paths, strict=True)),
            key=asked.key,
            rounds=asked.rounds,
            keep_first=asked.keep_first,
            allow_disjoint=asked.allow_disjoint,
            drop_missing=asked.drop_missing,
            skip_invalid=skipped if asked.skip_invalid else False,
            progress=update,
        )
    simulated = any(holds_simulated(path, made.attributes[0]) for path, made in zip(paths, held, strict=True))
    told = told_of_reports(simulated, skipped)
    if asked.attribute is not None:
        found = told_by_counts(counts[asked.attribute], asked, started, told, drawn_from=counts.n_users)
        return replace(named(found, asked.attribute), counts=[counts[asked.attribute]])
    for mine in counts.values():
        told |= {} if asked.rounds else told_of_join(mine)
    trusts: dict[str, Any] = {}
    if asked.method == BIAS_AWARE:
        asked.of_population(f"attributes by --method {BIAS_AWARE}")
        means = bias_aware_attribute_means(counts, trust=asked.told.get("trust"))
        each = cast("tuple[BiasAwareMean, ...]", means.means)
        trusts = {"trust": [mean.trust for mean in each]}
        for mean in each:
            say_of_users(mean)
    else:
        asked.refuse_told("for one attribute: name it by --attribute", "per-report")
        means = estimate_attribute_means(counts, method=cast("MeanMethod | None", asked.method), target=asked.target)
    found = mean_rows(means, asked, units_of(held))
    if asked.rounds:
        found = replace(found, more=found.more | {"rounds": _of_each_round(means, asked.confidence)})
    facts = found.facts | trusts | {"seconds": time.perf_counter() - started} | told
    return replace(found, facts=facts, counts=[counts])


def _of_each_round(means: AttributeMeans, confidence: float) -> list[dict[str, Any]]:
    """What each round's own reports say of each attribute."""
    return [
        {"round": name, "attribute": attribute, **own.to_dict(confidence)}
        for attribute, mean in zip(means.attributes, means.means, strict=True)
        for name, own in mean.rounds.items()
    ]


def mean_rows(means: AttributeMeans, asked: EstimateOptions, units: Mapping[str, str]) -> Found:
    """Return a row for each attribute, dates as dates."""
    facts, columns = split(means, asked.confidence)
    of_rows = [units[name] for name in means.attributes]
    return found_rows("means of the attributes", facts | {"method": means.method}, columns, units=of_rows)


def units_of(mechanisms: Iterable[AttributeSampling]) -> dict[str, str]:
    """Return the units of each attribute of some services."""
    tables = [pair for made in mechanisms for pair in zip(made.attributes, made.mechanisms, strict=True)]
    return {name: table.units for name, table in tables}


def named(found: Found, attribute: str) -> Found:
    """Return what was found of one attribute under its name."""
    name = {"attribute": attribute}
    return replace(found, facts=name | found.facts, said=None if found.said is None else name | found.said)


def attribute_priors(options: DesignOptions) -> tuple[dict[str, Prior], list[str]]:
    """Return the prior of each attribute that was asked for, out of its column of DATA, and what is to be said."""
    from ....estimators.reading.columns.number_cells import column_units, read_column
    from ...priors.prior import DEFAULT_KNOTS, Prior

    if options.data is None:
        raise InputError("the priors must come from DATA, got none: name a CSV or Parquet file")
    priors, notes = {}, [] if options.public else [SENSITIVE]
    for name, domain in map(attribute_range, options.attributes or ()):
        units = column_units(options.data, name)
        inside = in_units(domain, units)
        values = read_column(options.data, name, drop_missing=options.drop_missing, units=units)
        values = within_range(values, inside, options.clip, notes, name, units)
        source = "public" if options.public else "sensitive"
        count = DEFAULT_KNOTS if options.knot_count is None else options.knot_count
        prior = Prior.from_data(values, knots=count, domain=inside, source=source, units=units)
        priors[name] = on_own_steps(prior) if options.knot_count is None else prior
    return priors, notes


def design_attributes(options: DesignOptions, priors: dict[str, Prior], sampled: int | None, epsilon: float) -> Design:
    """Design the tables of all attributes at one budget, showing progress."""
    from ...designs.design import design
    from ...designs.several_attributes import Attributes as AttributesAsked

    error = options.asked if options.wanted.name == "error" else None
    with share_progress("designing") as update:
        return design(
            AttributesAsked(priors, "auto" if sampled is None else sampled),
            epsilon,
            objective=error,
            method=options.method or "optimal",
            uniform_share=options.uniform_share,
            tolerance=options.precision if error is None else options.tolerance,
            progress=lambda told: update(f"{told.attribute}, {told.sampled} sampled: gap {told.step.gap:.1e}", 0.0),
        )


def attribute_range(text: str) -> tuple[str, tuple[float, float]]:
    """Return the name and the domain that NAME=LO:HI says, or raise InputError; ends may be dates or times, too.

    Example
    -------
    >>> attribute_range("income=0:200000")
    ('income', (0.0, 200000.0))
    >>> attribute_range("came=7:30:11:00")
    ('came', (27000.0, 39600.0))
    """
    name, _, ends = text.rpartition("=")
    for place in [i for i, letter in enumerate(ends) if letter == ":"]:  # times have some of their own
        try:
            low, high = AxisNumber.read(ends[:place]), AxisNumber.read(ends[place + 1 :])
        except ValueError:
            continue
        if name and low.units == high.units and low < high:
            return name, (low, high)
    raise InputError(f"an attribute must be NAME=LO:HI with LO < HI, got {text!r}")
