"""The values of a categorical attribute: labels, and the numbers that stand for them."""

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..cost import names_cost, require_affordable
from ..errors import InputError
from .space import Space, require_no_clip

MAX_CATEGORIES = 2**20
"""A report's support is looked up in rows of so many entries at most."""


@dataclass(frozen=True)
class Categories(Space):
    """The K values that an attribute may take, in a fixed order.

    Parameters
    ----------
    labels : sequence of str
        At least two, all different, none empty or with a NUL. Numbers become their printed text.

    Raises
    ------
    InputError
        Fewer than two labels, an empty one, one with a NUL, one that comes twice, or too many or too long ones, see
        `allow_large`.

    Example
    -------
    >>> from optldp.mechanisms import Categories
    >>> Categories(["red", "green", "blue"]).codes(["blue", "red"])
    array([2, 0])
    """

    labels: tuple[str, ...]

    def __init__(self, labels: Sequence[object]) -> None:
        names = tuple(map(str, labels))
        if not 2 <= len(names) <= MAX_CATEGORIES:
            raise InputError(f"there must be 2 to {MAX_CATEGORIES} categories, got {len(names)}")
        longest = max(map(len, names))
        what = f"{len(names)} categories, the longest of {longest} characters,"
        require_affordable(what, names_cost(len(names), longest), "use shorter names")
        if "" in names:
            raise InputError(f"categories must not be empty text, got one in row {names.index('') + 1}: name it")
        if any("\0" in name for name in names):  # numpy drops it at the end of a text
            raise InputError("categories must not hold the character NUL, got one: rename it")
        if len(set(names)) < len(names):
            first = next(name for name, many in Counter(names).items() if many > 1)
            raise InputError(f"categories must differ, got {first!r} twice")
        object.__setattr__(self, "labels", names)

    @classmethod
    def of(cls, categories: "Categories | Sequence[object]") -> "Categories":
        """Return categories as they are, or those of these labels."""
        return categories if isinstance(categories, Categories) else cls(categories)

    def __len__(self) -> int:
        return len(self.labels)

    def admitted(self, values: ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Return the positions (N,) of labels, as `codes` does; none can be clipped."""
        require_no_clip("categories", clip=clip)
        return self.codes(values)

    def content(self, value: object) -> bytes:
        """Return a label's position as eight bytes; a number is the label that it prints as."""
        code = self.code(value)
        if code is None:
            raise InputError(f"the value must be one of the {len(self)} categories, got another: correct it")
        return struct.pack("<q", code)

    def of_content(self, content: bytes) -> np.ndarray:
        """Return the position (1,)."""
        return self.checked_codes(list(struct.unpack("<q", content)))

    def code(self, value: object) -> int | None:
        """Return the position of a label, or of what prints so; None if it is none of them."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or str(value) not in self.labels:
            return None
        return self.labels.index(str(value))

    def codes(self, values: ArrayLike) -> np.ndarray:
        """Return the position (N,) of each value among the labels, int64; O(N log K).

        Raises InputError with the number of unknown values and the first of them.
        """
        found = self.locate(values)
        unknown = np.flatnonzero(found < 0)
        if unknown.size:
            first = np.asarray(values).astype(np.str_)[unknown[0]]
            raise InputError(
                f"values must be among the {len(self)} categories, got {unknown.size} that are not, "
                f"the first {str(first)!r} in row {unknown[0] + 1}: correct them, or declare the category"
            )
        return found

    def locate(self, values: ArrayLike) -> np.ndarray:
        """Return what `codes` does, and -1 for values that are no label."""
        given = np.asarray(values)
        if given.ndim != 1:
            raise InputError(f"values must be one-dimensional, got shape {given.shape}")
        if not given.size:
            return np.zeros(0, dtype=np.int64)
        distinct, which = np.unique(given.astype(np.str_), return_inverse=True)
        names, order = self._in_order
        place = np.minimum(np.searchsorted(names, distinct), len(self) - 1)
        return np.where(names[place] == distinct, order[place], -1)[which]

    @cached_property
    def _in_order(self) -> tuple[np.ndarray, np.ndarray]:
        """The labels as they are looked up, sorted, and the place of each among the labels."""
        names = np.array(self.labels)
        order = np.argsort(names)
        return names[order], order

    def checked_codes(self, codes: ArrayLike) -> np.ndarray:
        """Return positions (N,) as int64, or raise InputError for numbers that are no positions."""
        given = np.asarray(codes)
        if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"codes must be one-dimensional integers, got shape {given.shape} of {given.dtype}")
        if given.size and not (given.min() >= 0 and given.max() < len(self)):
            raise InputError(f"codes must lie in 0..{len(self) - 1}, got {int(given.min())} to {int(given.max())}")
        return given.astype(np.int64)
