"""Both phases together: one report each, within the budget, unbiased, and better than one phase when it should be."""

import math
from typing import Any

import numpy as np
import pytest
from optldp.designer import TwoPhasePlan, two_phase
from optldp.designer.protocols.cohort import ValueCohort
from optldp.designer.protocols.plan import TwoPhaseResult
from optldp.designer.protocols.two_phase import STAGES
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import InputError, OneReportClient, grr, make_exact, piecewise, square_wave, verify
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

DOMAIN = (-1.0, 1.0)
VALUES = (np.random.default_rng(5).exponential(1 / 6, 4000) - 1).clip(*DOMAIN)


KNOTS = np.linspace(*DOMAIN, 9)
FIRST = {make.__name__: make_exact(make(KNOTS, 0.8)).mechanism for make in (square_wave, grr)} | {
    "designed": "designed"
}
"""First tables that clients in earnest answer: exact ones."""


def run(values: Any = VALUES, epsilon: float = 1.0, seed: int = 1, **options: Any) -> TwoPhaseResult:
    options = {"domain": DOMAIN, "knots": 9, "rng": np.random.default_rng(seed), **options}
    return two_phase(values, epsilon, **options)


class Recorder:
    """Client functions that note which client was asked, and through which table."""

    def __init__(self, n, epsilon):
        self.asked = []
        self.clients = [self._client(i, OneReportClient(VALUES[i], epsilon, domain=DOMAIN)) for i in range(n)]

    def _client(self, number, client):
        def report(mechanism):
            self.asked.append((number, mechanism))
            return client(mechanism)

        return report


@pytest.mark.slow
@pytest.mark.parametrize("phase_one", list(FIRST))
def test_every_client_reports_once_to_a_table_within_the_budget(phase_one):
    recorder = Recorder(200, 0.8)
    result = run(recorder.clients, 0.8, share=0.25, phase_one=FIRST[phase_one])
    assert sorted(number for number, _ in recorder.asked) == list(range(200))
    tables = [table for _, table in recorder.asked]
    assert tables == [result.first] * 50 + [result.design.mechanism] * 150
    for table in tables:
        assert not verify(table, epsilon=0.8).failures
    assert result.n == 200


@pytest.mark.slow
def test_the_first_clients_are_a_random_part():
    firsts = []
    for seed in (1, 2):
        recorder = Recorder(200, 0.8)
        run(recorder.clients, 0.8, share=0.25, seed=seed, phase_one=FIRST["grr"])
        firsts.append({number for number, _ in recorder.asked[:50]})
    assert firsts[0] != firsts[1]
    assert all(first & set(range(100)) and first & set(range(100, 200)) for first in firsts)


def failing(_):
    raise ConnectionError("timed out")


@pytest.mark.slow
def test_clients_who_fail_are_left_out_and_counted():
    """The reports of the others are all there, in both phases."""
    recorder = Recorder(200, 0.8)
    clients = recorder.clients[:180] + [failing] * 15 + [lambda _: math.nan] * 5
    result = run(clients, 0.8, share=0.25, phase_one=FIRST["square_wave"])
    assert result.n == 180
    assert (result.failures.asked, result.failures.count) == (200, 20)
    assert all(text.startswith("client 1") for text in result.failures.first)
    assert run(VALUES, seed=2).failures.count == 0


@pytest.mark.parametrize(
    ("working", "says"), [(0, "must report, got none: 50 of 50"), (60, "needs at least 30 reports")]
)
def test_too_few_reports_in_a_phase_are_one_line_with_their_cause(working, says):
    clients = [*Recorder(working, 0.8).clients, *[failing] * (200 - working)]
    with pytest.raises(InputError, match=says) as refusal:
        run(clients, 0.8, share=0.25, phase_one=FIRST["grr"])
    assert "ConnectionError: timed out" in str(refusal.value)


@pytest.mark.slow
def test_a_cohort_that_took_part_has_nothing_left():
    cohort = ValueCohort(VALUES, 1.0)
    run(cohort)
    with pytest.raises(InputError, match="must be spent once only"):
        cohort.report(exact(piecewise(DOMAIN, 0.1)), np.random.default_rng(1))
    with pytest.raises(InputError, match="must be spent once only"):
        run(cohort)


def test_a_cohort_of_a_smaller_budget_answers_no_table():
    cohort = ValueCohort(VALUES, 0.5)
    with pytest.raises(InputError, match=r"epsilon 0.5: the log-ratio must be at most 0.5, got 0.99999"):
        run(cohort, 1.0)


