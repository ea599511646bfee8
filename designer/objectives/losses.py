"""What a report may cost: losses by their names, functions of one's own, or numbers in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError

Losses = str | Callable[[np.ndarray, np.ndarray], ArrayLike] | ArrayLike

LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "absolute": lambda value, output: np.abs(output - value),
    "squared": lambda value, output: (output - value) ** 2,
    "zero-one": lambda value, output: (output != value).astype(float),
}
"""By name, of values (n, 1) and outputs (m,)."""

OF_LABELS = ("zero-one",)
"""Names of those that need no distance."""


def losses_of(asked: Losses, values: np.ndarray, outputs: np.ndarray, *, labels: bool = False) -> np.ndarray:
    """Return what each output costs for each value (n, m); InputError for what is no such number.

    Parameters
    ----------
    asked : str, callable or (n, m) array_like
    values, outputs : (n,), (m,) ndarray
    labels : bool
        Whether values are labels, by their numbers, between which there are no distances.

    Example
    -------
    >>> losses_of("absolute", np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [[0.0, 0.5], [1.0, 0.5]]
    """
    if isinstance(asked, str):
        if asked not in (known := OF_LABELS if labels else tuple(LOSSES)):
            raise InputError(f"a loss must be {', '.join(known)}, or a function or numbers of your own, got {asked!r}")
        return LOSSES[asked](values[:, None], outputs)
    try:
        losses = np.asarray(asked(values[:, None], outputs) if callable(asked) else asked, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"losses must be numbers of values (n, 1) and outputs (m,), got: {error}") from None
    if losses.shape != (values.size, outputs.size) or not np.isfinite(losses).all():
        told = f"shape {losses.shape}" if np.isfinite(losses).all() else "others"
        raise InputError(
            f"losses must be finite, a row for each of {values.size} values and a column for each of {outputs.size} "
            f"outputs, got {told}"
        )
    return losses


def known_or_read(asked: str, names: Mapping[str, object], what: str) -> str | np.ndarray:
    """Return a name that there is, or the numbers of the file of that name; InputError for neither.

    Example
    -------
    >>> known_or_read("absolute", LOSSES, "a loss")
    'absolute'
    """
    if asked in names:
        return asked
    from ...estimators.data.numbers import read_matrix  # with duckdb, which no name waits for

    try:
        return read_matrix(asked)
    except InputError as error:
        raise InputError(f"{what} must be one of {', '.join(names)}, or a file of numbers, got: {error}") from None
