"""Categories: one column of labels in; whole numbers, or bits in hexadecimal digits, out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....estimators.intervals import each_of, normal_quantile
from ....estimators.methods import FREQUENCIES, FREQUENCY_METHODS
from ....estimators.reading.columns.simulated_columns import BIT, OUTPUT
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.errors import InputError
from ....mechanisms.promise import Pure
from ....mechanisms.spaces.cells import Cells
from ....mechanisms.spaces.places import Places
from ....mechanisms.statistics import Outputs, Supports, unread
from ....mechanisms.third_party.adoption import DRAWN_BY, FORM, written_of
from ....mechanisms.third_party.mark import MARK, is_adopted
from ...privacies import privacy_asked
from ..options.kind import DesignKind
from ..output.output import share_progress, solver_progress
from ..output.prior import SENSITIVE, read_categorical_prior
from .bundle import MOST_ROWS, RANKED, BundleKind, answer_in_text, found_rows, report_texts
from .kind import (
    Answer,
    Checked,
    Designed,
    Drawing,
    Found,
    Held,
    Kind,
    Layout,
    Reader,
    Service,
    WrittenReports,
    marked,
    split,
)
from .options import REPORT_COLUMN
from .queries import category_queries_found
from .readers import category_reader

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ....estimators import CategoryCounts, SupportCounts
    from ....estimators.differences import Tally
    from ....estimators.frequencies.frequencies import FrequencyEstimate
    from ....estimators.reading.columns import SkippedRows
    from ....mechanisms.ledger import GivenReports
    from ....mechanisms.promise import Promise
    from ....solvers import Progress
    from ...designs.result import Design
    from ...priors.categorical import CategoricalPrior
    from ..options.designs.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .options import CountOptions, EstimateOptions


UNKNOWN = (
    f"these reports were {MARK}: that the law keeps its epsilon is proved, that they were drawn by it, once for each "
    "user, is the word of who drew them"
)
"""What is said of a mechanism whose reports others drew."""

LONG_TEXT, LONG_PARQUET = 2**25, 2**21
"""Bytes of files of bits, some 2^24 of them, from which on they are summed and not looked at row by row."""

LABELS = ("--column", "--drop-missing")
"""Options of `perturb` that say which labels users hold."""

OWN = (*LABELS, "--as", "--secret", "--period", "--ledger")
"""Options of `perturb` that categories have a use for."""


@dataclass(frozen=True, eq=False)
class Categories(BundleKind[CategoricalMechanism]):
    """Values are labels of a declared list, reports are what the mechanism writes as text."""

    of: ClassVar[type] = CategoricalMechanism
    of_one_column: ClassVar[bool] = True
    once: ClassVar[bool] = True
    holds: ClassVar[tuple[str, ...]] = LABELS
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.CATEGORIES,)
    moves: ClassVar[str] = "of n moves a frequency by at most"
    stops: ClassVar[tuple[str, ...]] = ("loglik",)  # as it always does
    else_stops: ClassVar[str] = "loglik alone for categories, whose certified maximum is --method mle"

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        return (
            super().suits(mechanism) and not isinstance(mechanism.inputs, Places) and Cells.of(mechanism.inputs) is None
        )

    @property
    def takes(self) -> tuple[str, ...]:
        return (*RANKED, "--of")

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return a frequency oracle by its name, or the optimal table."""
        from ...methods.oracles import ORACLES

        prior, notes = read_labels_prior(options)
        epsilon = next(iter(options.budgets.epsilons), None)
        of_shares = options.method == "optimal" and options.loss is None and options.given()["--objective"] is None
        of_loss = options.of_one_report and not of_shares
        promise = privacy_asked(options.privacy, epsilon, prior.categories)
        method = options.method or ("optimal" if of_loss else "auto")
        if not of_loss:
            options.refuse("for a --loss, where values are categories", "--objective")
        elif method != "optimal":
            raise InputError(
                f"a --loss or --privacy has a table of its own, got --method {method}: leave it out, or optimal"
            )
        if method == "optimal":
            made = (_design_for_loss if of_loss else _design_table)(prior, promise, options)
            return replace(made, notes=notes + made.notes)
        require_oracle(method, options, [*ORACLES, "optimal"], "categories")
        return Designed(ORACLES[method](prior.categories, promise.epsilon), notes)

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from ....estimators.reading.columns.texts import read_labels

        asked.only(*OWN)
        column = asked.needed("--column")
        labels = read_labels(asked.data, column, drop_missing=asked.drop_missing)
        if (booked := asked.booked(self.mechanism, [column])) is None:
            return self.drawing(asked, rng).draw(labels, asked.users(column))
        return self._written(booked[0].sample(booked[1], labels), asked, rng, booked[0].given)

    def drawing(self, asked: PerturbOptions, rng: np.random.Generator | None) -> Drawing:
        asked.only(*OWN)

        keyed = asked.keyed(self.mechanism, asked.needed("--column"))

        def draw(labels: np.ndarray, users: np.ndarray | None) -> WrittenReports:
            drawn = self.mechanism.sample(labels, rng) if keyed is None else keyed.sample(users, labels)  # pyright: ignore[reportArgumentType] -- with a secret there are users
            return self._written(drawn, asked, rng)

        return Drawing(numeric=False, units=None, draw=draw, mark=None if keyed is None else keyed.run_mark())

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        from ....estimators.reading.columns.texts import read_texts

        column = asked.needed("--column")
        (labels,) = read_texts(asked.data, [column])
        columns = {column: labels, **beside}
        rows = asked.rows_with(columns)
        return Held(labels[rows], rows, 0, tuple(columns), labels[rows].tolist)

    def _written(
        self,
        reports: np.ndarray,
        asked: PerturbOptions,
        rng: np.random.Generator | None,
        given: GivenReports | None = None,
    ) -> WrittenReports:
        texts = report_texts(self.mechanism, reports)
        columns = {OUTPUT: reports if reports.ndim == 1 else texts} if asked.form == "index" else {REPORT_COLUMN: texts}
        return WrittenReports(marked(columns, rng), len(reports), given=given)

    def layout(self, column: str, level_column: str) -> Layout:
        if (written := written_of(self.mechanism)) is not None:
            columns = written.columns(column)
            return Layout(
                columns, (False,) * len(columns), lambda cells: written.reports([cell.tolist() for cell in cells])
            )
        return super().layout(column, level_column)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        written = written_of(self.mechanism)
        if written is not None and written.form == "seeded":
            raise InputError(
                "count-sql is for reports of one column, got ones with their seeds: optldp count reads these"
            )
        return super().query(kinds, relations, **options)

    def reader(self, asked: EstimateOptions, *, numbered: bool) -> Reader:
        return category_reader(self.mechanism, asked, self.layout(REPORT_COLUMN, ""))

    def reports_in_text(self, texts: Sequence[str]) -> np.ndarray:
        written = written_of(self.mechanism)
        return (self.mechanism.from_text if written is None else written.counted)(texts)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return answer_in_text(self, services, asked)

    def of_reports(self, reports: np.ndarray, many: np.ndarray) -> CategoryCounts:
        from ....estimators import CategoryCounts

        return CategoryCounts.from_reports(self.mechanism, reports, many)

    def summed(self, service: Service, asked: EstimateOptions) -> tuple[SupportCounts, bool] | None:
        from ....estimators.frequencies.collected import collect_sums, is_summed
        from .reading import column_in

        way, path = FREQUENCIES.get(asked.method or FREQUENCY_METHODS[0]), service.reports
        if asked.skip_invalid or asked.drop_missing or way is None or not way.of_supports:
            return None
        least = LONG_PARQUET if path.suffix.lower() == ".parquet" else LONG_TEXT
        if not path.is_file() or path.stat().st_size < least or not is_summed(self.mechanism):
            return None
        layout = self.layout(column_in(service.reports, asked.column)[0], "")
        marked = column_in(service.reports, layout.columns[0])[1]
        try:
            return collect_sums(self.mechanism, service.reports, column=asked.column), marked
        except InputError:  # read row by row, the first that is none is named
            return None

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> CategoryCounts | SupportCounts:
        from ....estimators import CategoryCounts, SupportCounts
        from ....estimators.reading.columns.files import columns_of

        if BIT in (path if isinstance(path, Mapping) else columns_of(path)):
            return SupportCounts.from_sums(self.mechanism, path, skip_invalid=skip_invalid)
        written = written_of(self.mechanism)
        parse = None if written is None else written.counted
        return CategoryCounts.from_counts(self.mechanism, path, skip_invalid=skip_invalid, parse=parse)

    def found(self, counts: CategoryCounts | SupportCounts, asked: EstimateOptions) -> Found:
        from ....estimators import estimate_frequencies, influence

        asked.refuse("for levels of budgets", "--level-column")
        if asked.of == "queries":
            asked.refuse_told("for frequencies", "stop")

            return category_queries_found(counts, asked)
        if asked.of is not None:
            raise InputError(f"--of is for tables of numbers, but for queries, got {asked.of}: leave it out")
        method = asked.chosen(*FREQUENCY_METHODS)
        with share_progress(f"estimating by {method}") as update:
            share = _share_of_fit(counts.n_users)
            found = estimate_frequencies(
                counts,
                method=method,
                target=asked.target,
                progress=lambda now: update(f"{method}: {now.step} steps", share(now)),
                **asked.reduction(),
            )
        one_report = float(influence(self.mechanism, found).one_report.max()) if method == "unbiased" else None
        table = frequency_table(found, each_confidence(asked, found.value.size), {"one_report": one_report})
        return ranked(table, counts, asked)

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        if len(services) == 1:
            return super().estimate(services, asked)
        from .versions import estimate_versions

        return estimate_versions(services, asked)

    def checked(self, exact: bool) -> Checked:
        found = super().checked(exact)
        return replace(found, facts=found.facts | {"unknown": UNKNOWN}) if is_adopted(self.mechanism) else found

    def notes(self) -> list[str]:
        return [f"note: {UNKNOWN}"] if is_adopted(self.mechanism) else []

    def figure(self) -> Axes:
        from ...plots.mechanism_mesh import support_map

        return support_map(self.mechanism)

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        facts: dict[str, Any] = {
            "kind": made.kind,
            "method": made.provenance.method,
            "epsilon": made.epsilon,
            "categories": len(made.categories),
        }
        if not isinstance(made.promise, Pure):
            facts["promise"] = str(made.promise)
        match made.statistic:
            case Outputs(law):
                facts["outputs"] = law.shape[1]
            case Supports(own_support=own, other_support=other, fixed_size=chosen):
                facts |= {} if chosen is None else {"chosen": chosen}
                facts |= {"own_support": own, "other_support": other}
            case statistic:
                raise unread(statistic)
        facts["max_log_ratio"] = made.max_log_ratio
        if is_adopted(made):
            facts |= {"origin": MARK, DRAWN_BY: made.provenance.parameters.get(DRAWN_BY)}
            facts |= {FORM: made.provenance.parameters.get(FORM)}
        certificate = made.provenance.certificate
        return facts | ({} if certificate is None else {"certificate": dict(certificate)})


