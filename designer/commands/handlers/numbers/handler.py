"""Tables of numbers: one column of numbers in, one column of numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .....estimators.engines import output_cells
from .....estimators.intervals import CONFIDENCE
from .....estimators.reading.columns.simulated_columns import OUTPUT
from .....mechanisms import Sampler
from .....mechanisms.errors import InputError
from .....mechanisms.exactness.proof import ExactProof, prove
from .....mechanisms.exactness.verification import Verification, verify
from .....mechanisms.report_text import integers_of_text
from .....mechanisms.sampling.domain import values_inside
from .....mechanisms.sampling.rounded_values import rounded_values
from .....mechanisms.table.table import TabulatedMechanism
from .... import plots
from ...output.output import solver_progress
from ..kind import Checked, Drawing, Found, Held, Kind, Layout, Reader, Service, WrittenReports, marked
from ..options import REPORT_COLUMN

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from .....estimators.reading.columns import SkippedRows
    from .....mechanisms.compact_tables import FloorForm
    from .....mechanisms.table.knot_prior import KnotPrior
    from ....designs.knots import KnotChoice
    from ....designs.result import Design
    from ....planning.people import MeanWithin
    from ....priors.prior import Prior
    from ...options.designs.design import DesignOptions
    from ...options.perturb import PerturbOptions
    from ..options import CountOptions, EstimateOptions

PROOF_DIGITS = 20
"""Digits of an exact number shown: ratios and limits differ from each other in the thirteenth or later."""


NUMBERS = ("--column", "--clip", "--drop-missing")
"""Options of `perturb` that say which numbers users hold."""


M = TypeVar("M", "TabulatedMechanism", "FloorForm")


@dataclass(frozen=True, eq=False)
class Outputs(Kind[M]):
    """Values are numbers of the domain, reports are outputs, in whichever form the table is."""

    by_itself: ClassVar[bool] = False
    of_one_column: ClassVar[bool] = True

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        return perturbed(self.mechanism, asked, rng)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        return held_numbers(self.mechanism, asked, beside)

    def drawing(self, asked: PerturbOptions, rng: np.random.Generator | None) -> Drawing:
        return drawing(self.mechanism, asked, rng)

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout(
            (column,),
            (True,),
            self.reports_of,
            "no output of this table",
            wrong=lambda cells: self.mechanism.locate(cells[0]) < 0,
        )

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        from .estimates import estimate_numbers

        return estimate_numbers(services, asked)


@dataclass(frozen=True, eq=False)
class Numbers(Outputs[TabulatedMechanism]):
    """Values are numbers of the domain, reports are outputs of the table; services may be estimated together."""

    of: ClassVar[type] = TabulatedMechanism
    has_table: ClassVar[bool] = True
    assumes: ClassVar[bool] = True
    holds: ClassVar[tuple[str, ...]] = NUMBERS

    def reader(self, asked: EstimateOptions, *, numbered: bool) -> Reader:
        from ..readers import number_reader  # takes categories with it, which perturb does without

        return number_reader(self.mechanism, asked, numbered=numbered)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        from .....estimators.counting.drawn_outputs import answer_of
        from .estimates import count_services

        counts, told, _ = count_services(services, asked)
        return answer_of(counts), told

    def reports_in_text(self, texts: Sequence[str]) -> np.ndarray:
        possible = self.mechanism.possible
        wanted = (
            f"counts by day take the numbers of outputs, from 0 to {possible.size - 1}: perturb --as index writes them"
        )
        try:
            outputs = integers_of_text(texts)
        except InputError:
            raise InputError(wanted) from None
        inside = (outputs >= 0) & (outputs < possible.size)
        if not (inside.all() and possible[outputs].all()):
            raise InputError(wanted)
        return outputs

    def tested(self, rows: Mapping[str, Any], skipped: SkippedRows) -> Sequence[Any]:
        from .....estimators import ReportCounts

        return [ReportCounts.from_counts(self.mechanism, rows, skip_invalid=skipped)]

    def cells(self) -> dict[str, np.ndarray]:
        return output_cells(self.mechanism)

    def facts(self) -> dict[str, Any]:
        checked, provenance = verify(self.mechanism), self.mechanism.provenance
        n, m = self.mechanism.probabilities.shape
        return {
            "method": provenance.method,
            "promise": str(self.mechanism.promise),
            "epsilon": self.mechanism.epsilon,
            **self.mechanism.promise.numbers(),
            "knots": n,
            "outputs": m,
            "domain": list(self.mechanism.domain),
            "units": self.mechanism.units,
            "prior": None if self.mechanism.prior is None else self.mechanism.prior.source,
            "expected_variance": checked.expected_variance,
            "worst_case_variance": checked.worst_case_variance,
            "one_report_times_n": self.one_report_times_n(),
            **self._promised(),
            "max_log_ratio": checked.max_log_ratio,
            "max_abs_bias": checked.max_abs_bias,
            "parameters": {**provenance.parameters, **self._shape()},
            "certificate": None if provenance.certificate is None else dict(provenance.certificate),
            "version": provenance.version,
            "exact": self.mechanism.exact,
            "verdict": str(checked.verdict),
        }

    def units(self, attribute: str | None) -> str:
        return self.mechanism.units

    def _shape(self) -> dict[str, float]:
        """What a PTT's eta makes of its window or tent."""
        from .....mechanisms.families.ptt import shape_told

        origin, budget = self.mechanism.provenance, self.mechanism.epsilon
        return shape_told(origin.method, budget, origin.parameters)

    def _promised(self) -> dict[str, Any]:
        """What a table for the error of a mean promises."""
        if not self.mechanism.provenance.is_for_error:
            return {}
        from ....objectives.biased import biased_facts

        return biased_facts(self.mechanism)

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        from ....planning.people import table_mean_within

        return {
            "": table_mean_within(self.mechanism, people, prior=priors[0] if priors else None, confidence=confidence)
        }

    def shown(self) -> dict[str, Any]:
        return self.facts() | {"plot": None}  # what one report can do is among the facts

    def notes(self) -> list[str]:
        notes = [f"note: {caution}"] if (caution := self.mechanism.promise.caution) else []
        if self.mechanism.provenance.is_for_error:
            from ....objectives.biased import biased_note, biased_title

            notes += [f"note: {said(self.mechanism)}" for said in (biased_title, biased_note)]
        elif self.mechanism.provenance.parameters.get("unbiased") is False:
            notes.append(
                "note: this table is biased, so its variances are no errors of a mean: use estimate --of distribution"
            )
        return notes + carries_notes(self.mechanism.prior)

    def figure(self) -> Axes:
        from ....priors.prior import Prior

        if self.mechanism.provenance.is_for_error:
            held = self.mechanism.prior
            prior = None if held is None else Prior.on_knots(self.mechanism.knots, held.weights, source=held.source)
            return plots.bias({"error": self.mechanism}, prior=prior)
        return plots.heat_map(self.mechanism)

    def checked(self, exact: bool) -> Checked:
        found = verify(self.mechanism)
        facts = proof_facts(prove(self.mechanism)) if exact and self.mechanism.exact else _verified_facts(found)
        return Checked(str(found.verdict), facts, found.failures)


