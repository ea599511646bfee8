"""Key-value reports as text: "place:output", several joined by ";", and "-" where nothing is shown."""

from collections.abc import Sequence

import numpy as np

from ..errors import InputError

NOTHING = "-"


def text_of_shown(report: np.ndarray, place: np.ndarray, output: np.ndarray, n_reports: int) -> list[str]:
    """Return the text of each of N reports from all that they show, reports in rising order.

    Example
    -------
    >>> text_of_shown(np.array([0, 0, 2]), np.array([1, 4, 0]), np.array([7, 8, 9]), 3)
    ['1:7;4:8', '-', '0:9']
    """
    pieces = [f"{k}:{o}" for k, o in zip(place.tolist(), output.tolist(), strict=True)]
    ends = np.cumsum(np.bincount(report, minlength=n_reports)).tolist()
    return [";".join(pieces[first:last]) or NOTHING for first, last in zip([0, *ends], ends, strict=False)]


def shown_of_text(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the report, the place and the output of all that is shown, three (S,) int64 arrays.

    Raises InputError at the first text that is no report.

    Example
    -------
    >>> shown_of_text(["1:7;4:8", "-", "0:9"])
    (array([0, 0, 2]), array([1, 4, 0]), array([7, 8, 9]))
    """
    pieces = [[] if text == NOTHING else text.split(";") for text in texts]
    report = np.repeat(np.arange(len(texts)), [len(parts) for parts in pieces])
    pairs = [part.split(":") for parts in pieces for part in parts]
    wrong = next((i for i, pair in enumerate(pairs) if len(pair) != 2 or not all(map(_is_number, pair))), None)
    if wrong is not None:
        row = int(report[wrong])
        raise InputError(
            f'reports must be "place:output" joined by ";", or "-", got {texts[row]!r:.40} in row {row + 1}'
        )
    numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return report, numbers[:, 0], numbers[:, 1]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
