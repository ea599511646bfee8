"""A name that is listed and nothing works by: what tests add to lists of methods."""

from typing import Any, Literal, get_args

NEW = "newest"


def extended(names: Any) -> Any:
    """Return a list of names, whether a tuple, a mapping or a Literal, with one more."""
    if isinstance(names, tuple):
        return (*names, NEW)
    if isinstance(names, dict):
        return names | {NEW: next(iter(names.values()))}
    return Literal[(*get_args(names), NEW)]
