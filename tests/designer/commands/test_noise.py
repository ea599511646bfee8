"""`optldp design` with --delta or --per-unit, and what every later command says of such a table."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import KnotChoice, Prior, design
from optldp.mechanisms import Approximate, InputError, Metric, load_table
from scipy.stats import norm

from ..conftest import instead

GAUSS = ("design", "--range", 0, 10, "--epsilon", 1, "--delta", "1e-6", "--knots", 11, "--out", "g.json")
COUNTS = ("design", "--range", 0, 12, "--epsilon", 0.5, "--per-unit", "--out", "c.json")


def column(name: str, values: np.ndarray) -> None:
    Path(name).write_text("x\n" + "\n".join(map(repr, values.tolist())) + "\n")


@pytest.fixture
def made(optldp):
    for command in (GAUSS, COUNTS):
        assert optldp(*command).exit_code == 0


class TestDesign:
    def test_gaussian_noise_keeps_its_delta_and_is_never_called_pure(self, optldp):
        """The variance is that of the least sigma by scipy's normal law, cells and rounding aside."""
        done = optldp(*GAUSS, "--json")
        found = json.loads(done.stdout)
        assert load_table("g.json").promise == Approximate(1.0, 1e-6)
        assert found["promise"] == "epsilon 1, delta 1e-06"
        assert (found["epsilon"], found["delta"], found["verdict"]) == (1.0, 1e-6, "proved")
        assert 0.99e-6 < found["kept"] <= 1e-6
        sigma = math.sqrt(found["worst_case_variance"]) / 10
        delta = norm.cdf(0.5 / sigma - sigma) - math.e * norm.cdf(-0.5 / sigma - sigma)
        assert delta == pytest.approx(1e-6, rel=0.02)
        assert "(1, 1e-06)-LDP, not epsilon-LDP" in done.stderr

    def test_noise_per_unit_has_a_knot_a_unit_and_the_variance_of_the_formula(self, optldp):
        """2 q / (1 - q)^2, whatever the width of the domain."""
        done = optldp(*COUNTS, "--json")
        found = json.loads(done.stdout)
        assert load_table("c.json").promise == Metric(0.5)
        assert (found["knots"], found["promise"], found["verdict"]) == (13, "epsilon 0.5 per unit", "proved")
        q = math.exp(-0.5)
        assert found["worst_case_variance"] == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-4)
        assert "not epsilon-LDP" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--delta", 0), "delta must lie strictly between 0 and 1, got 0.0"),
            (("--delta", 1), "delta must lie strictly between 0 and 1, got 1.0"),
            (("--delta", "nan"), "delta of --privacy approximate must be a number, got 'nan'"),
            (("--delta", 0.1, "--per-unit"), "--per-unit is for --privacy metric: leave it out"),
            (
                ("--method", "gaussian"),
                "--method gaussian needs --privacy approximate:delta=1e-6, and geometric --privacy metric",
            ),
            (("--delta", 0.1, "--method", "laplace"), "--method must be gaussian or geometric"),
            (("--delta", 0.1, "--method", "geometric"), "keeps a promise per unit, got epsilon 1, delta 0.1"),
            (("--delta", 0.1, "--objective", "minimax"), "--objective is of no use to noise of one shape"),
            (("--delta", 0.1, "--knots", "auto"), "--knots auto is of no use to noise of one shape"),
            (("--per-unit", "--range", 0, 1.5), "must span a whole number of units"),
            (("--per-unit", "--range", 0, 1e9), "at most 2000, to have one knot a unit, got 0 to 1e+09"),
            (("--per-unit", "--range", 0, "inf"), "at most 2000, to have one knot a unit, got 0 to inf"),
            (("--per-unit", "--range", 5, 2), "low < high"),
        ],
    )
    def test_what_makes_no_sense_is_refused_in_one_line(self, refusal, arguments, says):
        assert says in refusal(*instead(("design", "--range", 0, 10, "--epsilon", 1), *arguments))

    def test_noise_needs_a_range_and_no_data(self, refusal):
        assert "noise needs a range: give --range" in refusal("design", "--epsilon", 1, "--delta", 0.1)
        assert "leave DATA out" in refusal("design", "any.csv", "--range", 0, 1, "--epsilon", 1, "--delta", 0.1)

    @pytest.mark.parametrize("privacy", [Approximate(1.0, 1e-6), Metric(1.0)])
    def test_the_optimum_of_several_attributes_and_of_any_number_of_knots_is_known_for_pure_privacy_alone(
        self, privacy
    ):
        prior = Prior.even([0.0, 1.0])
        for values in (KnotChoice(prior), {"a": prior, "b": prior}):
            with pytest.raises(InputError, match="promise pure privacy, got epsilon 1"):
                design(values, privacy)

    def test_the_optimum_is_known_for_promises_of_pairs_and_no_others(self):
        with pytest.raises(InputError, match="promise pure or pairwise privacy, got epsilon 1, delta 1e-06"):
            design(Prior.even([0.0, 1.0]), Approximate(1.0, 1e-6))

    def test_methods_promise_pure_privacy(self):
        """By distance, their one epsilon would be another promise."""
        with pytest.raises(InputError, match="methods promise pure privacy, got duchi for epsilon 1 per unit"):
            design(Prior.even([0.0, 1.0]), Metric(1.0), method="duchi")


@pytest.mark.usefixtures("made")
class TestLater:
    @pytest.mark.parametrize(
        ("table", "promise"), [("g.json", "epsilon 1, delta 1e-06"), ("c.json", "epsilon 0.5 per unit")]
    )
    @pytest.mark.parametrize("command", [("show",), ("verify",), ("verify", "--exact")])
    def test_it_says_what_is_promised(self, optldp, table, promise, command):
        done = optldp(*command, table, "--json")
        found = json.loads(done.stdout)
        assert (done.exit_code, found["promise"], found["verdict"]) == (0, promise, "proved")
        assert promise in optldp(*command, table).stdout

    def test_an_exact_proof_prints_the_divergence(self, optldp):
        found = json.loads(optldp("verify", "--exact", "g.json", "--json").stdout)
        top, bottom = map(int, found["divergence"].split("/"))
        assert 0.99 * 10**-6 < top / bottom <= 10**-6
        assert top / bottom == pytest.approx(float(found["divergence_decimal"]))

    @pytest.mark.nightly
    @pytest.mark.parametrize("table", ["g.json", "c.json"])
    def test_means_and_distributions_come_out_of_its_reports(self, optldp, table):
        """Of half twos and half nines, within five standard errors of the mean."""
        column("x.csv", np.repeat([2.0, 9.0], 3000))
        done = optldp("perturb", table, "x.csv", "--column", "x", "--out", "r.csv", "--seed", 5)
        assert done.exit_code == 0
        assert "not epsilon-LDP" in done.stderr
        for options in ((), ("--of", "distribution"), ("--method", "em"), ("--method", "mr")):
            found = json.loads(optldp("estimate", table, "r.csv", "--json", *options).stdout)
            mean = found.get("mean", found)
            assert abs(mean["value"] - 5.5) < 5 * mean["std_error"]

    def test_values_between_counts_and_cells_are_refused(self, refusal, optldp):
        column("half.csv", np.array([1.0, 1.5]))
        assert "got 1 of 2 between two" in refusal("perturb", "c.json", "half.csv", "--column", "x", "--out", "r.csv")
        column("x.csv", np.arange(13.0))
        optldp("perturb", "c.json", "x.csv", "--column", "x", "--out", "r.csv")
        message = refusal("estimate", "c.json", "r.csv", "--of", "distribution", "--cells", 4)
        assert "takes its knots alone" in message
