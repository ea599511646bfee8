"""Learned events: a classifier of raw bytes says from which of two inputs a report came; its score sorts reports."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from .audit_events import Columns, Family

NOT_LEARNED = 'events learned by a classifier: scikit-learn is not installed (pip install "optldp[audit]")'

FEWEST = 1000
"""Reports below which nothing is learned but chance."""

MOST_LEARNED_FROM = 40_000
"""Reports that a classifier is trained on."""

PARTS = 64
"""Parts of the score."""

LARGEST = 1e300
"""Larger numbers, infinite ones among them, are one to the classifier; their bytes tell them apart."""

STEPS = 60
"""Trees: more show less and less, and take longer."""


def can_learn() -> bool:
    """Return whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


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

    some = slice(0, MOST_LEARNED_FROM)
    features = bytes_of(columns)
    model = HistGradientBoostingClassifier(max_iter=STEPS, max_leaf_nodes=15, early_stopping=False, random_state=0)
    model.fit(features[some], which[some])

    def codes(given: Columns) -> np.ndarray:
        score = model.predict_proba(bytes_of(given))[:, 1]
        return np.floor(score * PARTS).astype(np.int64)

    return Family(f"a classifier's score of the raw bytes, in {PARTS} parts,", codes, ordered=True).fitted(columns)


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