def _share_of_fit(n: int) -> Callable[[Progress], float]:
    """Return what says how much of a fit is done, by the digits of its gap, from the first to the certificate's."""
    from ....solvers.likelihood.fit import DEFAULT_CERTIFICATE

    last, first = math.log(n * DEFAULT_CERTIFICATE), -math.inf

    def share(now: Progress) -> float:
        nonlocal first
        gap = math.log(max(now.bound - now.value, n * DEFAULT_CERTIFICATE))
        first = max(first, gap)
        return (first - gap) / (first - last) if first > last else 1.0

    return share


def frequency_table(found: FrequencyEstimate, confidence: float, more: dict[str, Any]) -> Found:
    """Return frequencies with their intervals as a result, and facts that only their kind has."""
    from ....estimators.differences.without_privacy import RATIO, ratio_to_no_privacy

    fit = found.fit
    facts, columns = split(found, confidence)
    facts |= more | {RATIO: ratio_to_no_privacy(found)}
    if fit is not None:
        facts |= {"iterations": fit.iterations, "certificate": fit.certificate, "stop": str(fit.stop)}
        facts |= {"components": found.components}

    def figure() -> Axes:
        return found.plot(confidence=confidence)

    return found_rows("frequencies of the categories", facts, columns, figure)


def each_confidence(asked: EstimateOptions, many: int) -> float:
    """Return the confidence of each interval of many, so that they hold at once where that is asked for."""
    return each_of(asked.confidence, many) if asked.simultaneous else asked.confidence


