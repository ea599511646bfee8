"""The only reports that there may be, or how many, as the command line says them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .....mechanisms.errors import InputError
from ....objectives.at_most import AtMost

MOST = 10_000
"""Outputs at equal steps: a table of one number for each of them and each value is large enough."""


def given_outputs(text: str) -> np.ndarray | AtMost:
    """Return the outputs of LO:HI:STEP, both ends among them, or of a file; of a number, or bits:NUMBER, how many.

    Raises
    ------
    InputError
        None of these; steps that do not lead from LO to HI, or too many of them; fewer than two outputs.

    Example
    -------
    >>> given_outputs("-1:1:0.5")
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    >>> given_outputs("16"), given_outputs("bits:4")
    (AtMost(outputs=16), AtMost(outputs=16))
    """
    kind, told, number = text.rpartition(":")
    if kind in ("", "bits") and number.isdecimal():
        return AtMost.bits(int(number)) if told else AtMost(int(number))
    try:
        low, high, step = map(float, text.split(":"))
    except ValueError:
        return _in_file(Path(text))
    steps = (high - low) / step if step > 0 and low < high else np.nan
    # 0:1:0.1 is 10 steps but for the last digit of 0.1.
    if not (np.isfinite(steps) and steps <= MOST and abs(steps - round(steps)) <= 1e-9 * steps):
        raise InputError(f"--outputs must be LO:HI:STEP with steps from LO to HI, at most {MOST:,}, got {text!r}")
    return np.linspace(low, high, round(steps) + 1)


def _in_file(path: Path) -> np.ndarray:
    from .....estimators.reading.columns.number_cells import read_column

    if not path.exists():
        raise InputError(
            f"--outputs must be LO:HI:STEP such as 0:1:0.025, a file, or how many: 16 or bits:4, got {str(path)!r}"
        )
    return np.unique(read_column(path, "output"))
