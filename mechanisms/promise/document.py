"""The member `promise` of a file, out of a promise and back; docs/table-format.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import InputError, TableError
from .metric import Metric
from .promise import Promise, Pure
from .registry import PRIVACIES, PURE, promise_class


def promise_to_document(promise: Promise) -> dict[str, Any] | None:
    """Return the member `promise` of a file; None for a pure promise, whose epsilon stands in the file anyway.

    Raises InputError for a class of one's own, which whoever reads the file would not know.

    Example
    -------
    >>> from .promise import Approximate
    >>> promise_to_document(Approximate(1, 1e-6)), promise_to_document(Pure(1))
    ({'kind': 'approximate', 'delta': 1e-06}, None)
    """
    if isinstance(promise, Pure):
        return None
    if promise.kind not in PRIVACIES or promise_class(promise.kind) is not type(promise):
        raise InputError(
            f"a promise must be of a kind that files know to be saved, got {type(promise).__name__}: design for "
            "Ratios(promise.limits(knots)), which says the same"
        )
    return {"kind": promise.kind, **promise.more()}


def promise_from_document(epsilon: float, member: object) -> Promise:
    """Return the promise of a file's epsilon and its member `promise`, or raise TableError or InputError.

    Example
    -------
    >>> promise_from_document(1.0, {"kind": "metric"})
    Metric(epsilon=1.0, distance=None, period=None)
    """
    kind = member.get("kind") if isinstance(member, Mapping) else None
    kinds = [name for name in PRIVACIES if name != PURE]  # of which files say nothing: epsilon alone does
    if not isinstance(member, Mapping) or not isinstance(kind, str) or kind not in kinds:
        raise TableError(f"promise must be an object whose kind is one of {', '.join(kinds)}, got {member!r:.60}")
    made = promise_class(kind)
    said = {name: value for name, value in member.items() if name != "kind"}
    needed = {each.name for each in fields(made) if each.name in made.members and each.default is not None}
    if not needed <= set(said) <= set(made.members):
        raise TableError(f"a promise of kind {kind} must have the keys {', '.join(['kind', *made.members])} only")
    held = {name: made.members[name](value) for name, value in said.items()}
    if not made.carries_budgets:
        return made(epsilon, **held)
    if (promise := made(**held)).epsilon != epsilon:
        raise TableError(f"epsilon must be what its promise of kind {kind} says, {promise.epsilon!r}, got {epsilon!r}")
    return promise


def of_all_pairs(member: Mapping[str, Any]) -> bool:
    """Return whether a table of such a member is proved by all its pairs of rows, and not by each or neighbours alone.

    Example
    -------
    >>> of_all_pairs({"kind": "metric"}), of_all_pairs({"kind": "blocks"})
    (False, True)
    """
    return member.get("kind") != Metric.kind or "distance" in member