def ranked(table: Found, counts: CategoryCounts | SupportCounts | Tally, asked: EstimateOptions) -> Found:
    """Return a table of frequencies in order, with those that rise above the noise marked and the rest in one line."""
    from ....estimators.differences import above_noise, estimate_others
    from ....estimators.frequencies.support_counts import SupportCounts

    assert table.columns is not None
    columns, top = table.columns, asked.top or MOST_ROWS
    values = np.asarray(columns["value"])
    facts = table.facts | {"confidence": asked.confidence, "simultaneous": asked.simultaneous}
    try:
        above = above_noise(counts, confidence=asked.confidence)
        shown = np.zeros(values.size, dtype=bool)
        shown[np.argsort(-values, kind="stable")[:top]] = True
        summed = isinstance(counts, SupportCounts)  # of which the scatter of all reports' sums is not known
        rest = None if shown.all() or summed else estimate_others(counts, shown, target=asked.target)
    except InputError:  # reports that do not tell the categories apart, or one report: nothing is known of noise
        return replace(_in_order(table, facts, columns, top), facts=facts)
    told = {**columns, "above_noise": above.tolist()}
    made = _in_order(table, facts, {**columns, "above noise": ["yes" if one else "" for one in above]}, top)
    assert made.rows is not None
    level = f"{100 * asked.confidence:g}%"
    words = (
        f"{int(above.sum()):,} of {above.size:,} categories are above the noise, all at once with {level} confidence"
    )
    lines = [words]
    if rest is not None:
        facts["others"] = {"categories": int((~shown).sum())} | rest.to_dict(asked.confidence)
        reach = normal_quantile(asked.confidence) * rest.std_error
        among = f"; {int(above[~shown].sum()):,} of them above the noise" if above[~shown].any() else ""
        lines.insert(0, f"{int((~shown).sum()):,} others, together {_percent(rest.value, reach)} ({level}){among}")
        lines.append("all of them: --out FILE or --json")
    return replace(
        made,
        facts=facts,
        more=told,
        rows=replace(made.rows, last="\n".join(lines)),
        columns={**columns, "above_noise": above.astype(np.int64)},
        figure=table.figure,
    )


