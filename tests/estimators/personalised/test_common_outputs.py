"""The mean of levels whose reports one decoder decodes: levels are protected, and yet no level need be known."""

# Tables take lists; their types say arrays, which they make of them.
# pyright: reportArgumentType=false

import math

import numpy as np
import pytest
from optldp.estimators import PersonalisedCounts, personalised_distribution, personalised_mean
from optldp.mechanisms import PersonalisedMechanism, TabulatedMechanism
from optldp.mechanisms.combinators.personalised import PersonalisedReports

LAWS = {1.4: np.array([8, 2, 4, 2]) / 16, 1.8: np.array([6, 5, 4, 1]) / 16}
"""Of reports -1, 0, 1, 2 at the value 0, by budget; at the value 1 they are mirrored."""


def protected(level_epsilon: float = 0.7) -> PersonalisedMechanism:
    tables = [
        TabulatedMechanism([0.0, 1.0], ends := [-1.0, 0.0, 1.0, 2.0], ends, [law, law[::-1]], epsilon, exact=True)
        for epsilon, law in LAWS.items()
    ]
    return PersonalisedMechanism(tables, level_epsilon)


def counted(mechanism: PersonalisedMechanism, seen: dict[int, list[int]]) -> PersonalisedCounts:
    """So many reports of -1, 0, 1 and 2 with each reported level."""
    levels = np.repeat(list(seen), [sum(many) for many in seen.values()])
    reports = np.concatenate([np.repeat([-1.0, 0.0, 1.0, 2.0], many) for many in seen.values()])
    return PersonalisedCounts.from_reports(mechanism, PersonalisedReports(levels, reports))


@pytest.mark.parametrize("strict_users", [0, 3, 16])
def test_the_mean_is_unbiased_whichever_levels_made_the_reports(strict_users):
    """Reports as often as their probabilities at 0 under any mixture of the levels, the likelihood's far from it."""
    few, many = (16 * law for law in LAWS.values())
    mixture = (strict_users * few + (16 - strict_users) * many).astype(int)
    found = personalised_mean(counted(protected(), {0: mixture.tolist(), 1: (2 * mixture).tolist()}))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.method == "population"


def test_reported_levels_are_weighted_by_the_variances_of_those_who_may_have_reported_them():
    """Written out: variances at either knot, mixed by randomised response at e^0.7, over the reports of each level."""
    made = counted(protected(), {0: [1, 0, 3, 0], 1: [0, 0, 2, 8]})
    own = [law @ np.array([1, 0, 1, 4]) for law in LAWS.values()]
    truth = math.exp(0.7) / (1 + math.exp(0.7))
    mixed = [truth * own[0] + (1 - truth) * own[1], (1 - truth) * own[0] + truth * own[1]]
    weights = np.array([4, 10]) / mixed
    found = personalised_mean(made)
    assert found.value == pytest.approx(weights @ [0.5, 1.8] / weights.sum(), rel=1e-9)
    errors = np.array([1.0 / 4, 0.4**2 / 0.9 / 10])  # sample variances over numbers of reports
    assert found.std_error == pytest.approx(np.sqrt(weights**2 @ errors) / weights.sum(), rel=1e-9)


@pytest.mark.slow
def test_the_standard_error_is_that_of_repetitions():
    """Users of both levels at 0.3, in 200 simulations."""
    made, rng = protected(), np.random.default_rng(1)
    values, levels = np.full(400, 0.3), np.arange(400) % 2
    found = [
        personalised_mean(PersonalisedCounts.from_reports(made, made.sample(values, levels, rng))) for _ in range(200)
    ]
    pulls = np.array([(each.value - 0.3) / each.std_error for each in found])
    assert abs(pulls.mean()) < 4 / math.sqrt(200)
    assert pulls.std() == pytest.approx(1.0, abs=4 / math.sqrt(400))


def test_no_report_moves_the_mean_by_more_than_one_report_says():
    """All replacements of one user's level and report, one by one."""
    made, seen = protected(), {0: [2, 1, 3, 0], 1: [0, 4, 2, 8]}
    found, moved = personalised_mean(counted(made, seen)), []
    for level, place in [(i, k) for i, many in seen.items() for k, n in enumerate(many) if n]:
        for into, there in [(i, k) for i in (0, 1) for k in range(4)]:
            other = {i: list(many) for i, many in seen.items()}
            other[level][place] -= 1
            other[into][there] += 1
            moved.append(abs(personalised_mean(counted(made, other)).value - found.value))
    assert found.one_report is not None
    assert max(moved) <= found.one_report * (1 + 1e-9)


def test_levels_of_other_outputs_still_need_the_likelihood():
    """One output more in one of the tables, which never occurs."""
    first, second = protected().levels
    ends = [-1.0, 0.0, 1.0, 2.0, 3.0]
    wider = TabulatedMechanism(
        [0.0, 1.0], ends, ends, np.hstack([second.probabilities, np.zeros((2, 1))]), 1.8, exact=True
    )
    counts = counted(PersonalisedMechanism([first, wider], 0.7), {0: [3, 2, 4, 1], 1: [2, 5, 4, 8]})
    found = personalised_mean(counts)
    assert found.method == "em"
    assert found.value == personalised_distribution(counts).mean().value
