"""What a report may cost: losses by their names, functions of one's own, or numbers in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

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


def read_numbers(path: Path, what: str, names: Iterable[str]) -> np.ndarray:
    """Read a table of numbers without a header; InputError, with what else there is by name, for a file of none.

    Example
    -------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "loss.csv"
    >>> _ = file.write_text("0,1\\n1,0\\n")
    >>> read_numbers(file, "a loss", LOSSES).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    try:
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"{what} must be one of {', '.join(names)}, or a file of numbers without a header, got {str(path)!r}: "
            f"{said:.80}"
        ) from None
