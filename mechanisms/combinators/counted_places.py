"""How many numbers estimators hold for each report of a level: what counts of levels cost."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from ..categorical.mechanism import CategoricalMechanism
from ..errors import unwired
from ..key_value.mechanism import KeyValueMechanism
from ..table.table import TabulatedMechanism
from .attribute_sampling import AttributeSampling


def counted_places(levels: Sequence[Any]) -> int:
    """Return the numbers counted for each report of a level: of categories, outputs, or outputs of keys.

    Example
    -------
    >>> from ..categorical.table import categorical_grr
    >>> counted_places([categorical_grr(["a", "b", "c"], epsilon) for epsilon in (1.0, 2.0)])
    3
    """
    return _places(levels[0], levels)


@singledispatch
def _places(first: object, levels: Sequence[Any]) -> int:
    raise unwired("mechanism of a level", first)


@_places.register
def _(first: CategoricalMechanism, levels: Sequence[Any]) -> int:
    return len(first.categories)


@_places.register
def _(first: TabulatedMechanism, levels: Sequence[Any]) -> int:
    return sum(table.low.size for table in levels)


@_places.register
def _(first: KeyValueMechanism, levels: Sequence[Any]) -> int:
    return len(first.keys) * (1 + first.value.low.size)


@_places.register
def _(first: AttributeSampling, levels: Sequence[Any]) -> int:
    return sum(table.low.size for level in levels for table in level.mechanisms)
