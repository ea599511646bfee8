"""Learned events: what tells two inputs' reports apart, found in their bits by correlation and by a classifier."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from threadpoolctl import threadpool_limits

from .subjects.events import Columns, Family

TOO_FEW = "learned by a classifier: there were too few reports"
NOT_LEARNED = "learned by a classifier: scikit-learn is not installed (pip install scikit-learn)"

PARITIES = "parities of two bits"
LEARNED = "learned by a classifier"
"""Groups of families."""

FEWEST = 100
"""Reports below which nothing is learned but chance."""

MOST_LEARNED_FROM = 30_000
"""Reports that a classifier is trained on."""

PARTS = 64
"""Parts of the score."""

LARGEST = 1e300
"""Larger numbers, infinite ones among them, are one to the classifier; their bytes tell them apart."""

TREES = 25
"""More show less and less, and take longer."""


def can_learn() -> bool:
    """Return whether scikit-learn is installed."""
    try:
        return find_spec("sklearn") is not None
    except ValueError:  # what stands in its place is no module
        return False


def learned_family(columns: Columns, which: np.ndarray) -> Family | None:
    """Return a family of a classifier's scores, trained on these reports of two inputs; None for too few reports.

    Parameters
    ----------
    columns : Columns
        Of N reports.
    which : (N,) ndarray
        0 or 1, the input of each.
    """
    if which.size < FEWEST or np.unique(which).size < 2:
        return None
    from sklearn.ensemble import HistGradientBoostingClassifier

    some = {name: values[:MOST_LEARNED_FROM] for name, values in columns.items()}
    model = HistGradientBoostingClassifier(learning_rate=0.2, max_iter=TREES, max_leaf_nodes=16, random_state=0)
    model.set_params(early_stopping=False)
    with threadpool_limits(1):  # threads that wait for each other cost more than they save
        taught = bytes_of(some)
        taught[:, np.isnan(taught).all(axis=0)] = 0.0  # scikit-learn 1.9 fails where a column has no number at all
        model.fit(taught, which[:MOST_LEARNED_FROM])

    def codes(given: Columns) -> np.ndarray:
        with threadpool_limits(1):
            score = model.predict_proba(bytes_of(given))[:, 1]
        return np.floor(score * PARTS).astype(np.int64)

    return Family(LEARNED, f"a classifier's score of the raw bytes, in {PARTS} parts", codes, ordered=True).fitted(
        columns
    )


def parity_families(columns: Columns, which: np.ndarray) -> list[Family]:
    """Return, for each column of numbers, the family of the two bits whose parity tells most of the input.

    Correlations of all 2016 parities with the input, by one matrix product.

    Parameters
    ----------
    columns : Columns
        Of N reports.
    which : (N,) ndarray
        0 or 1, the input of each.

    Example
    -------
    >>> rng = np.random.default_rng(1)
    >>> which, raw = rng.integers(0, 2, 2000), rng.integers(0, 2**50, 2000)
    >>> raw += (which ^ (raw >> 7 & 1)) << 50
    >>> parity_families({"report": raw.view(np.float64)}, which)[0].name
    'bits 7 and 50 of report together'
    """
    found = []
    sides = (1 - 2 * which.astype(np.float32))[:, None]
    for name, values in columns.items():
        if np.issubdtype(values.dtype, np.floating) and values.size:
            raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
            signs = 1 - 2 * np.unpackbits(raw, axis=1, bitorder="little").astype(np.float32)
            signs -= signs.mean(axis=0)
            # A feature that never changes would divide zero by zero: its correlation is none.
            size = signs.std(axis=0) + 1e-9
            correlation = np.abs(np.triu(signs.T @ (signs * sides) / np.outer(size, size), 1))
            found.append(_parity(name, *map(int, np.unravel_index(np.argmax(correlation), correlation.shape))))
    return found


def _parity(name: str, one: int, other: int) -> Family:
    def codes(columns: Columns) -> np.ndarray:
        bits = columns[name].view(np.int64)
        return ((bits >> one) ^ (bits >> other)) & 1

    return Family(PARITIES, f"bits {one} and {other} of {name} together", codes)


def bytes_of(columns: Columns) -> np.ndarray:
    """Return (N, F) bytes of every column, and the columns themselves, as doubles.

    Example
    -------
    >>> bytes_of({"report": np.array([1.0, -2.0])})[:, -2:].tolist()
    [[63.0, 1.0], [192.0, -2.0]]
    """
    found = []
    for values in columns.values():
        if np.issubdtype(values.dtype, np.floating):
            found.append(np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8))
        else:
            found.append((values & 255)[:, None])
        found.append(np.clip(values, -LARGEST, LARGEST).astype(np.float64)[:, None])
    return np.hstack(found)
