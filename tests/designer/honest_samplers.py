"""Mechanisms of every kind with samplers that keep their claims, many of them with nothing to spare."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from optldp.designer.auditing.subjects.registry import Draw, sampler_of
from optldp.mechanisms import (
    FAMILIES,
    AttributeSampling,
    CategoricalMechanism,
    InputError,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.attribute_sampling import attribute_budget
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.exactness.point_outputs import to_points
from optldp.mechanisms.key_value import key_value_response, key_value_unary

EPSILONS = (0.1, 0.3, 1.0, 2.0, 4.0)


def table_of(family: str) -> Callable[[float, int], TabulatedMechanism]:
    """An exact table of this family, of 3 to 41 knots."""

    def build(epsilon: float, size: int) -> TabulatedMechanism:
        made = FAMILIES[family](np.linspace(-1.0, 3.0, size), epsilon)
        try:
            return make_exact(made).mechanism
        except InputError:  # its law within cells differs between rows
            return make_exact(to_points(made)).mechanism

    return build


def labels(many: int) -> list[str]:
    return [f"job {i}" for i in range(many)]


def levels_of(
    family: Callable[..., CategoricalMechanism], level_epsilon: float | None
) -> Callable[[float, int], Bundle]:
    return lambda epsilon, size: PersonalisedMechanism(
        [family(labels(size), share * epsilon) for share in (0.5, 1.0)], level_epsilon
    )


def pair_levels(epsilon: float, size: int) -> Bundle:
    made = (key_value_unary(labels(size), duchi([0.0, 1.0], e), e) for e in (0.5 * epsilon, epsilon))
    return PersonalisedMechanism(list(made), 0.5)


def table_levels(epsilon: float, size: int) -> Bundle:
    tables = [make_exact(piecewise(np.linspace(0.0, 1.0, size), share * epsilon)).mechanism for share in (0.5, 1.0)]
    return PersonalisedMechanism(tables, None)


def attributes(epsilon: float, size: int) -> AttributeSampling:
    budget = attribute_budget(epsilon, 2)
    one, two = (make_exact(family(np.linspace(0.0, 9.0, size), budget)).mechanism for family in (duchi, piecewise))
    return AttributeSampling.of({"age": one, "pay": two, "hours": one}, 2, epsilon)


def attribute_levels(epsilon: float, size: int) -> Bundle:
    return PersonalisedMechanism([attributes(share * epsilon, size) for share in (0.5, 1.0)], 0.5)


HONEST: dict[str, Callable[[float, int], TabulatedMechanism | Bundle]] = {
    **{family: table_of(family) for family in FAMILIES},
    "categories": lambda epsilon, size: categorical_grr(labels(size), epsilon),
    "rappor": lambda epsilon, size: basic_rappor(labels(size), epsilon),
    "oue": lambda epsilon, size: optimised_unary(labels(size), epsilon),
    "olh": lambda epsilon, size: local_hashing(labels(size), epsilon),
    "subset": lambda epsilon, size: subset_selection(labels(size), epsilon),
    "projective-geometry": lambda epsilon, size: projective_geometry(labels(size), epsilon),
    "levels of categories": levels_of(categorical_grr, 0.5),
    "levels of bits, in the clear": levels_of(basic_rappor, None),
    "levels of numbers": table_levels,
    "pairs, unary": lambda epsilon, size: key_value_unary(labels(size), duchi([0.0, 8.0], epsilon), epsilon),
    "pairs, one place": lambda epsilon, size: key_value_response(
        labels(size), duchi([0.0, 4.0, 8.0], epsilon), epsilon, padding=2
    ),
    "levels of pairs": pair_levels,
    "attributes": attributes,
    "levels of attributes": attribute_levels,
}
"""A budget and a size in, a mechanism out."""


def honest_sampler(name: str, seed: int, rng: np.random.Generator) -> tuple[TabulatedMechanism | Bundle, Draw]:
    """A mechanism of this kind, its budget and size by the seed, and its own sampler as a simulation."""
    choice = np.random.default_rng(seed)
    mechanism = HONEST[name](EPSILONS[seed // 7 % len(EPSILONS)], int(choice.integers(3, 42)))
    return mechanism, sampler_of(mechanism, rng)
