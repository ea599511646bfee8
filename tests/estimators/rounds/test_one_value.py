"""Services that are joined have measured one value of each user, or are refused by the name of what they are."""

import math

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, count, estimate_distribution
from optldp.estimators.rounds.one_value import LEVEL, require_one_value
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, grr, piecewise, square_wave

KNOTS = np.linspace(0, 80, 33)
TABLES = {
    "square wave": [square_wave(KNOTS, 1.0)] * 2,
    "duchi and piecewise": [duchi(KNOTS, 1.0), piecewise(KNOTS, 2.0)],
    "other knots": [square_wave(KNOTS, 4.0), square_wave(np.linspace(0, 80, 25), 2.0)],
    "grr": [grr(np.linspace(0, 80, 5), 2.0)] * 2,
}


def joined(tables, weeks, rng: np.random.Generator, remembered=None) -> ReportCounts:
    """Reports of each week's values, the last one again where the value is remembered."""
    outputs = []
    for j, (table, values) in enumerate(zip(tables, weeks, strict=True)):
        drawn = table.output_index(table.sample(values, rng))
        outputs.append(drawn if remembered is None or not j else np.where(remembered, outputs[-1], drawn))
    services = [Service(f"service {j}", table) for j, table in enumerate(tables)]
    return ReportCounts.from_outputs(services, np.stack(outputs, axis=1))


def require_refusal(counts: ReportCounts) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*one value does not explain[^\n]*rounds=True \(--rounds\)$"):
        require_one_value(counts)


@pytest.mark.parametrize("n", [20, 2_000])
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_services_that_measured_one_value_are_joined(tables, n):
    rng = np.random.default_rng(1)
    values = rng.beta(2, 5, n) * 80
    require_one_value(joined(tables, [values] * 2, rng))


@pytest.mark.parametrize("changed", [0.0, 0.3])
@pytest.mark.parametrize("name", ["square wave", "grr"])
def test_remembered_reports_are_refused(name, changed):
    rng = np.random.default_rng(2)
    values, others = rng.beta(2, 5, (2, 2_000)) * 80
    same = rng.random(2_000) >= changed
    counts = joined(TABLES[name], [values, np.where(same, values, others)], rng, same)
    with pytest.raises(InputError, match=r"reports to 'service 0' and 'service 1' that one value does not explain"):
        estimate_distribution(counts)


def test_fresh_reports_of_other_values_are_refused_where_reports_tell_that():
    rng = np.random.default_rng(3)
    weeks = rng.beta(2, 5, (2, 4_000)) * 80
    require_refusal(joined([square_wave(KNOTS, 4.0)] * 2, weeks, rng))
    require_refusal(joined(TABLES["duchi and piecewise"], rng.beta(0.5, 0.5, (2, 20_000)) * 80, rng))


@pytest.mark.slow
def test_one_service_of_three_is_enough_to_be_refused():
    rng = np.random.default_rng(4)
    values, others = rng.beta(2, 5, (2, 4_000)) * 80
    require_refusal(joined([square_wave(KNOTS, 4.0)] * 3, [values, values, others], rng))


def test_a_pair_of_reports_that_no_value_gives_is_refused():
    """A value reports its own knot, or one of its two: never both ends."""
    places = np.array([0.0, 0.5, 1.0])
    certain = TabulatedMechanism(places, places, places, np.eye(3), 16.0)
    services = [Service(name, certain) for name in "ab"]
    require_one_value(ReportCounts.from_outputs(services, [[0, 1], [1, 0], [1, 2], [2, 1]]))
    require_refusal(ReportCounts.from_outputs(services, [[0, 2], [2, 0], [0, 2], [2, 0]]))


def test_services_without_common_users_have_nothing_to_test():
    services = [Service(name, grr([0.0, 1.0], 1.0)) for name in "ab"]
    require_one_value(ReportCounts.from_outputs(services, np.repeat([[0, -1], [-1, 1]], 500, axis=0)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("epsilon", "n", "knots"), [(1.0, 300, 33), (4.0, 1_000, 9), (1.0, 3_000, 129), (4.0, 3_000, 33)]
)
def test_honest_services_are_hardly_ever_refused(epsilon, n, knots):
    """The chance is at most the level: one of 200 collections would have one of 2%; ratios stay far below."""
    at = np.linspace(0, 80, knots)
    rng = np.random.default_rng([5, n])
    for _ in range(200):
        values = np.where(rng.random(n) < 0.3, 0.0, rng.beta(0.7, 2, n) * 80)
        require_one_value(joined([square_wave(at, epsilon)] * 2, [values] * 2, rng))
    assert 200 * LEVEL < 0.05
    assert math.log(1 / LEVEL) > 9


def test_a_row_that_names_no_round_is_of_any(tmp_path):
    """An empty cell is no round of its own."""
    for name, last in (("a", "May"), ("b", "")):
        rows = [*(f"u{i},{i % 2},May" for i in range(40)), f"u40,0,{last}"]
        (tmp_path / f"{name}.csv").write_text("user,output,round\n" + "\n".join(rows) + "\n")
    files = [(name, duchi([0.0, 1.0], 1.0), tmp_path / f"{name}.csv") for name in ("a", "b")]
    assert count(files, key="user").n_users == 41
