"""What one report of several columns costs beside what else could be done with the same budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from ....mechanisms.errors import InputError
from .attributes import attribute_range
from .features import features_design, groups_held, survey, table_held

if TYPE_CHECKING:
    from pathlib import Path

    from ....mechanisms.features import Features
    from ...features import FeaturesDesign
    from ..options.designs.features import FeaturesOptions

GROUP_WAYS: Mapping[str, Literal["signs", "sets"]] = {"random signs": "signs", "signed sets": "sets"}

ONE = "one feature"
SPLIT = "budget split"
"""Half the budget, or a part, for each column, and the best fit to the products of reports."""


def rivals(
    asked: FeaturesOptions, data: Path, epsilon: float, *, users: int | None, error: float | None, clip: bool,
    drop_missing: bool, public: bool,
) -> tuple[list[dict[str, Any]], list[str]]:  # fmt: skip
    """Return a row for each way to collect what --for asks at a budget, and what there is to say of the survey.

    A row has the method, n times the variance of the number that errs most, and its ratio to the best; of so many
    users the standard error, and for an error the people that it takes.
    """
    if error is not None and not 0 < error < math.inf:
        raise InputError(f"the error must be positive and finite, got {error!r}")
    made, notes = features_design(asked, data, epsilon, users, clip=clip, drop_missing=drop_missing, public=public)
    costs: dict[str, float | FeaturesDesign] = {} if made.target == "group-means" else {ONE: made}
    costs |= _others(asked, data, epsilon, users, clip=clip, drop_missing=drop_missing)
    varied = {name: way if isinstance(way, int | float) else float(way.variances.max()) for name, way in costs.items()}
    best = min(varied.values())
    rows: list[dict[str, Any]] = []
    for method, cost in sorted(varied.items(), key=lambda each: each[1]):
        way = costs[method]
        row: dict[str, Any] = {
            "for": made.target, "epsilon": epsilon, "method": method, "variance_times_n": cost, "ratio": cost / best,
        }  # fmt: skip
        if users is not None:
            row["error"] = math.sqrt(cost / users) if isinstance(way, int | float) else _told_error(way, users)
        if error is not None:
            row["people"] = math.ceil(cost / error**2) if isinstance(way, int | float) else way.people(error)
        rows.append(row)
    return rows, notes


def _told_error(made: FeaturesDesign, users: int) -> float | None:
    """The largest standard error of so many users; None of those who do not tell a group's share from zero."""
    return float(made.std_errors(users).max()) if users >= made.least_people else None


def _others(
    asked: FeaturesOptions, data: Path, epsilon: float, users: int | None, *, clip: bool, drop_missing: bool
) -> Mapping[str, float | FeaturesDesign]:
    """n times the variance of the number that errs most by each other way, or the design that says so."""
    from ...features import design_groups, split_cells, split_groups

    target, told = asked.for_what
    if target == "table":
        columns, shares = table_held(asked, data, drop_missing=drop_missing)
        return {SPLIT: float(split_cells([*map(len, columns.values())], epsilon, shares.ravel()).max())}
    box = dict(map(attribute_range, asked.attributes or ()))
    if target == "group-means":
        held = groups_held(asked, data, box, clip=clip, drop_missing=drop_missing)
        group, given = cast("str", asked.group), (held.column, held.box, epsilon, held.groups, held.values)
        one_report = {
            name: design_groups(group, held.labels, *given, way=way, **told) for name, way in GROUP_WAYS.items()
        }
        return one_report | {SPLIT: float(split_groups(held.groups, held.values, held.box, epsilon, **told).max())}
    from ...features import moments_variance

    pilot = survey(data, box, clip=clip, drop_missing=drop_missing)
    if target == "regression":
        from ...features import design_regression, split_slopes, two_rounds

        assert asked.response is not None  # or it was refused
        blind = cast("Features", design_regression(asked.response, box, epsilon, **told).mechanism)
        rounds = two_rounds(asked.response, box, epsilon, **told)
        # What the first round's own errors add takes people to know, as `users` says.
        later = rounds.two + (0 if users is None else rounds.second / users)
        return {
            "moments, no survey": float(moments_variance(blind, pilot).max()),
            "two rounds, no survey": float(later.max()),
            SPLIT: float(split_slopes(asked.response, box, epsilon, pilot).max()),
        }
    from ...features import design_association, split_variance

    if asked.rank:
        raise InputError("--rank is compared with nothing: leave it out")
    scale = float(pilot.covariance[0, 0] * pilot.covariance[1, 1]) if target == "covariance" else 1.0
    whole = design_association(target, box, epsilon, pilot, clip=math.inf)
    moments = cast("Features", design_association(target, box, epsilon).mechanism)
    return {
        f"{ONE}, nothing cut": float(whole.variances.max()),
        "moments, no survey": float(moments_variance(moments, pilot).max()),
        SPLIT: scale * split_variance(pilot, box, epsilon, **told),
    }
