"""Key-value pairs: a column of keys and one of numbers in; what is shown, as place:output, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....estimators.intervals import CONFIDENCE
from ....estimators.methods import KEY_VALUES
from ....mechanisms.errors import InputError, wired
from ....mechanisms.key_value.mechanism import KeyValueMechanism
from ..options.kind import DesignKind
from ..output.output import task_progress
from ..output.prior import SENSITIVE, read_categorical_prior
from .bundle import BundleKind, answer_in_text, found_rows
from .kind import Answer, Designed, Found, Held, Part, Service, split
from .options import REDUCTION

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....estimators import KeyValueCounts
    from ....estimators.key_values.counts import KeyCounts
    from ....estimators.reading.columns import SkippedRows
    from ....mechanisms.spaces.categories import Categories
    from ....mechanisms.table.knot_prior import KnotPrior
    from ....mechanisms.table.table import TabulatedMechanism
    from ...planning.people import MeanWithin
    from ...priors.prior import Prior
    from ..options.designs.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .options import CountOptions, EstimateOptions

NO_VALUE = "(no value)"
"""The key of those who have no value, where having one is protected, too."""

SHARE_AND_MEAN = "the share of those who have a value, and the mean of theirs"

KEYS_AND_MEANS = "keys and the means of their values"

_FITS = {way.asked_as: name for name, way in KEY_VALUES.items()}


@dataclass(frozen=True, eq=False)
class Pairs(BundleKind[KeyValueMechanism]):
    """A row is a user's pair; a row without both key and value is a user who holds none.

    Or a row is a user who has a value or none, which is protected, too: two keys, the column's name and `NO_VALUE`.
    """

    of: ClassVar[type] = KeyValueMechanism
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.PAIRS, DesignKind.PROTECTED)
    holds: ClassVar[tuple[str, ...]] = ("--column", "--value-column", "--clip")
    moves: ClassVar[str] = "of n moves a frequency by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return a mechanism for key-value pairs, whose budget is split so that means of values vary least."""
        best, notes = (_best_protected if options.missing else best_pairs)(options)
        return Designed(best(options.budgets.epsilons[0]), notes)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        from ....estimators.reading.columns.number_cells import read_sparse_column
        from ....estimators.reading.columns.texts import read_texts

        if self.protects:
            asked.refuse("of no use to this mechanism", "--value-column")
            keys, values = self._read_protected(asked)
        else:
            columns = asked.needed("--column"), asked.needed("--value-column")
            (keys,) = read_texts(asked.data, [columns[0]])
            values = read_sparse_column(asked.data, columns[1], units=self.mechanism.value.units)
        # Who has no pair reports all the same.
        rows = asked.rows_with(beside) if beside else np.ones(keys.size, dtype=bool)
        keys = keys[rows]
        values, clipped = asked.inside(values[rows], self.mechanism.value.domain)

        def each() -> list[dict[str, float]]:
            return [{key: value} for key, value in zip(keys.tolist(), values.tolist(), strict=True)]

        return Held((keys, values), rows, clipped, tuple(beside), each)

    @property
    def protects(self) -> bool:
        """Whether users hold one value or none, by the two keys of which everybody holds one."""
        return self.mechanism.padding == 0 and self.mechanism.keys.labels[1:] == (NO_VALUE,)

    def _read_protected(self, asked: PerturbOptions) -> tuple[np.ndarray, np.ndarray]:
        """Return what users hold; the number beside the key of those without a value is the same for all of them."""
        from ....estimators.reading.columns.number_cells import read_sparse_column

        table, labels = self.mechanism.value, np.array(self.mechanism.keys.labels, dtype=object)
        values = read_sparse_column(asked.data, asked.needed("--column"), units=table.units)
        none = np.isnan(values)
        return labels[none.astype(int)], np.where(none, table.knots[0], values)

    def reports_in_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.mechanism.from_text(texts)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return answer_in_text(self, services, asked)

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> KeyValueCounts:
        from ....estimators import KeyValueCounts

        return KeyValueCounts.from_counts(self.mechanism, path, skip_invalid=skip_invalid)

    def found(self, counts: KeyValueCounts, asked: EstimateOptions) -> Found:
        from ....estimators import estimate_key_means, influence

        mechanism, method = self.mechanism, method_of_pairs(asked)
        asked.refuse("for levels of budgets", "--level-column")
        asked.refuse_told("for numbers and categories", *REDUCTION)
        if method != "unbiased":
            asked.of_population("a fit, which has no intervals")
            return self._told(fitted_keys(counts, method, asked.confidence))
        found = estimate_key_means(counts, target=asked.target)
        shares = influence(mechanism, "frequencies").times_n / found.n
        facts, columns = split(found, asked.confidence)
        columns["mean_one_report"] = influence(mechanism, found).one_report.tolist()
        return self._told(found_rows(KEYS_AND_MEANS, facts | {"one_report": float(shares.max())}, columns))

    def _told(self, found: Found) -> Found:
        """Return what was found of keys; where there are those who have a value and those who have none, of the first.

        The share of the others is one less the first's.
        """
        if not self.protects or found.columns is None:
            return found
        columns = {name: cells[:1] for name, cells in found.columns.items()}
        shown = found_rows(SHARE_AND_MEAN, found.facts, columns, units=self.mechanism.value.units)
        return replace(shown, moved="the share")

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return that of a key that one in as many people as keys holds, or of a value that every other one has."""
        from ...planning.people_of_pairs import pairs_within

        what = "have a value" if self.protects else "hold a key"
        return {
            "": pairs_within(self.mechanism, people, holders=len(self.mechanism.keys), what=what, confidence=confidence)
        }

    def parts(self) -> list[Part]:
        return [Part("keys", self.mechanism), Part("values", self.mechanism.value)]

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "method": made.provenance.method,
            "epsilon": made.epsilon,
            "missing": "protected" if self.protects else None,
            "keys": len(made.keys),
            "padding": made.padding,
            "value_method": made.value.provenance.method,
            "value_epsilon": made.value.epsilon,
            "own_shown": made.own_shown,
            "other_shown": made.other_shown,
            "max_log_ratio": made.max_log_ratio,
        }


def best_pairs(options: DesignOptions) -> tuple[Callable[[float], KeyValueMechanism], list[str]]:
    """Return what makes the best mechanism of a budget, as was asked for, and what is to be said of the data."""
    # A row without a key, or without a value, is a user who holds no pair.
    keys, notes = read_categorical_prior(
        options.data, options.column, options.prior_file, drop_missing=True, public=options.public
    )
    # Levels that are protected are told by the form: a place for each key multiplies what each place tells.
    form = options.method or ("unary" if options.budgets.level_epsilon is None else "grr")
    if form not in ("unary", "grr"):
        raise InputError(f"--method must be unary or grr for pairs, got {form!r}")
    prior, of_values = options.prior(options.value_column)
    padding = 1 if options.padding is None else options.padding
    best = _best_split(options, prior, keys.categories, unary=form == "unary", padding=padding)
    return best, [*notes, *(note for note in of_values if note != SENSITIVE)]


def _best_protected(options: DesignOptions) -> tuple[Callable[[float], KeyValueMechanism], list[str]]:
    """Return what makes the best mechanism for a value or none: randomised response between two keys."""
    from ....estimators.reading.columns.number_cells import read_sparse_column

    prior, notes = options.prior(None)
    column, share = options.column or "value", 0.5
    if options.data is not None and options.column is not None:
        share = float(np.mean(~np.isnan(read_sparse_column(options.data, options.column))))
    if column == NO_VALUE:
        raise InputError(f"the column must not be called {NO_VALUE!r}, the name of those without a value: rename it")
    best = _best_split(options, prior, [column, NO_VALUE], unary=False, padding=0, frequency=share)
    return best, [*notes, "note: those without a value report like all others: perturb needs no --drop-missing"]


def _best_split(
    options: DesignOptions, prior: Prior, keys: Categories | Sequence[object], **asked: Any
) -> Callable[[float], KeyValueMechanism]:
    """Return what splits a budget between keys and values so that means vary least, with the value tables asked for."""
    from ....mechanisms.key_value import best_key_value
    from ....mechanisms.key_value.choice import VALUE_SHARES
    from ...designs.design import design
    from ...designs.judging import table_alone
    from ...methods.closed_form import ClosedForm
    from ...methods.registry import METHODS, as_method

    values = options.value_method or "duchi"
    if values not in METHODS:
        raise InputError(f"--value-method must be one of {', '.join(METHODS)}, got {values!r}")
    closed = as_method(values)

    def best(budget: float) -> KeyValueMechanism:
        with task_progress("splits of the budget", VALUE_SHARES.size) as update:

            def table(epsilon: float) -> TabulatedMechanism:
                update(f"pairs at epsilon {budget:g}", True)
                if isinstance(closed, ClosedForm):  # what it costs beside the optimum is asked of the best split alone
                    return table_alone(prior, epsilon, closed).without_prior()
                return design(prior, epsilon, method=values).mechanism.without_prior()

            made = best_key_value(keys, table, budget, **asked)
        if not isinstance(closed, ClosedForm):
            return made
        judged = design(prior, made.value.epsilon, method=values).mechanism.without_prior()
        return replace(made, value=judged)

    return best


def method_of_pairs(asked: EstimateOptions) -> str:
    """Return the method that was asked for; InputError for one that pairs do not have."""
    if asked.method == "shrunk":
        raise InputError("--method shrunk is for shares that sum to one, and those of keys need not: use mle")
    return asked.chosen("unbiased", *_FITS)


def fitted_keys(counts: KeyCounts, method: str, confidence: float) -> Found:
    """Return keys and means of a fit, with its certificate."""
    from ....estimators import fit_key_values

    fit = fit_key_values(counts, method=wired("method", _FITS, method))
    facts, columns = split(fit, confidence)
    facts["certificate"] = max(part.certificate for part in fit.fits)
    return found_rows(KEYS_AND_MEANS, facts, columns)
