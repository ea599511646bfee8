"""The only reports that there may be, as the command line says them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ....mechanisms.errors import InputError

MOST = 10_000
"""Outputs at equal steps: a table of one number for each of them and each value is large enough."""


def given_outputs(text: str) -> np.ndarray:
    """Return the outputs that LO:HI:STEP says, both ends among them, or the column output of a file.

    Raises
    ------
    InputError
        Neither; steps that do not lead from LO to HI, or too many of them.

    Example
    -------
    >>> given_outputs("-1:1:0.5")
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    """
    try:
        low, high, step = map(float, text.split(":"))
    except ValueError:
        return _in_file(Path(text))
    steps = (high - low) / step if step > 0 and low < high else np.nan
    if not (np.isfinite(steps) and steps <= MOST and abs(steps - round(steps)) <= 1e-9 * steps):
        raise InputError(f"--outputs must be LO:HI:STEP with steps from LO to HI, at most {MOST:,}, got {text!r}")
    return np.linspace(low, high, round(steps) + 1)


def _in_file(path: Path) -> np.ndarray:
    from ....estimators.data.numbers import read_column

    if not path.exists():
        raise InputError(f"--outputs must be LO:HI:STEP such as 0:1:0.025, or a file, got {str(path)!r}")
    return np.unique(read_column(path, "output"))
