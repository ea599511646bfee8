"""Which kind of inputs and reports a mechanism has, and how it draws itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    InputError,
    PersonalisedMechanism,
    TabulatedMechanism,
)
from ....mechanisms.budget import check_epsilon
from ....mechanisms.composed import PersonalisedAttributes, PersonalisedPairs
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.floors.form import FloorForm, expanded
from ....mechanisms.key_value import KeyValueMechanism
from ....mechanisms.promise import Approximate
from .attributes import AttributeKind
from .categories import CategoryKind
from .inputs import values_to_try
from .levels import LevelKind
from .numbers import Numbers
from .pairs import PairKind
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
    if outside and not isinstance(mechanism, TabulatedMechanism):
        raise InputError("values outside the domain are for tables of numbers alone: leave them out")
    if isinstance(mechanism, PersonalisedMechanism | PersonalisedPairs | PersonalisedAttributes):
        if epsilon is not None:
            raise InputError("every level has a claim of its own: leave epsilon out")
        return LevelKind(mechanism, rng)
    claim = None if epsilon is None else check_epsilon(epsilon)
    if isinstance(mechanism, TabulatedMechanism):
        if isinstance(mechanism.promise, Approximate):
            raise InputError(
                f"an audit bounds log-ratios from below, which a promise of {mechanism.promise} does not bound: "
                "use verify, which proves it"
            )
        return Numbers(mechanism, claim or mechanism.epsilon, values_to_try(mechanism, rng, outside=outside))
    if isinstance(mechanism, CategoricalMechanism):
        return CategoryKind(mechanism, claim or mechanism.epsilon)
    if isinstance(mechanism, KeyValueMechanism):
        return PairKind(mechanism, claim or mechanism.epsilon, rng)
    if isinstance(mechanism, AttributeSampling):
        return AttributeKind(mechanism, claim or mechanism.epsilon, rng)
    raise InputError(f"a table or a bundle is needed to audit a sampler of it, got {mechanism!r:.60}")


def sampler_of(mechanism: TabulatedMechanism | Bundle, rng: np.random.Generator | None = None) -> Draw:
    """Return the mechanism's own way to draw: by the operating system's generator, or as a simulation.

    Example
    -------
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> sampler_of(categorical_grr(["a", "b"], 1.0))(["a"]).shape
    (1,)
    """
    if isinstance(mechanism, KeyValueMechanism):
        return lambda users, keys, values, n_users: mechanism.sample_sets(users, keys, values, n_users, rng)
    if isinstance(mechanism, PersonalisedMechanism | PersonalisedAttributes):
        return lambda values, levels: mechanism.sample(values, levels, rng)
    if isinstance(mechanism, PersonalisedPairs):
        return lambda users, keys, values, n_users, levels: mechanism.sample_sets(users, keys, values, levels, rng)
    if isinstance(mechanism, TabulatedMechanism | FloorForm | CategoricalMechanism | AttributeSampling):
        return lambda values: mechanism.sample(values, rng)
    raise InputError(f"a table or a bundle is needed to draw from, got {mechanism!r:.60}")
