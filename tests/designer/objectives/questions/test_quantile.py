"""`Quantile`: one threshold is randomised response on a cut, several are a workload; and the command."""

import json
import math

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Prior, Variance, design
from optldp.designer.objectives import Quantile
from optldp.mechanisms import InputError, verify

PRIOR = Prior.on_knots(np.arange(0.0, 24.0, 2.0), [1, 2, 4, 6, 7, 6, 4, 3, 2, 1, 1, 1], source="public")


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_one_threshold_is_randomised_response_on_a_cut(epsilon):
    """(E / (E - 1)^2 + F (1 - F)) / (n f^2), with F and f at the threshold that is nearest to the median."""
    made = design(PRIOR, epsilon, objective=Quantile(10**9, off=0.0))
    below, ratio = PRIOR.weights[:5].sum(), math.exp(epsilon)
    density = PRIOR.weights[4:6].mean() / 2
    assert made.evidence.thresholds.tolist() == [9.0]
    known = (ratio / (ratio - 1) ** 2 + below * (1 - below)) / density**2
    assert made.value * 10**9 == pytest.approx(known, rel=1e-6)
    assert made.bound <= made.value


@pytest.mark.nightly
def test_several_thresholds_are_weighed_by_where_the_quantile_may_be():
    """Their variances, by the weighted least squares of this table's own law."""
    made = design(PRIOR, 1.0, objective=Quantile(500, 0.9))
    found = made.evidence
    assert found.thresholds.size > 3
    assert found.weights.sum() == pytest.approx(1)
    law, p = made.mechanism.probabilities, PRIOR.weights
    mean = p @ law
    decoder = np.linalg.solve((law / mean) @ law.T, law / mean)
    below = PRIOR.knots < found.thresholds[:, None]
    variances = (below @ decoder) ** 2 @ mean - (below @ p) ** 2
    place = np.searchsorted(PRIOR.knots, found.thresholds)
    density = (p[place] + p[place - 1]) / 2 / 2
    assert made.value == pytest.approx(float(found.weights @ (variances / density**2)) / 500, rel=1e-9)
    assert made.bound <= made.value <= made.bound * 1.01
    assert verify(made.mechanism).verdict == "proved"


def test_a_table_for_the_mean_is_no_better():
    made, other = (design(PRIOR, 1.0, objective=one) for one in (Quantile(5000), Variance()))
    assert made.objective.value(other.mechanism, made.certificate.problem) > made.value


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"n": 0}, "the number of users, a whole number of at least 1, got 0"),
        ({"n": 2.5}, "a whole number of at least 1, got 2.5"),
        ({"n": 9, "share": 1.0}, "strictly between 0 and 1, got 1.0"),
        ({"n": 9, "off": -0.1}, "off must be a share, from 0 to 1, got -0.1"),
    ],
)
def test_numbers_out_of_range_are_refused(told, says):
    with pytest.raises(InputError, match=says):
        Quantile(**told)


def test_categories_have_no_quantiles():
    with pytest.raises(InputError, match="must be one for categories"):
        design(CategoricalPrior(["a", "b"], [1, 1]), 1.0, objective=Quantile(9))


def test_the_command(optldp, refusal, tmp_path):
    prior = tmp_path / "p.csv"
    prior.write_text("value,weight\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(9)))
    asked = ("design", "--prior", prior, "--public", "--epsilon", 1, "--objective", "quantile:0.5")
    told = json.loads(optldp(*asked, "--n", 20000, "--out", tmp_path / "m.json", "--json").stdout)
    assert told["lower_bound"] <= told["value"] == pytest.approx(told["quantile_error"] ** 2)
    assert (told["share"], told["off"]) == (0.5, 0.05)
    assert "a quantile needs --n N" in refusal(*asked)


def test_a_quantile_expected_within_a_range_is_asked_at_all_thresholds_there(optldp, tmp_path):
    (tmp_path / "p.csv").write_text("value,weight\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(9)))
    asked = "design", "--prior", tmp_path / "p.csv", "--public", "--epsilon", 1, "--n", 20_000, "--json", "--objective"
    told = json.loads(optldp(*asked, "quantile:0.5,within=2:5").stdout)
    assert (told["within"], told["thresholds"]) == ([2.0, 5.0], "3 from 2.5 to 4.5")
    assert told["lower_bound"] <= told["value"]
    for wrong, said in (
        ("within=5", "LO:HI"),
        ("within=5:2", "low to high"),
        ("within=90:99", "widen"),
        ("off=0.1,within=2:5", "leave one out"),
    ):
        done = optldp(*asked, f"quantile:0.5,{wrong}")
        assert done.exit_code == 2
        assert said in done.output
