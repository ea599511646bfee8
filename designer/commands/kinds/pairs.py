"""Key-value pairs: a column of keys and one of numbers in; what is shown, as place:output, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....mechanisms.errors import InputError
from ....mechanisms.key_value.mechanism import KeyValueMechanism
from ..asked.kind import DesignKind
from .asked import REDUCTION, REPORT_COLUMN
from .bundle import BundleKind, found_rows
from .kind import Designed, Found, Layout, WrittenReports, marked, split

if TYPE_CHECKING:
    from ..asked.design import DesignOptions
    from .asked import EstimateOptions, PerturbOptions


@dataclass(frozen=True, eq=False)
class Pairs(BundleKind[KeyValueMechanism]):
    """A row is a user's pair; a row without both key and value is a user who holds none."""

    of: ClassVar[type] = KeyValueMechanism
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.PAIRS,)
    moves: ClassVar[str] = "of n moves a frequency by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return a mechanism for key-value pairs, whose budget is split so that means of values vary least."""
        from ....mechanisms.key_value import best_key_value
        from ...designs.design import design
        from ...methods.registry import METHODS
        from ..prior import read_categorical_prior

        # A row without a key, or without a value, is a user who holds no pair.
        keys, notes = read_categorical_prior(
            options.data, options.column, options.prior_file, drop_missing=True, public=options.public
        )
        form, values = options.method or "unary", options.value_method or "duchi"
        if form not in ("unary", "grr"):
            raise InputError(f"--method must be unary or grr for pairs, got {form!r}")
        if values not in METHODS:
            raise InputError(f"--value-method must be one of {', '.join(METHODS)}, got {values!r}")
        prior, _ = options.prior(options.value_column)
        made = best_key_value(
            keys.categories,
            lambda epsilon: design(prior, epsilon, method=values).mechanism.without_prior(),
            options.budgets.epsilons[0],
            unary=form == "unary",
            padding=1 if options.padding is None else options.padding,
        )
        return Designed(made, notes)

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from ....estimators.data.numbers import read_sparse_column
        from ....estimators.data.texts import read_texts

        asked.only("--column", "--value-column")
        key_column, value_column = asked.needed("--column"), asked.needed("--value-column")
        (keys,) = read_texts(asked.data, [key_column])
        reports = self.mechanism.sample(keys, read_sparse_column(asked.data, value_column), rng)
        texts = np.array(self.mechanism.to_text(reports), dtype=object)
        return WrittenReports(marked({REPORT_COLUMN: texts}, rng), keys.size)

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout((column,), (False,), lambda cells: self.mechanism.from_text(cells[0].tolist()))

    def found(self, reports: np.ndarray, asked: EstimateOptions) -> Found:
        from ....estimators import count, estimate_key_means, fit_key_values, influence

        mechanism, title = self.mechanism, "keys and the means of their values"
        method = asked.chosen("unbiased", "em", "mr", "mle")
        asked.refuse("for levels of budgets", "--level-column")
        asked.refuse("for numbers and categories", *REDUCTION)
        counts = count(mechanism, reports)
        if method == "unbiased":
            found = estimate_key_means(counts)
            shares = influence(mechanism, "frequencies").times_n / found.n
            facts, columns = split(found, asked.confidence)
            columns["mean_one_report"] = influence(mechanism, found).one_report.tolist()
            return found_rows(title, facts | {"one_report": float(shares.max())}, columns)
        fit = fit_key_values(counts, method="joint" if method == "mle" else method)
        facts, columns = split(fit, asked.confidence)
        facts["certificate"] = max(part.certificate for part in fit.fits)
        return found_rows(title, facts, columns)

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "method": made.provenance.method,
            "epsilon": made.epsilon,
            "keys": len(made.keys),
            "padding": made.padding,
            "value_method": made.value.provenance.method,
            "value_epsilon": made.value.epsilon,
            "own_shown": made.own_shown,
            "other_shown": made.other_shown,
            "max_log_ratio": made.max_log_ratio,
        }
