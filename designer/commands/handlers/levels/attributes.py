"""Several attributes at budgets that users choose: a mean of each, or what reports of one of them tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .....mechanisms.combinators.attribute_sampling import AttributeSampling, attribute_budget
from .....mechanisms.combinators.personalised import PersonalisedReports, require_names_beside_levels
from .....mechanisms.errors import InputError
from .....mechanisms.exactness.verification import verify
from ....levels import Levels as Promise
from ...options.kind import DesignKind
from ..attributes import (
    Attributes,
    attribute_priors,
    attribute_range,
    design_attributes,
    mean_rows,
    named,
    units_of,
)
from ..kind import Designed, Found, Kind, Service
from ..numbers.estimates import require_method
from ..numbers.fits import mean_found
from .levels import Levels, with_shares
from .numbers import fitted
from .report_of_level import designed

if TYPE_CHECKING:
    from ....priors.prior import Prior
    from ...options.designs.design import DesignOptions
    from ..options import EstimateOptions


@dataclass(frozen=True, eq=False)
class LevelsOfAttributes(Levels):
    """Values are the columns that the attributes are named after, and every user has a budget for those drawn."""

    wraps: ClassVar[type[Kind]] = Attributes
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS_OF_ATTRIBUTES,)

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return tables for each attribute and level; as many are sampled at all levels."""
        require_names_beside_levels(attribute_range(text)[0] for text in options.attributes or ())
        priors, notes = attribute_priors(options)
        levels = _each_by_itself(options, priors) if options.leakage is None else _on_common_outputs(options, priors)
        return designed(options, notes, levels, "--leakage bounds it")

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        asked.refuse(
            "for reports of one service that chose their budgets",
            "--key",
            "--keep-first",
            "--allow-disjoint",
            "--rounds",
        )
        asked.refuse("of no use to attributes, which have columns of their own names", "--column")
        asked.refuse("for the plain mean of one table", "--winsorise", "--raw")
        asked.refuse("of no use to levels", "--alike")
        if len(services) > 1:
            raise InputError(
                "levels of attributes are estimated from one service at a time, got several: leave some out"
            )
        require_method(asked, alone=True, rows=asked.attribute is None)
        return self.told_alone(services[0], asked)

    def of_reports(self, reports: PersonalisedReports, many: np.ndarray) -> PersonalisedReports:
        """Counts are by attribute, and levels are those of users: both are counted of reports."""
        return reports

    def to_test(self, counts: PersonalisedReports) -> Sequence[Any]:
        from .....estimators import count

        return [count(self.mechanism, counts)]

    def found(self, counts: PersonalisedReports, asked: EstimateOptions) -> Found:
        from .....estimators import count, personalised_mean
        from .....estimators.personalised.attribute_levels import personalised_attribute_means
        from .....estimators.personalised.estimate import shares_of_reports

        mechanism, method = self.mechanism, asked.chosen("population", "em")
        by_attribute = count(mechanism, counts)
        plain = asked.of in (None, "mean") and method == "population"
        if asked.attribute is None:
            if not plain:
                names = ", ".join(mechanism.levels[0].attributes)
                raise InputError(
                    f"a distribution is one attribute's, got none: choose it by --attribute, one of {names}"
                )
            means = personalised_attribute_means(by_attribute, target=asked.target)
            found = mean_rows(means, asked, units_of(mechanism.levels))
        elif plain:
            mean = personalised_mean(by_attribute[asked.attribute], target=asked.target, drawn_from=counts.levels.size)
            found = named(mean_found(mean, asked, {}), asked.attribute)
        else:
            asked.of_population("an estimated distribution")
            return named(fitted(by_attribute[asked.attribute], mechanism.epsilons, asked), asked.attribute)
        reported = np.bincount(counts.levels, minlength=mechanism.level_report.n_reports)
        return with_shares(found, shares_of_reports(mechanism, reported), asked.confidence)

    def own_facts(self) -> dict[str, Any]:
        levels = self.mechanism.levels
        return {
            "attributes": list(levels[0].attributes),
            "sampled": levels[0].sampled,
            "max_log_ratio": [max(verify(table).max_log_ratio for table in level.mechanisms) for level in levels],
        }


def _each_by_itself(options: DesignOptions, priors: dict[str, Prior]) -> list[AttributeSampling]:
    """Return the best of each level, with as many attributes sampled as is best at the strictest."""
    sampled, levels = options.sampled, []
    for epsilon in options.budgets.epsilons:
        made = design_attributes(options, priors, sampled, epsilon).mechanism
        sampled = made.sampled
        levels.append(made)
    return levels


def _on_common_outputs(options: DesignOptions, priors: dict[str, Prior]) -> list[AttributeSampling]:
    """Return levels of which the reports on k attributes, one by default, tell by no more than was asked for."""
    from ....designs.design import design
    from ....designs.several_attributes import Attributes as AttributesAsked

    assert options.leakage is not None  # the caller asked
    if options.method not in (None, "optimal"):
        raise InputError(f"--leakage is for method optimal, got {options.method!r}: leave one of them out")
    sampled, budgets = 1 if options.sampled is None else options.sampled, options.budgets.epsilons
    asked = AttributesAsked(priors, sampled)
    promise = Promise([attribute_budget(epsilon, sampled) for epsilon in budgets], leakage=options.leakage / sampled)
    tables = {
        name: design(prior, promise, uniform_share=options.uniform_share, tolerance=options.tolerance).mechanism.levels
        for name, prior in asked.priors.items()
    }
    return [
        AttributeSampling.of({name: each[i] for name, each in tables.items()}, sampled, epsilon)
        for i, epsilon in enumerate(budgets)
    ]
