"""What error each frequency oracle makes with each estimator: in closed form, or by parametric bootstrap.

The prior, or a first estimate, stands for the truth. Each repetition draws n clients from it and their reports, and
every estimator is applied to the same ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...estimators.distributions.metrics import jensen_shannon_distance
from ...estimators.distributions.mixture_reduction import THRESHOLD_SDS
from ...estimators.frequencies.category_counts import CategoryCounts
from ...estimators.frequencies.consistency import norm_sub
from ...estimators.frequencies.decoder import frequency_decoder
from ...estimators.frequencies.estimation import estimate_frequencies
from ...estimators.frequencies.frequencies import FrequencyEstimate
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.subset_selection import best_size
from ...mechanisms.statistics import as_supports
from ..designs.design import design
from ..methods.oracles import ORACLES
from ..priors.categorical import CategoricalPrior
from .bootstrap import AdviceRow, Simulated, simulated_row
from .race import Errors

FREQUENCY_ESTIMATORS: dict[str, dict[str, Any]] = {
    "unbiased": {"method": "unbiased"},
    "norm-sub": {"method": "norm-sub"},
    "base-cut": {"method": "base-cut"},
    "iiw": {"method": "iiw"},
    "shrunk": {"method": "shrunk"},
    "em": {"method": "em"},
    "mle": {"method": "mle"},
    "mr": {"method": "mr"},
    "mr-preselect": {"method": "mr", "preselect": THRESHOLD_SDS},
    "mr-prune": {"method": "mr", "operation": "prune"},
}
"""Options of `estimate_frequencies` by name; "mr-preselect" is `--method mr:preselect=2`, "mr-prune" `mr:prune`."""

NO_DISTRIBUTIONS = ("unbiased", "base-cut", "iiw")
"""Those whose estimates may be negative or not add up to one, so that no divergence is defined."""

FEW_SETS = 4096
"""Different reports up to which fits of subset selection take no longer than those of local hashing."""

KNOWN_ORACLES = ("optimal", *ORACLES)


def default_oracles(size: int, epsilon: float) -> tuple[str, ...]:
    """Return the oracles to be tried for so many categories: those that err least, as far as their reports are counted.

    Reports of OUE, and of subset selection for more than some fourteen categories, are nearly all different, so that
    fits of them take long; there OLH errs nearly as little as the latter.

    Example
    -------
    >>> default_oracles(6, 1.0), default_oracles(60, 1.0)
    (('grr', 'olh', 'subset'), ('grr', 'olh'))
    """
    chosen = best_size(size, [math.exp(epsilon)])
    few = size <= FEW_SETS and chosen > 1 and math.comb(size, chosen) <= FEW_SETS
    return ("grr", "olh", "subset") if few else ("grr", "olh")


def as_categorical_prior(prior: CategoricalPrior | FrequencyEstimate) -> CategoricalPrior:
    """Return an estimate as what is known: the distribution nearest to it.

    Example
    -------
    >>> as_categorical_prior(CategoricalPrior("ab", [1, 3])).weights
    array([0.25, 0.75])
    """
    if isinstance(prior, CategoricalPrior):
        return prior
    return CategoricalPrior(prior.categories, norm_sub(prior.value))


def category_rows(
    prior: CategoricalPrior,
    n: int,
    epsilon: float,
    mechanisms: Sequence[str],
    estimators: Sequence[str],
    repetitions: int,
    seed: int,
) -> list[AdviceRow]:
    """Return a row for each oracle and estimator: `mse` is of one frequency, averaged over the categories.

    Parameters
    ----------
    prior : CategoricalPrior
        The truth.
    n : int
        Clients.
    epsilon : float
    mechanisms, estimators : sequence of str
        Out of `KNOWN_ORACLES` and `FREQUENCY_ESTIMATORS`.
    repetitions : int
        At least 2.
    seed : int

    Example
    -------
    >>> rows = category_rows(CategoricalPrior("abc", [5, 3, 2]), 100, 1.0, ["grr"], ["unbiased", "em"], 3, 7)
    >>> [(row.estimator, row.mse.error > 0) for row in rows]
    [('unbiased', False), ('em', True)]
    """
    rows = []
    for name in dict.fromkeys(mechanisms):
        mechanism = oracle(prior, epsilon, name)
        drawn = {other: list[Errors]() for other in dict.fromkeys(estimators) if other != "unbiased"}
        if "unbiased" in estimators:
            rows.append(unbiased_row(name, mechanism, prior.weights, n))
        for repetition in range(repetitions if drawn else 0):
            found = frequency_errors(
                mechanism, prior.weights, n, list(drawn), (seed, repetition, KNOWN_ORACLES.index(name))
            )
            for other, errors in found.items():
                drawn[other].append(errors)
        rows += [simulated_row(name, other, errors) for other, errors in drawn.items()]
    return rows


def oracle(prior: CategoricalPrior, epsilon: float, name: str) -> CategoricalMechanism:
    """Return the mechanism of a name out of `KNOWN_ORACLES`: the certified optimum for the prior, or one without.

    Example
    -------
    >>> oracle(CategoricalPrior("abc", [5, 3, 2]), 1.0, "grr")
    CategoricalTable('grr', epsilon=1, categories=3)
    """
    if name == "optimal":
        return design(prior, epsilon).mechanism
    return ORACLES[name](prior.categories, epsilon)


def draw_counts(
    mechanism: CategoricalMechanism, weights: np.ndarray, n: int, seed: tuple[int, int, int]
) -> CategoryCounts:
    """Return the counted reports of n clients; those of one repetition have the same values whatever the mechanism.

    Parameters
    ----------
    mechanism : CategoricalMechanism
    weights : (K,) ndarray of float
        Probabilities of the categories.
    n : int
    seed : (int, int, int)
        Of all, of the repetition, of the mechanism.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> draw_counts(categorical_grr("abc", 1.0), np.array([0.5, 0.5, 0.0]), 60, (1, 0, 0)).n_users
    60
    """
    root, repetition, number = seed
    values = np.random.default_rng([root, repetition]).multinomial(n, weights)
    rng = np.random.default_rng([root, repetition, 1 + number])  # seeds that differ by zeros at their end are the same
    if as_supports(mechanism.statistic) is not None:
        codes = np.repeat(np.arange(weights.size), values)
        return CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
    reports = mechanism.all_reports()
    table = mechanism.pmf(reports).T
    counts = rng.multinomial(values, table / table.sum(axis=1, keepdims=True)).sum(axis=0)
    return CategoryCounts(mechanism, reports[counts > 0], counts[counts > 0])


def unbiased_row(name: str, mechanism: CategoricalMechanism, weights: np.ndarray, n: int) -> AdviceRow:
    """Return the row of the unbiased estimate: its error is its variance, of noise and of who the clients are.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> unbiased_row("grr", categorical_grr("ab", 1.0), np.array([0.5, 0.5]), 100).mse.error
    0.0
    """
    started = time.perf_counter()
    variances = frequency_decoder(mechanism).variances(weights) + weights * (1.0 - weights)
    mse = Simulated(float(variances.mean()) / n, 0.0)
    return AdviceRow(name, "unbiased", mse, None, None, time.perf_counter() - started)


def frequency_errors(
    mechanism: CategoricalMechanism,
    weights: np.ndarray,
    n: int,
    estimators: Sequence[str],
    seed: tuple[int, int, int],
) -> dict[str, Errors]:
    """Return the errors of estimators of frequencies from the same reports, drawn as `draw_counts` does.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> found = frequency_errors(categorical_grr("abc", 1.0), np.array([0.5, 0.5, 0.0]), 60, ["em"], (1, 0, 0))
    >>> found["em"].jensen_shannon > 0
    True
    """
    counts, found = draw_counts(mechanism, weights, n, seed), dict[str, Errors]()
    plain = estimate_frequencies(counts, method="unbiased").value
    control = float(np.mean((plain - weights) ** 2)) / unbiased_row("", mechanism, weights, n).mse.value - 1.0
    for name in estimators:
        started = time.perf_counter()
        value = estimate_frequencies(counts, **FREQUENCY_ESTIMATORS[name]).value
        seconds = time.perf_counter() - started
        distance = math.nan if name in NO_DISTRIBUTIONS else jensen_shannon_distance(value, weights)
        found[name] = Errors(float(np.mean((value - weights) ** 2)), distance, math.nan, control, seconds)
    return found
