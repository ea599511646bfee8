"""The trust measured from two files, errors compared and planned, and both pictures, on the command line."""

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, compare
from optldp.designer.planning import plan_users
from optldp.designer.priors import measure_trust
from optldp.estimators.intervals import bias_aware_reach

from ..conftest import found

RNG = np.random.default_rng(5)
OLDER, OLD = (np.minimum(RNG.exponential(scale, 3000), 100).round(2) for scale in (12, 13))
RANGE = ("old.csv", "--column", "pay", "--range", 0, 100, "--public")
DESIGN = ("design", *RANGE, "--epsilon", 1, "--n", 20_000, "--knots", 11)
FROM = ("--trust-from", "old.csv", "older.csv")
PRIOR = Prior.from_data(OLD, knots=11, domain=(0, 100), source="public")


@pytest.fixture(autouse=True)
def years(here):
    for name, values in (("old", OLD), ("older", OLDER)):
        (here / f"{name}.csv").write_text("pay\n" + "\n".join(map(str, values)) + "\n")


@pytest.mark.nightly
def test_a_design_trusts_as_much_as_was_measured_and_says_what_that_rests_on(optldp):
    known = measure_trust(OLDER, OLD, knots=41, domain=(0, 100))
    done = optldp(*DESIGN, *FROM, "--out", "m.json")
    assert done.exit_code == 0, done.output
    assert f"note: trust {known.factor:g}, measured: within it, with confidence 0.95, are all shares" in done.stderr
    assert "trust_measured" not in done.stdout
    said = found(optldp, *DESIGN, *FROM)
    assert said["trust"] == known.factor == found(optldp, "show", "m.json")["trust"]
    assert said["trust_measured"] == vars(known) | {"decided_by": list(known.decided_by)}
    same = found(optldp, *DESIGN, "--objective", "error,last=old.csv,before=older.csv")
    assert same | {"seconds": said["seconds"]} == said


@pytest.mark.nightly
def test_both_pictures_are_drawn(optldp, here):
    assert optldp(*DESIGN, "--trust", 2, "--plot", "clips.png", "--out", "m.json").exit_code == 0
    assert optldp("show", "m.json", "--plot", "bias.svg").exit_code == 0
    assert (here / "clips.png").read_bytes()[:4] == b"\x89PNG"
    assert "bias of one report" in (here / "bias.svg").read_text()


@pytest.mark.nightly
def test_a_comparison_is_the_library_s_and_shows_where_each_cuts(optldp):
    words = ("compare", *RANGE, "--epsilon", 1, "--knots", 11, "--method", "duchi", "--method", "optimal")
    error = ("--objective", "error", "--n", 20_000, "--trust", 2)
    (duchi, best) = found(optldp, *words, *error)["rows"]
    known = compare(PRIOR, [1.0], methods=["duchi"], objective=Error(20_000, FactorAmbiguity(2.0)), tolerance=1e-6)[0]
    assert duchi["value"] == pytest.approx(known.value, rel=1e-9)
    assert duchi["clip_high"] == pytest.approx(known.clip_high)
    assert best["value"] < duchi["value"]
    shown = optldp(*words, *error)
    header = ["method", "epsilon", "error", "ratio", "cut", "below", "cut", "above", "shift"]
    assert header in [line.split()[: len(header)] for line in shown.stdout.splitlines()]
    reach = bias_aware_reach(best["noise"], best["bias_bound"], 0.95)
    assert best["mean_within"] == pytest.approx(reach)  # never of the variance alone
    assert (best["mean_within_if"], best["mean_within_any_values"]) == ("the prior is right within a factor of 2", None)
    assert "epsilon 1, optimal: with 20,000 people: mean within " in shown.stdout


@pytest.mark.nightly
def test_a_plan_finds_the_users_that_an_error_takes(optldp):
    said = found(optldp, "plan", *RANGE, "--epsilon", 1, "--error", 2, "--knots", 11, "--method", "duchi")
    assert said["users"] == plan_users(PRIOR, 1.0, 2.0, method="duchi").users
    error = ("--objective", "error", "--trust", 2)
    biased = found(optldp, "plan", *RANGE, "--epsilon", 1, "--error", 2, "--knots", 11, "--method", "duchi", *error)
    assert biased["users"] < said["users"]
    assert biased["clip_high"] < 100
    assert "expected_variance" not in biased


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            (*DESIGN, *FROM, "--trust", 2),
            "a trust is named or measured, got both: leave trust out, or last and before",
        ),
        (
            ("design", "--prior", "old.csv", "--epsilon", 1, "--n", 9, *FROM),
            "a trust between two files needs --column NAME",
        ),
        (("design", *RANGE[:3], "--epsilon", 1, "--n", 9, *FROM), "a trust between two files needs --range LO HI"),
        ((*DESIGN, "--trust-from", "old.csv", "missing.csv"), "missing.csv"),
        ((*DESIGN, "--objective", "minimax", *FROM), "--trust-from is for --objective error: leave it out"),
        ((*DESIGN, "--plot", "clips.png"), "--plot"),
        (("plan", *RANGE, "--error", 2), "two of --n, --error and --epsilon"),
        (("plan", *RANGE, "--error", 2, "--epsilon", 1, "--of", "distribution"), "add --n N"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, words, says):
    assert says in refusal(*words)
