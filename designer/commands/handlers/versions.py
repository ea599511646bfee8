"""`optldp estimate` of several versions of one mechanism for categories, whose users differ or, by a key, need not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.reading.columns import SkippedRows
from ....estimators.reading.columns.rows.skipped_rows import ROWS_NAMED
from ....mechanisms.errors import InputError
from ..output.output import told_of_reports
from .categories import Categories, each_confidence, frequency_table

if TYPE_CHECKING:
    from .kind import Found, Service
    from .options import EstimateOptions

USELESS = (
    "--of", "--plot", "--top", "--cells", "--between", "--above", "--winsorise", "--raw", "--keep-first",
    "--allow-disjoint", "--prior", "--level-column", "--attribute",
)  # fmt: skip
"""Options that are for one table at a time, or for tables of numbers."""


def estimate_versions(services: Sequence[Service], asked: EstimateOptions) -> Found:
    """Return the frequencies of the users of all versions, each estimated by its own law."""
    from ....estimators import estimate_frequencies, influence
    from ....estimators.frequencies.versions import METHOD, join_frequencies, version_weights

    asked.refuse("for one table of categories, or for tables of numbers", *USELESS)
    asked.chosen(METHOD)
    common, users = _common_users(services, asked)
    kinds: list[Categories] = [_of_categories(service) for service in services]
    counts, told = _counted(kinds, services, asked)
    parts = [estimate_frequencies(each, target=asked.target) for each in counts]
    found = join_frequencies(parts, alike=asked.alike, common=common, users=users)
    weights = version_weights(parts, alike=asked.alike, common=common)
    moves = [
        float(weight * influence(kind.mechanism, part).one_report.max())
        for weight, kind, part in zip(weights, kinds, parts, strict=True)
    ]
    more: dict[str, Any] = {
        "one_report": max(moves),
        "versions": [
            {"table": kind.identifier(), "n": part.n, "weight": float(weight)}
            for kind, part, weight in zip(kinds, parts, weights, strict=True)
        ],
    }
    table = frequency_table(found, each_confidence(asked, found.value.size), more)
    said = [f"{kind.identifier()} ({part.n:,} users)" for kind, part in zip(kinds, parts, strict=True)]
    tested = [one for kind, each in zip(kinds, counts, strict=True) for one in kind.to_test(each)]
    return replace(table, facts=table.facts | told, said=table.facts | {"versions": said} | told, counts=tested)


def _common_users(services: Sequence[Service], asked: EstimateOptions) -> tuple[np.ndarray | None, int | None]:
    """Return how many users each two versions have in common and how many there are in all, as far as --key tells."""
    from ....estimators.reading.columns.keyed import users_of_files

    if asked.rounds:
        raise InputError("--rounds is for numbers: versions of categories are joined without it, by --key")
    if asked.counts:
        asked.refuse("for reports, of which counts name no users", "--key")
    if asked.key is None:
        return None, None
    return users_of_files([service.reports for service in services], asked.key)


def _of_categories(service: Service) -> Categories:
    if not isinstance(service.kind, Categories):
        raise InputError(
            f"versions of categories are estimated together, got a table of another kind for {str(service.reports)!r}: "
            "estimate from it by itself"
        )
    return service.kind


def _counted(
    kinds: Sequence[Categories], services: Sequence[Service], asked: EstimateOptions
) -> tuple[list[Any], dict[str, Any]]:
    """Return the counts of each version, and what the files told of their reports."""
    if not asked.counts:
        places = [service.reports.resolve() for service in services]
        if repeated := next((path for path in places if places.count(path) > 1), None):
            raise InputError(
                f"versions must have users of their own, got the reports {repeated.name!r} twice: give each once, or "
                "estimate from it by itself"
            )
        taken = [kind.taken(service, asked) for kind, service in zip(kinds, services, strict=True)]
        marks = {simulated for _, simulated, _ in taken}
        if len(marks) > 1:
            raise InputError("versions must all be of reports in earnest, or all of a simulation, got both: part them")
        told = [told_of_reports(simulated, skipped) for _, simulated, skipped in taken]
        first = [row for each in told for row in each["skipped_first"]]
        left_out = {"skipped": sum(each["skipped"] for each in told), "skipped_first": first[:ROWS_NAMED]}
        return [counts for counts, _, _ in taken], told[0] | left_out
    from .days import answered

    skipped = SkippedRows()

    answers, simulated = answered(asked.counts, [kind.identifier() for kind in kinds])
    if len(answers) != len(kinds):
        raise InputError(
            f"counts that are not by day must be one for each table, in their order, got {len(answers)} for "
            f"{len(kinds)} tables: give --counts for each"
        )
    skip = skipped if asked.skip_invalid else False
    counts = [kind.counted(answer, skip) for kind, answer in zip(kinds, answers, strict=True)]
    return counts, told_of_reports(simulated, skipped)