OWN = (*NUMBERS, "--rounding", "--as", "--secret", "--period", "--ledger")
"""Options of `perturb` that tables of numbers have a use for."""


def perturbed(
    mechanism: TabulatedMechanism | FloorForm, asked: PerturbOptions, rng: np.random.Generator | None
) -> WrittenReports:
    """Return a report of every value of the column that was asked for."""
    from .....estimators.reading.columns.number_cells import read_column

    asked.only(*OWN)
    column = asked.needed("--column")
    values = read_column(asked.data, column, drop_missing=asked.drop_missing, units=mechanism.units)
    if (booked := asked.booked(mechanism, [column])) is None:
        return drawing(mechanism, asked, rng).draw(values, asked.users(column))
    held, clipped = _inside(mechanism, asked, values)
    reports = _columns(booked[0], asked, booked[1], mechanism.admitted(held))
    return WrittenReports(marked(reports, rng), len(values), clipped, booked[0].given)


def drawing(
    mechanism: TabulatedMechanism | FloorForm, asked: PerturbOptions, rng: np.random.Generator | None
) -> Drawing:
    """Return what draws reports of values, by nobody's secret or the one asked for, and booked by nobody."""
    asked.only(*OWN)
    keyed, sampler = asked.keyed(mechanism, asked.needed("--column")), Sampler(mechanism, rng)

    def draw(values: np.ndarray, users: np.ndarray | None) -> WrittenReports:
        held, clipped = _inside(mechanism, asked, values)
        reports = _columns(sampler, asked, held) if keyed is None else _columns(keyed, asked, users, held)
        return WrittenReports(marked(reports, rng), len(values), clipped)

    mark = None if keyed is None else keyed.run_mark()
    return Drawing(True, mechanism.units, draw, lambda values: _inside(mechanism, asked, values)[0], mark)


