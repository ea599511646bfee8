"""The prior over categories: from a column of labels, or from pairs of value and weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...estimators.data.cells import missing_message
from ...estimators.data.files import FilePath
from ...estimators.data.texts import missing_texts, read_labels, read_texts
from ...mechanisms.categorical.categories import Categories
from ...mechanisms.errors import InputError


@dataclass(frozen=True, eq=False)
class CategoricalPrior:
    """Categories and how frequent each is believed to be.

    Parameters
    ----------
    categories : Categories
        K of them.
    weights : (K,) ndarray
        Non-negative, with sum one.
    """

    categories: Categories
    weights: np.ndarray

    @classmethod
    def from_labels(cls, labels: np.ndarray) -> CategoricalPrior:
        """Return the categories that occur, in the order of their text, and their shares.

        Example
        -------
        >>> prior = CategoricalPrior.from_labels(np.array(["b", "a", "b", "b"]))
        >>> prior.categories.labels, prior.weights
        (('a', 'b'), array([0.25, 0.75]))
        """
        names, counts = np.unique(labels, return_counts=True)
        return cls(Categories(names.tolist()), counts / counts.sum())

    @classmethod
    def from_column(cls, path: FilePath, column: str, *, drop_missing: bool = False) -> CategoricalPrior:
        """Return the prior of a file's column; InputError as `read_labels`, or for one category alone."""
        return cls.from_labels(read_labels(path, column, drop_missing=drop_missing))

    @classmethod
    def from_pairs_file(cls, path: FilePath) -> CategoricalPrior:
        """Return the prior of a file's columns ``value`` (labels) and ``weight`` (numbers of positive sum).

        Raises InputError for missing cells, repeated labels, or weights that are no weights.
        """
        labels, texts = read_texts(path, ["value", "weight"])
        for name, column in (("value", labels), ("weight", texts)):
            missing = missing_texts(column)
            if missing.any():
                where = f"column {name!r} of {str(path)!r}"
                raise InputError(missing_message(where, int(missing.sum()), int(np.argmax(missing)) + 1))
        weights = np.array([_weight(text, row, path) for row, text in enumerate(texts, 1)])
        if not 0 < weights.sum() < np.inf:
            raise InputError(f"weights of {str(path)!r} must have a positive sum, got {weights.sum():g}")
        return cls(Categories(labels.tolist()), weights / weights.sum())


def _weight(text: str, row: int, path: FilePath) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value < np.inf:
        raise InputError(f"weights of {str(path)!r} must be non-negative numbers, got {text!r:.40} in row {row}")
    return value
