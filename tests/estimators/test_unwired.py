"""A name that is added to a list of methods, and to nothing else, is refused by it and not answered as another."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np
import pytest
from optldp.estimators import (
    CategoryCounts,
    InputGrid,
    KeyValueCounts,
    ReportCounts,
    estimate,
    estimate_combined_mean,
    estimate_distribution,
    estimate_frequencies,
    estimate_mean,
    fit_key_values,
)
from optldp.estimators.differences.report_numbers import report_numbers
from optldp.estimators.distributions import estimation as of_distributions
from optldp.estimators.distributions import mixture_reduction as reduction
from optldp.estimators.frequencies import estimation as of_frequencies
from optldp.estimators.key_values import fit as of_keys
from optldp.estimators.means import combined
from optldp.estimators.means.decoder import MeanDecoder
from optldp.estimators.methods import DISTRIBUTIONS, FREQUENCIES, KEY_VALUES, DistributionWay, FrequencyWay, KeyValueWay
from optldp.mechanisms import InputError, duchi, make_exact, square_wave
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.key_value import key_value_unary
from optldp.solvers.likelihood import fit as of_mixtures
from optldp.solvers.likelihood.dense import DenseLikelihood

from ..naming import NEW, extended

REFUSAL = f"{NEW!r} is known by name, and nothing here works by it"

TABLE = square_wave(np.linspace(0.0, 1.0, 5), 1.0)
NUMBERS = ReportCounts.from_reports(TABLE, TABLE.sample(np.full(300, 0.25), np.random.default_rng(1)))
LABELS = CategoryCounts.from_reports(categorical_grr("abc", 1.0), np.repeat([0, 1, 2], [50, 30, 20]))
PAIRS = key_value_unary(["a", "b"], make_exact(duchi([0.0, 1.0], 2.0)).mechanism, 2.0)
KEYS = KeyValueCounts.from_reports(PAIRS, PAIRS.sample(["a", "b"] * 50, [0.5] * 100, np.random.default_rng(1)))
MIXED = DenseLikelihood([0.2 * np.eye(8) + 0.1], [40, 30, 10, 10, 10, 10, 10, 10])

Added = tuple[ModuleType, str]
SETTINGS: Mapping[str, Any] = {
    "prior": [0.5, 0.3, 0.2], "certificate": 1e-6, "loglik_change": 1e-2, "threshold": 0.1, "operation": "prune",
    "preselect": 1.0, "least_components": 2, "bic_rise": 1.0,
}  # fmt: skip
"""A value of each setting that some way to frequencies takes."""

CASES: Mapping[str, tuple[list[Added], Callable[[Any], object]]] = {
    "distributions alone": (
        [],
        lambda new: of_distributions.estimate_alone(NUMBERS, new, InputGrid.common([TABLE])),
    ),
    "means": ([(combined, "MEAN_METHODS")], lambda new: estimate_combined_mean(NUMBERS, method=new)),
    "intervals": ([(combined, "IntervalKind")], lambda new: estimate_combined_mean(NUMBERS, interval=new)),
    "targets": ([(estimate, "Target")], lambda new: estimate_mean(NUMBERS, target=new)),
    "rules": ([(reduction, "Rule")], lambda new: reduction.mixture_reduction(MIXED, rule=new)),
    "operations": ([(reduction, "Operation")], lambda new: reduction.mixture_reduction(MIXED, operation=new)),
    "reduced by": ([], lambda new: reduction.mixture_reduction(MIXED, method=new)),
    "decoders": ([], lambda new: MeanDecoder(TABLE, new).decode(TABLE.low[:1])),
    "mixtures": ([(of_mixtures, "ITERATION_LIMIT")], lambda new: of_mixtures.fit_mixture(MIXED, method=new)),
}


@pytest.mark.parametrize("method", FREQUENCIES)
def test_every_registered_way_to_frequencies_is_wired(method):
    """Frequencies of all categories, each in its interval; settings that it takes are taken, others refused."""
    found = estimate_frequencies(LABELS, method=method)
    assert found.method == method
    assert found.value.shape == (3,)
    assert found.value.sum() == pytest.approx(1.0, abs=0.1)
    ends, shares = found.interval(), np.clip(found.value, 0.0, 1.0)
    assert np.all((ends.low <= shares + 1e-9) & (shares <= ends.high + 1e-9))
    for name, value in SETTINGS.items():
        if name in FREQUENCIES[method].settings:
            estimate_frequencies(LABELS, method=method, **{name: value})
        else:
            with pytest.raises(InputError, match=f"{name} is for .*, got method '{method}'"):
                estimate_frequencies(LABELS, method=method, **{name: value})
    if FREQUENCIES[method].of_supports:
        assert np.all(estimate_frequencies(LABELS, method=method, target="users").value == found.value)


OF_NUMBERS: Mapping[str, Any] = {
    "solver": "em", "certificate": 1e-4, "loglik_change": 1e-2, "threshold": 0.1, "rule": "numeric",
    "operation": "prune", "least_components": 2, "bic_rise": 1.0,
}  # fmt: skip
"""A value of each setting that some way to a distribution takes."""


@pytest.mark.parametrize("method", DISTRIBUTIONS)
def test_every_registered_way_to_a_distribution_is_wired(method):
    """Weights that sum to one, the same without errors; settings that it takes are taken, others refused."""
    found, entry = estimate_distribution(NUMBERS, method=method), DISTRIBUTIONS[method]
    assert found.method in (method, entry.same_as, entry.instead)
    assert found.value.sum() == pytest.approx(1.0)
    alone, mean = of_distributions.estimate_alone(NUMBERS, method, InputGrid.common([TABLE]))
    np.testing.assert_allclose(alone, found.value, atol=0.03)
    assert mean == pytest.approx(found.mean().value, abs=0.03)
    for name, value in OF_NUMBERS.items():
        if name in entry.settings:
            estimate_distribution(NUMBERS, method=method, **{name: value})
        else:
            with pytest.raises(InputError, match=f"{name} is for .*, got method '{method}'"):
                estimate_distribution(NUMBERS, method=method, **{name: value})


@pytest.mark.parametrize("method", KEY_VALUES)
def test_every_registered_way_to_keys_and_values_is_wired(method):
    """Shares of keys that half of the users hold each, and the mean that all values have."""
    found = fit_key_values(KEYS, method=method)
    assert found.method == method
    np.testing.assert_allclose(found.frequencies.value, 0.5, atol=0.3)
    np.testing.assert_allclose(found.value, 0.5, atol=0.35)


@pytest.mark.parametrize("module", ["nowhere", "fitted"])
def test_a_way_that_is_not_there_is_refused_by_its_name(module, monkeypatch):
    monkeypatch.setattr(of_frequencies, "FREQUENCIES", {**FREQUENCIES, NEW: FrequencyWay(f"{module}:nothing")})
    monkeypatch.setattr(of_distributions, "DISTRIBUTIONS", {**DISTRIBUTIONS, NEW: DistributionWay(f"{module}:nothing")})
    with pytest.raises(InputError, match=REFUSAL):
        estimate_frequencies(LABELS, method=NEW)
    monkeypatch.setattr(of_keys, "KEY_VALUES", {**KEY_VALUES, NEW: KeyValueWay(f"{module}:nothing", NEW)})
    with pytest.raises(InputError, match=REFUSAL):
        estimate_distribution(NUMBERS, method=NEW)
    with pytest.raises(InputError, match=REFUSAL):
        fit_key_values(KEYS, method=NEW)


@pytest.mark.parametrize("case", CASES)
def test_a_name_that_nothing_works_by_is_refused_by_that_name(case, monkeypatch):
    lists, ask = CASES[case]
    for module, name in lists:
        monkeypatch.setattr(module, name, extended(getattr(module, name)))
    with pytest.raises(InputError, match=REFUSAL):
        ask(NEW)


def test_a_mechanism_of_a_new_kind_has_no_numbers_of_another():
    with pytest.raises(InputError, match="known by name, and nothing here works by it"):
        report_numbers(object())  # pyright: ignore[reportArgumentType]


def test_every_name_of_a_list_that_is_tried_here_is_one_that_works():
    assert extended(Literal["a", "b"]) == Literal["a", "b", "newest"]
