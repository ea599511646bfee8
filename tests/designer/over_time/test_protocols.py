"""Protocols that memoise, of the field: a first report has its budget, and variances are those of simulated reports."""

import math

import numpy as np
import pytest
from optldp.designer.over_time import longitudinal
from optldp.mechanisms import InputError

ROUNDS = ("L-GRR", "L-OSUE", "LOLOHA")


@pytest.mark.parametrize(("values", "epsilon"), [(2, 0.7), (5, 0.576), (40, 0.191)])
def test_a_first_report_of_l_grr_has_at_most_the_budget_that_was_asked_for(values, epsilon):
    """As published the second round is made for a ratio that leaves out values: of many it spends less."""
    made = longitudinal("L-GRR", values, 2.0, 0.7)
    assert math.log(made.own / made.other) == pytest.approx(epsilon, abs=1e-3)
    assert made.own + (values - 1) * made.other == pytest.approx(1.0)


def test_a_first_report_of_l_osue_has_the_budget_that_was_asked_for():
    """A report of unary encoding tells two values apart by the odds of two bits."""
    made = longitudinal("L-OSUE", 20, 2.0, 1.0)
    odds = made.own * (1 - made.other) / (made.other * (1 - made.own))
    assert math.log(odds) == pytest.approx(1.0)


@pytest.mark.parametrize("name", [*ROUNDS, "dBitFlipPM"])
def test_the_variance_is_that_of_simulated_reports(name):
    made = longitudinal(name, 4, 2.0, 1.0 if name in ROUNDS else None)
    rng, users, share = np.random.default_rng(1), 400_000, 0.3
    chances = np.where(rng.random(users) < share, made.own, made.other)
    told = rng.random(users) < made.sampled
    support = rng.random(users) < chances
    each = told * (support - made.other) / (made.sampled * (made.own - made.other))
    assert each.mean() == pytest.approx(share, abs=4 * each.std() / math.sqrt(users))
    assert each.var() == pytest.approx(made.variance(share), rel=0.01)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("RAPPOR", 4, 2.0, 1.0), "a protocol must be one of L-GRR"),
        (("L-GRR", 1, 2.0, 1.0), "at least 2 values"),
        (("L-GRR", 4, 2.0, 2.0), "must spend less than what is remembered"),
        (("L-GRR", 4, 2.0), "L-GRR must have a budget of a first report"),
        (("dBitFlipPM", 4, 2.0, 1.0), "dBitFlipPM must have no budget of a first report"),
    ],
)
def test_what_is_no_protocol_is_refused(asked, said):
    with pytest.raises(InputError, match=said):
        longitudinal(*asked)