def _inside(
    mechanism: TabulatedMechanism | FloorForm, asked: PerturbOptions, values: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return the values as they count, clipped and rounded to knots where that is asked for, and how many it clipped.

    A ledger books, and a secret draws by, what a value counts as. Values of one knot are one to them; what a ledger
    books, the largest log-ratio of any two knots, bounds that of any two values that are rounded to these.
    """
    held, clipped = asked.inside(values, mechanism.domain)
    if asked.rounding is None:
        return held, clipped
    values_inside(held, *mechanism.domain)
    return rounded_values(mechanism.promise, held, mechanism.knots), clipped


def held_numbers(
    mechanism: TabulatedMechanism | FloorForm, asked: PerturbOptions, beside: Mapping[str, np.ndarray]
) -> Held:
    """Return the numbers of the column that was asked for."""
    from .....estimators.reading.columns.number_cells import read_sparse_column

    column = asked.needed("--column")
    values = read_sparse_column(asked.data, column, units=mechanism.units)
    columns = {column: values, **beside}
    rows = asked.rows_with(columns)
    moved, clipped = asked.inside(values[rows], mechanism.domain)
    return Held(moved, rows, clipped, tuple(columns), moved.tolist)


def _columns(sampler: Any, asked: PerturbOptions, *given: Any) -> dict[str, np.ndarray]:
    """The column of reports that a sampler draws of what it is given, in the form asked for."""
    if asked.form == "index":
        return {OUTPUT: sampler.sample_index(*given)}
    return {REPORT_COLUMN: sampler.sample(*given)}


def carries_notes(prior: KnotPrior | None) -> list[str]:
    """Return what is to be said of the prior that a file carries."""
    if prior is None or prior.source != "sensitive":
        return []
    return ["note: this file carries a sensitive prior; design with --omit-prior before handing it out"]


def _verified_facts(checked: Verification) -> dict[str, Any]:
    return {
        "promise": str(checked.promise),
        "epsilon": checked.epsilon,
        **checked.promise.numbers(),
        "kept": checked.kept,
        "max_log_ratio": checked.max_log_ratio,
        "max_abs_bias": checked.max_abs_bias,
        "max_row_sum_error": checked.max_row_sum_error,
        "expected_variance": checked.expected_variance,
    }


def proof_facts(proof: ExactProof) -> dict[str, Any]:
    """The facts by name: exact numbers as fractions in text, each with its decimal value beside it."""
    divergence = {
        "divergence": None if proof.divergence is None else str(proof.divergence),
        "divergence_decimal": to_decimal(proof.divergence),
    }
    return {
        "promise": str(proof.promise),
        "epsilon": proof.epsilon,
        **proof.promise.numbers(),
        **({} if proof.divergence is None else divergence),
        "tightest_output": proof.output,
        "ratio": f"{proof.largest}/{proof.smallest}",
        "ratio_decimal": to_decimal(proof.ratio),
        "limit_decimal": to_decimal(proof.limit),
        "slack_decimal": to_decimal(proof.slack) if proof.divergence is None else None,
        "max_abs_bias": str(proof.bias),
        "max_abs_bias_decimal": to_decimal(proof.bias),
        "relative_bias_decimal": to_decimal(proof.relative_bias),
    }


def to_decimal(value: Fraction | None) -> str | None:
    """Return a fraction to twenty significant digits.

    Example
    -------
    >>> to_decimal(Fraction(1, 3))
    '0.33333333333333333333'
    """
    if value is None:
        return None
    with localcontext() as context:
        context.prec = PROOF_DIGITS
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def design_numbers(options: DesignOptions, prior: Prior | KnotChoice, epsilon: float) -> Design:
    """Design one table of numbers, on the prior's knots or as many as it takes, showing progress."""
    from ....designs.design import design
    from ....objectives.variance import LARGE
    from ....priors.prior import Prior

    method = options.method or "optimal"
    # Up to these the table is made, and judged, whatever is written: the facts do not depend on the form of the file.
    n = prior.knots.size if method == "optimal" and isinstance(prior, Prior) else 0
    form = "floor" if n > LARGE and options.writes_floor(n, 2 * n) else "table"
    with solver_progress(f"{method}, epsilon {epsilon:g}") as progress:
        return design(
            prior,
            epsilon,
            method=options.asked_method,
            uniform_share=options.uniform_share,
            tolerance=options.tolerance,
            form=form,
            progress=progress,
        )
