"""Categorical mechanisms of every kind, and everything there is to know about them, by enumeration."""

import numpy as np
from optldp.mechanisms import CategoricalMechanism
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection


def uneven_table(size: int, seed: int) -> CategoricalTable:
    """Two outputs more than categories, whose probabilities differ by a factor of up to twelve."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(1, 2, (size, size + 2)) + 5 * np.eye(size, size + 2)
    return CategoricalTable.from_probabilities(range(size), rows / rows.sum(axis=1, keepdims=True), 4.0)


FAMILIES = {
    "grr": categorical_grr,
    "rappor": basic_rappor,
    "oue": optimised_unary,
    "olh": local_hashing,
    "subset": subset_selection,
    "table": lambda categories, epsilon: uneven_table(len(categories), round(1000 * epsilon)),
}


def any_mechanism(rng: np.random.Generator) -> CategoricalMechanism:
    """One of the families, of two to seven categories and a budget from 0.1 to 4."""
    family = FAMILIES[rng.choice(list(FAMILIES))]
    return family(range(int(rng.integers(2, 8))), float(np.exp(rng.uniform(np.log(0.1), np.log(4)))))
