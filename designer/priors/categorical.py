"""The prior over categories: from a column of labels, or from pairs of value and weight.

Readers of files are imported where they are called: they take duckdb with them, and every design this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError
from ...mechanisms.spaces.categories import Categories
from ...mechanisms.spaces.places import COLUMNS, Places

if TYPE_CHECKING:
    from ...estimators.reading.columns.files import FilePath


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalPrior(Shown):
    """Categories, or places of the plane, and the assumed frequency of each.

    Parameters
    ----------
    categories : Categories or sequence
        K of them; `Places` are points of the plane.
    weights : (K,) array_like
        Non-negative, with a positive sum; divided by it.

    Raises
    ------
    InputError
        Categories or weights that are not usable.

    Example
    -------
    >>> from optldp import CategoricalPrior
    >>> CategoricalPrior(["a", "b"], [3, 1]).weights
    array([0.75, 0.25])
    """

    categories: Categories
    weights: np.ndarray

    if TYPE_CHECKING:  # what may be handed in is wider than what is kept

        def __init__(self, categories: Categories | Sequence[object], weights: ArrayLike) -> None: ...

    def _line(self) -> dict[str, Any]:
        most = int(np.argmax(self.weights))
        largest = f"{self.categories.labels[most]}: {self.weights[most]:.4g}"
        return {"categories": len(self.categories), "largest": largest}

    def _told(self) -> Told:
        order = np.argsort(-self.weights, kind="stable")
        names, weights = [self.categories.labels[k] for k in order], self.weights[order]
        return Told(self._line(), {"category": names, "weight": weights}, Dots(names, weights, "weight"))

    def _columns(self) -> dict[str, Any]:
        return {"category": self.categories.labels, "weight": self.weights}

    def __post_init__(self) -> None:
        names = Categories.of(self.categories)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(names),):
            raise InputError(f"a prior needs one weight for each of {len(names)} categories, got shape {weights.shape}")
        if not (np.isfinite(weights).all() and (weights >= 0).all() and 0 < weights.sum() < np.inf):
            raise InputError(
                f"weights of a prior must be finite and non-negative with a positive sum, got a least of "
                f"{weights.min()} and a sum of {weights.sum()}"
            )
        weights = weights / weights.sum()
        weights.flags.writeable = False
        object.__setattr__(self, "categories", names)
        object.__setattr__(self, "weights", weights)

    def mixed(self, share: float) -> CategoricalPrior:
        """(1 - share) of this prior and share spread evenly over the categories; `share` in [0, 1]."""
        if not 0.0 <= share <= 1.0:
            raise InputError(f"the uniform share must lie in [0, 1], got {share!r}")
        return CategoricalPrior(self.categories, (1.0 - share) * self.weights + share / len(self.categories))

    def among(self, categories: Categories) -> CategoricalPrior:
        """Return the same weights over a mechanism's categories; InputError for one of positive weight that it lacks.

        Example
        -------
        >>> from optldp import CategoricalPrior
        >>> from optldp.mechanisms import Categories
        >>> CategoricalPrior(["b", "a"], [3, 1]).among(Categories(["a", "b", "c"])).weights
        array([0.25, 0.75, 0.  ])
        """
        held = self.weights > 0
        weights = np.zeros(len(categories))
        weights[categories.codes(np.array(self.categories.labels, dtype=object)[held])] = self.weights[held]
        return CategoricalPrior(categories, weights)

    @classmethod
    def from_labels(cls, labels: np.ndarray) -> CategoricalPrior:
        """Return the categories that occur, in the order of their text, and their shares.

        Example
        -------
        >>> import numpy as np
        >>> from optldp import CategoricalPrior
        >>> prior = CategoricalPrior.from_labels(np.array(["b", "a", "b", "b"]))
        >>> prior.categories.labels, prior.weights
        (('a', 'b'), array([0.25, 0.75]))
        """
        names, counts = np.unique(labels, return_counts=True)
        return cls(Categories(names.tolist()), counts / counts.sum())

    @classmethod
    def from_column(cls, path: FilePath, column: str, *, drop_missing: bool = False) -> CategoricalPrior:
        """Return the prior of a file's column; InputError as `read_labels`, or for one category alone."""
        from ...estimators.reading.columns.texts import read_labels

        return cls.from_labels(read_labels(path, column, drop_missing=drop_missing))

    @classmethod
    def from_pairs_file(cls, path: FilePath) -> CategoricalPrior:
        """Return the prior of a file's columns ``value`` (labels) and ``weight`` (numbers of positive sum).

        Raises InputError for missing cells, repeated labels, or weights that are no weights.
        """
        from ...estimators.reading.columns.cells import missing_message
        from ...estimators.reading.columns.texts import missing_texts, read_texts

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

    @classmethod
    def from_places_file(cls, path: FilePath) -> CategoricalPrior:
        """Return the prior of places of a file's columns ``x``, ``y`` and ``weight``.

        Raises InputError for missing cells, places that come twice, or weights that are no weights.
        """
        from ...estimators.reading.columns.number_cells import read_column

        x, y, weights = (read_column(path, name) for name in (*COLUMNS, "weight"))
        return cls(Places(np.column_stack([x, y])), weights)


def _weight(text: str, row: int, path: FilePath) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value < np.inf:
        raise InputError(f"weights of {str(path)!r} must be non-negative numbers, got {text!r:.40} in row {row}")
    return value