@pytest.mark.nightly
def test_it_is_the_plan_step_by_step():
    """Values dealt, perturbed and combined by hand give the same numbers."""
    result = run(seed=9, share=0.2, knots=17)
    rng, plan = np.random.default_rng(9), TwoPhasePlan(DOMAIN, 1.0, knots=17)
    order = rng.permutation(VALUES.size)
    first = plan.first.sample(VALUES[order[:800]], rng)
    second = plan.second(first)
    expected = plan.finish(first, second, second.mechanism.sample(VALUES[order[800:]], rng))
    assert (result.value, result.std_error, result.n) == (expected.value, expected.std_error, 4000)


@pytest.mark.nightly
def test_the_generator_decides_everything():
    assert run(seed=3).value == run(seed=3).value != run(seed=4).value


@pytest.mark.slow
def test_progress_tells_of_every_stage_and_of_the_solver():
    told = []
    run(progress=lambda stage, step: told.append((stage, step is None)))
    assert [stage for stage, done in told if done] == list(STAGES)
    assert ("design", False) in told


@pytest.mark.nightly
def test_it_is_unbiased_and_its_interval_covers():
    """60 collections of 600 values drawn anew: no bias in standard errors, coverage within four of the binomial."""
    rng, truth, repetitions = np.random.default_rng(21), -1 + 1 / 6, 60
    drawn = [
        two_phase(rng.exponential(1 / 6, 600).clip(0, 2) - 1, 2.0, domain=DOMAIN, knots=9, rng=rng, tolerance=1e-3)
        for _ in range(repetitions)
    ]
    errors = np.array([result.value - truth for result in drawn])
    assert abs(errors.mean()) < 4 * errors.std(ddof=1) / math.sqrt(repetitions)
    claimed = np.array([result.std_error for result in drawn])
    assert math.sqrt(np.mean(errors**2) / np.mean(claimed**2)) == pytest.approx(1, abs=4 / math.sqrt(2 * repetitions))
    covered = np.mean([result.interval().low <= truth <= result.interval().high for result in drawn])
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / repetitions)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "gain"), [(1.0, 0.85), (2.0, 0.8)])
def test_it_beats_one_phase_of_the_piecewise_mechanism_where_values_crowd(epsilon, gain):
    """The same number of reports leaves at most so much of the variance; the standard errors' own noise is 2 %."""
    values = (np.random.default_rng(8).exponential(1 / 6, 20_000) - 1).clip(*DOMAIN)
    rival = exact(piecewise(np.linspace(*DOMAIN, 33), epsilon))
    one_phase = estimate_mean(count(rival, rival.sample(values, np.random.default_rng(2))))
    both = run(values, epsilon, knots=33)
    assert both.std_error**2 < gain * one_phase.std_error**2
    assert abs(both.value - values.mean()) < 4 * both.std_error


@pytest.mark.slow
def test_both_phases_count():
    """The first phase takes a tenth of the clients, and its mean most of their share of the weight."""
    result = run(share=0.1)
    assert 0.04 < result.first_weight < 0.12
    assert result.std_error < result.second_mean.std_error


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"share": 0.0}, "share must lie strictly between 0 and 1, got 0.0"),
        ({"share": 1.0}, "share must lie strictly between 0 and 1, got 1.0"),
        ({"share": math.nan}, "share must lie strictly between 0 and 1, got nan"),
        ({"values": VALUES[:59]}, "each phase needs at least 30 clients, got 18 and 41 of 59 with share 0.3"),
        ({"share": 0.999}, "each phase needs at least 30 clients, got 3996 and 4 of 4000"),
        ({"values": [0.5]}, "each phase needs at least 30 clients, got 0 and 1 of 1"),
        ({"values": []}, "values must be a non-empty one-dimensional array"),
        ({"values": [*VALUES, 7.0]}, "values must lie in [-1, 1], got 1 of 4001 outside"),
        ({"values": [*VALUES, math.nan]}, "values must be finite, got nan in row 4001"),
        ({"rng": 7}, "rng must be a numpy.random.Generator, got 7"),
        ({"epsilon": -1.0}, "epsilon must be positive and finite"),
        ({"phase_one": "best"}, "phase_one must be a mechanism or one of"),
        ({"estimator": "best"}, "estimator must be one of"),
        ({"method": "best"}, "method must be one of"),
    ],
)
def test_bad_input_is_one_line_before_anyone_reports(options, says):
    with pytest.raises(InputError) as refusal:
        run(**options)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nobody_reports_when_there_are_too_few():
    recorder = Recorder(50, 1.0)
    with pytest.raises(InputError, match="each phase needs at least 30 clients"):
        run(recorder.clients)
    assert recorder.asked == []
