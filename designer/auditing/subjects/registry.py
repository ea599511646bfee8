"""Which kind of inputs and reports a mechanism has, and how it draws itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from ....mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    InputError,
    PersonalisedMechanism,
    TabulatedMechanism,
)
from ....mechanisms.budget import check_epsilon
from ....mechanisms.compact_tables.floor_and_windows import FloorForm, expanded
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.features import Features
from ....mechanisms.key_value import KeyValueMechanism
from ....mechanisms.over_time import Directions, Tree
from ....mechanisms.over_time.way import Way
from ....mechanisms.promise import Approximate
from .attributes import AttributeKind, rows_to_try
from .categories import category_kind
from .features import FeatureKind, records_to_try
from .inputs import values_to_try
from .levels import LevelKind, levels_to_try
from .numbers import Numbers
from .pairs import PairKind, sets_to_try
from .subject import Kind

Draw = Callable[..., object]
"""What the mechanism's own `sample` takes in and gives out; `sample_sets` for pairs."""


def kind_of(
    mechanism: TabulatedMechanism | Bundle, epsilon: float | None, rng: np.random.Generator, *, outside: bool = False
) -> Kind:
    """Return the kind of inputs and reports of a mechanism.

    Parameters
    ----------
    mechanism : table or bundle
    epsilon : float, optional
        A claim in place of its own; levels have claims of their own and take none.
    rng : numpy.random.Generator
        Chooses places between knots.
    outside : bool
        Try values outside a table's domain too.

    Raises
    ------
    InputError
        A kind that cannot be audited; a claim or values that it has no use for.
    """
    mechanism = expanded(mechanism)
    return _kind(mechanism, epsilon, rng, outside)


@singledispatch
def _kind(mechanism: Any, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    raise InputError(f"a table or a bundle is needed to audit a sampler of it, got {mechanism!r:.60}")


@_kind.register
def _(mechanism: PersonalisedMechanism, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    _require_inside(outside)
    if epsilon is not None:
        raise InputError("every level has a claim of its own: leave epsilon out")
    tried = levels_to_try(mechanism).tolist()
    first = _kind(mechanism.levels[tried[0]], None, rng, False)
    return LevelKind(mechanism, [first.at(mechanism.levels[level], mechanism.epsilons[level]) for level in tried])


@_kind.register
def _(mechanism: TabulatedMechanism, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    if isinstance(mechanism.promise, Approximate):
        raise InputError(
            f"an audit bounds log-ratios from below, which a promise of {mechanism.promise} does not bound: "
            "use verify, which proves it"
        )
    _require_one_claim(mechanism, epsilon)
    return Numbers(mechanism, _claim(mechanism, epsilon), values_to_try(mechanism, rng, outside=outside))


@_kind.register
def _(mechanism: CategoricalMechanism, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    _require_inside(outside)
    _require_one_claim(mechanism, epsilon)
    return category_kind(mechanism, _claim(mechanism, epsilon))


@_kind.register
def _(mechanism: KeyValueMechanism, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    _require_inside(outside)
    return PairKind(mechanism, _claim(mechanism, epsilon), sets_to_try(mechanism, rng))


@_kind.register
def _(mechanism: AttributeSampling, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    _require_inside(outside)
    return AttributeKind(mechanism, _claim(mechanism, epsilon), rows_to_try(mechanism, rng))


@_kind.register
def _(mechanism: Features, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    _require_inside(outside)
    return FeatureKind(mechanism, _claim(mechanism, epsilon), records_to_try(mechanism, rng))


@_kind.register
def _(mechanism: Way, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    return _kind(mechanism.mechanism, epsilon, rng, outside)  # of one report: turns depend on no value


@_kind.register
def _(mechanism: Directions, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    raise InputError("an audit counts reports that come again, got directions of a seed for each: verify it")


@_kind.register
def _(mechanism: Tree, epsilon: float | None, rng: np.random.Generator, outside: bool) -> Kind:
    return _kind(mechanism.table, epsilon, rng, outside)  # of one value; signs of changes have an audit over time


def _require_inside(outside: bool) -> None:
    if outside:
        raise InputError("values outside the domain are for tables of numbers alone: leave them out")


def _require_one_claim(mechanism: Any, epsilon: float | None) -> None:
    if epsilon is not None and mechanism.promise.carries_budgets:
        raise InputError(f"{mechanism.promise} has claims of its own for each pair of values: leave epsilon out")


def _claim(mechanism: Any, epsilon: float | None) -> float:
    return mechanism.epsilon if epsilon is None else check_epsilon(epsilon)


@singledispatch
def sampler_of(mechanism: Any, rng: np.random.Generator | None = None) -> Draw:
    """Return the mechanism's own way to draw: by the operating system's generator, or as a simulation.

    Example
    -------
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> sampler_of(categorical_grr(["a", "b"], 1.0))(["a"]).shape
    (1,)
    """
    raise InputError(f"a table or a bundle is needed to draw from, got {mechanism!r:.60}")


@sampler_of.register(TabulatedMechanism)
@sampler_of.register(FloorForm)
@sampler_of.register(CategoricalMechanism)
@sampler_of.register(AttributeSampling)
@sampler_of.register(Features)
def _(mechanism: Any, rng: np.random.Generator | None = None) -> Draw:
    return lambda values: mechanism.sample(values, rng)


@sampler_of.register
def _(mechanism: Way, rng: np.random.Generator | None = None) -> Draw:
    if mechanism.mechanism is mechanism:
        raise InputError(f"audits are for mechanisms of which a value's reports come again, got {mechanism!r:.60}")
    return sampler_of(mechanism.mechanism, rng)


@sampler_of.register
def _(mechanism: KeyValueMechanism, rng: np.random.Generator | None = None) -> Draw:
    return lambda users, keys, values, n_users: mechanism.sample_sets(users, keys, values, n_users, rng)


@sampler_of.register
def _(mechanism: PersonalisedMechanism, rng: np.random.Generator | None = None) -> Draw:
    return lambda *given: mechanism.sample(_values_of(mechanism.levels[0], *given[:-1]), given[-1], rng)


@singledispatch
def _values_of(level: Any, *given: Any) -> Any:
    """Return values as the space of a level takes them, from what is tried of a mechanism of its kind."""
    return given[0]


@_values_of.register
def _(level: KeyValueMechanism, *given: Any) -> Any:
    return level.inputs.of_sets(*given)
