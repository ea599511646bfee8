"""The largest errors of shares and means of keys, against every report of a population written out."""

import numpy as np
import pytest
from optldp.estimators import KeyValueCounts, estimate_key_means, plain_decoder
from optldp.estimators.key_values.error import key_errors
from optldp.estimators.key_values.published import contributions
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.table.unit_interval import UnitInterval

from ...mechanisms.key_value_laws import all_reports, pair_law, three_outputs

KEYS = ["a", "b", "c"]
MADE = {
    "unary": key_value_unary(KEYS, three_outputs(), 1.0),
    "unary, padded": key_value_unary(KEYS, three_outputs(), 1.0, padding=3),
    "response": key_value_response(KEYS, duchi([0.0, 60.0], 1.0), 1.0, padding=0),
    "response, padded": key_value_response(KEYS, three_outputs(), 1.0, padding=3),
}


def law_of_user(made, unary, held):
    """The law of a user's report: one pair (row of the table), sampled with its chance, or none, of the first key."""
    size = made.share_scale
    rest = np.array(pair_law(made, unary, 1 if made.padding == 0 else len(KEYS), 0), dtype=float)
    if held is None:
        return rest
    return (np.array(pair_law(made, unary, 0, held), dtype=float) + (size - 1) * rest) / size


def variance(law, of):
    return law @ of**2 - (law @ of) ** 2


@pytest.mark.parametrize("name", MADE)
def test_no_population_exceeds_them_and_some_nearly_attain_them(name):
    made = MADE[name]
    unary = name.startswith("unary")
    unit = UnitInterval.of(made.value.domain)
    shown, hidden, holds = contributions(made, unit.places(plain_decoder(made.value)))
    reports = all_reports(made, unary)
    outputs = [r[0] - 1 if unary else (r[1] if r[0] == 0 else -1) for r in reports]
    nu = np.array([holds[0] if j >= 0 else holds[1] for j in outputs])
    tau = np.array([shown[j] if j >= 0 else hidden for j in outputs])
    values = unit.places(made.value.knots)
    rows = range(values.size)
    laws = [law_of_user(made, unary, row) for row in rows]
    none = law_of_user(made, unary, None)
    rng, frequency, seen = np.random.default_rng(1), 0.4, []
    for weights in (*np.eye(values.size), *rng.dirichlet(np.full(values.size, 0.4), 40)):
        mean = weights @ values
        z = tau - mean * nu
        each = np.array([[variance(law, of) for of in (z, nu * made.share_scale)] for law in laws])
        both = frequency * weights @ each + (1 - frequency) * np.array(
            [variance(none, z), variance(none, nu * made.share_scale)]
        )
        seen.append(both / [(frequency / made.share_scale) ** 2, 1])
    found = key_errors(made, frequency)
    worst_mean, worst_share = np.max(seen, axis=0)
    assert worst_mean * unit.half**2 <= found.mean <= 1.03 * worst_mean * unit.half**2
    shares = [variance(law, nu * made.share_scale) for law in (none, *laws)]
    assert found.share == pytest.approx(max(shares))
    assert worst_share <= found.share


@pytest.mark.nightly
def test_estimates_of_n_people_lie_within_them_as_often_as_said():
    made, rng, n, runs = MADE["unary"], np.random.default_rng(5), 20_000, 300
    keys = np.repeat(KEYS, [n // 4, n // 2, n - n // 4 - n // 2])
    values = np.where(np.arange(n) % 2, 3.0, 2.5)
    found = key_errors(made, 0.25)
    inside = []
    for _ in range(runs):
        told = estimate_key_means(KeyValueCounts.from_reports(made, made.sample(keys, values, rng)))
        errors = abs(told.frequencies.value[0] - 0.25), abs(told.value[0] - 2.75)
        inside.append([error <= 1.96 * np.sqrt(v / n) for error, v in zip(errors, found, strict=True)])
    assert (np.mean(inside, axis=0) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)).all()


def test_a_frequency_must_be_one():
    with pytest.raises(InputError, match="frequency must lie in"):
        key_errors(MADE["unary"], 0.0)
