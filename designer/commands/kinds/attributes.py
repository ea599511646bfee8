"""Several attributes: a column of numbers for each, by its name; the same out, empty where one was not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....mechanisms.composed.attributes import AttributeSampling
from ....mechanisms.errors import InputError
from ....mechanisms.exactness.verification import verify
from ..asked.kind import DesignKind
from .bundle import BundleKind, found_rows
from .kind import Designed, Found, Layout, WrittenReports, marked, split

if TYPE_CHECKING:
    from ..asked.design import DesignOptions
    from .asked import EstimateOptions, PerturbOptions


@dataclass(frozen=True, eq=False)
class Attributes(BundleKind[AttributeSampling]):
    """Values are the columns that the attributes are named after; a user reports some of them."""

    of: ClassVar[type] = AttributeSampling
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.ATTRIBUTES,)
    moves: ClassVar[str] = "of n moves the means by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return a table for each attribute, given as NAME=LO:HI, and how many of them a user reports."""
        from ....estimators.data.numbers import read_column
        from ...designs.attributes import Attributes as AttributesAsked
        from ...designs.design import design
        from ...priors.prior import DEFAULT_KNOTS, Prior
        from ..output import share_progress
        from ..prior import SENSITIVE

        if options.data is None:
            raise InputError("the priors must come from DATA, got none: name a CSV or Parquet file")
        priors = {}
        for name, domain in map(attribute_range, options.attributes or ()):
            values = read_column(options.data, name, drop_missing=options.drop_missing)
            source = "public" if options.public else "sensitive"
            count = DEFAULT_KNOTS if options.knot_count is None else options.knot_count
            priors[name] = Prior.from_data(values, knots=count, domain=domain, source=source)
        with share_progress("designing") as update:
            made = design(
                AttributesAsked(priors, "auto" if options.sampled is None else options.sampled),
                options.budgets.epsilons[0],
                method=options.method or "optimal",
                uniform_share=options.uniform_share,
                tolerance=options.precision,
                progress=lambda told: update(f"{told.attribute}, {told.sampled} sampled: gap {told.step.gap:.1e}", 0.0),
            )
        found = made.evidence
        more = {
            "expected_variance": [one.expected_variance for one in found.designs.values()],
            "relative_gap": [one.gap for one in found.designs.values()],
            "predicted_variance_one_user": list(found.predicted_variances(1).values()),
            "rule_of_thumb": found.rule_of_thumb,
        }
        return Designed(made.mechanism, [] if options.public else [SENSITIVE], more)

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from ....estimators.data.numbers import read_column

        asked.only("--clip")
        names = self.mechanism.attributes
        values = {name: read_column(asked.data, name) for name in names}
        clipped = 0
        if asked.clip:
            for name, table in zip(names, self.mechanism.mechanisms, strict=True):
                values[name], moved = table.clip_to_domain(values[name])
                clipped += moved
        return WrittenReports(marked(self.mechanism.sample(values, rng), rng), len(values[names[0]]), clipped)

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

    def found(self, reports: dict[str, np.ndarray], asked: EstimateOptions) -> Found:
        from ....estimators import count, estimate_attribute_means

        method = asked.chosen("unbiased")
        asked.refuse("for levels of budgets", "--level-column")
        facts, columns = split(estimate_attribute_means(count(self.mechanism, reports)), asked.confidence)
        return found_rows("means of the attributes", facts | {"method": method}, columns)

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "method": made.mechanisms[0].provenance.method,
            "epsilon": made.epsilon,
            "attributes": list(made.attributes),
            "sampled": made.sampled,
            "max_log_ratio": [verify(table).max_log_ratio for table in made.mechanisms],
        }

    def influence_times_n(self) -> list[float]:
        """Return that of each attribute's mean."""
        from ....estimators import influence

        return influence(self.mechanism).times_n.tolist()


def attribute_range(text: str) -> tuple[str, tuple[float, float]]:
    """Return the name and the domain that NAME=LO:HI says, or raise InputError.

    Example
    -------
    >>> attribute_range("income=0:200000")
    ('income', (0.0, 200000.0))
    """
    name, _, ends = text.rpartition("=")
    try:
        low, high = map(float, ends.split(":"))
    except ValueError:
        low, high = 0.0, 0.0
    if not (name and low < high):
        raise InputError(f"an attribute must be NAME=LO:HI with LO < HI, got {text!r}")
    return name, (low, high)