def _in_order(table: Found, facts: dict[str, Any], columns: dict[str, Any], top: int) -> Found:
    assert table.rows is not None
    return found_rows(table.rows.title, facts, columns, table.figure, top=top, in_order=True)


def _percent(value: float, reach: float) -> str:
    """A share and its interval's half, as people say it.

    Example
    -------
    >>> _percent(0.3131, 0.0214), _percent(0.00012, 0.00034)
    ('31.3% +- 2.1%', '0.012% +- 0.034%')
    """
    digits = max(0, 1 - math.floor(math.log10(100 * reach))) if reach > 0 else 3
    return f"{100 * value:.{digits}f}% +- {100 * reach:.{digits}f}%"


def read_labels_prior(options: DesignOptions) -> tuple[CategoricalPrior, list[str]]:
    """Read the categories and their weights that a design was asked for."""
    return read_categorical_prior(
        options.data, options.column, options.prior_file, drop_missing=options.drop_missing, public=options.public
    )


def require_oracle(method: str, options: DesignOptions, known: list[str], what: str) -> None:
    """Refuse a method that there is not, and a tolerance that no oracle has a use for."""
    if options.tolerance is not None:
        raise InputError("--tolerance is for method optimal, and for numbers: leave it out")
    if method not in known:
        raise InputError(f"method must be one of {', '.join(known)} for {what}, got {method!r}")


def _design_table(prior: CategoricalPrior, promise: Promise, options: DesignOptions) -> Designed:
    from ...designs.design import design
    from ...objectives.promised import promise_facts, promise_notes

    with solver_progress("optimal table") as progress:
        made = design(prior, promise, tolerance=options.tolerance, progress=progress)
    errors = {"expected_squared_error": made.value, "lower_bound": made.bound}
    designed = _designed(made, options, promise_facts(made) | errors)
    return replace(designed, notes=designed.notes + promise_notes(made))


def _design_for_loss(prior: CategoricalPrior, promise: Promise, options: DesignOptions) -> Designed:
    """Return the table of the least loss, whose reports are the categories."""
    from ...designs.design import design

    wanted, size = options.asked, len(prior.categories)
    with solver_progress(wanted.label) as progress:
        made = design(prior, promise, objective=wanted, outputs=size, tolerance=options.tolerance, progress=progress)
    designed = _designed(made, options, wanted.parameters() | wanted.facts(made))
    return replace(designed, notes=designed.notes + wanted.notes(made), title=wanted.title(made))


def _designed(made: Design, options: DesignOptions, facts: dict[str, Any]) -> Designed:
    judged = {"relative_gap": made.gap, "value": made.value, "status": str(made.status)}
    judged |= {"solver": made.solver, "seconds": made.seconds}
    notes = [] if options.public else [SENSITIVE]
    if made.status != "optimal":
        notes.append(f"warning: {made.status.sentence} (gap {made.gap:.1e})")
    return Designed(made.mechanism, notes, facts | judged)
