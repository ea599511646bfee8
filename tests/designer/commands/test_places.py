"""Points of the plane, from `optldp design --prior` with x and y to reports and shares of places."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from optldp import CategoricalPrior, InputError, design, load_mechanism
from optldp.designer.objectives import Loss
from optldp.mechanisms import Metric
from optldp.mechanisms.categorical.table import CategoricalTable
from optldp.mechanisms.client.budget_token import BudgetToken
from optldp.mechanisms.spaces.places import Places
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import ratios

AUDITOR = Path(__file__).parents[3] / "examples" / "verify_table.py"
GRID = np.array([[x, y] for x in range(4) for y in range(3)])
WEIGHTS = 1 + GRID.prod(1) % 3
APART = np.hypot(*(GRID[:, None] - GRID).T)


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "places.csv"
    rows = (f"{x},{y},{weight}\n" for (x, y), weight in zip(GRID.tolist(), WEIGHTS.tolist(), strict=True))
    path.write_text("x,y,weight\n" + "".join(rows))
    return path


def proved_twice(optldp, out):
    done = subprocess.run([sys.executable, "-I", "-S", str(AUDITOR), str(out)], capture_output=True)
    return json.loads(optldp("verify", out, "--json").stdout)["ok"] and done.returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_places_from_design_to_their_shares(optldp, prior, tmp_path, loss):
    """Designed as the program of all pairs says, proved twice, perturbed, and the people's shares are told."""
    out, people, reports, shares = (tmp_path / name for name in ("m.json", "people.csv", "r.csv", "shares.csv"))
    asked = ("--prior", prior, "--public", "--privacy", "metric", "--epsilon", 3, "--loss", loss)
    told = json.loads(optldp("design", *asked, "--out", out, "--json").stdout)
    program = ChannelProgram(ratios(3.0 * APART), WEIGHTS / WEIGHTS.sum(), APART if loss == "absolute" else APART**2)
    assert told["value"] == pytest.approx(solve_channel(program).value, rel=1e-6)
    assert told["lower_bound"] <= told["value"]
    assert str(load_mechanism(out).promise) == "epsilon 3 per unit of distance"
    assert proved_twice(optldp, out)
    people.write_text("user,x,y\n" + "".join(f"u{k},{3 * (k % 4 == 0)},{2 * (k % 2)}\n" for k in range(2000)))
    optldp("perturb", out, people, "--column", "x", "--column", "y", "--out", reports)
    assert reports.read_text().startswith("x,y,table\n")
    found = json.loads(optldp("estimate", out, reports, "--method", "mle", "--out", shares, "--json").stdout)
    by_place = dict(zip(found["category"], found["value"], strict=True))
    assert by_place["0,2"] == pytest.approx(0.5, abs=0.1)
    assert [by_place["3,0"], by_place["0,0"]] == pytest.approx([0.25, 0.25], abs=0.1)
    reports.write_text(reports.read_text().replace("x,y,", "lon,lat,", 1))
    named = ("--column", "lon", "--column", "lat", "--method", "mle", "--json")
    assert json.loads(optldp("estimate", out, reports, *named).stdout)["value"] == found["value"]


def test_repeated_draws_by_a_secret_are_the_same(optldp, prior, tmp_path):
    out, people, secret = (tmp_path / name for name in ("m.json", "people.csv", "secret"))
    optldp("design", "--prior", prior, "--public", "--epsilon", 1, "--out", out)
    people.write_text("user,x,y\n" + "".join(f"u{k},{k % 4},{k % 3}\n" for k in range(60)))
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    for name in ("a.csv", "b.csv"):
        columns = ("--column", "x", "--column", "y", "--key", "user", "--secret", secret)
        optldp("perturb", out, people, *columns, "--out", tmp_path / name)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_other_places_may_be_reported(optldp, prior, tmp_path):
    out, outputs = tmp_path / "m.json", tmp_path / "outputs.csv"
    outputs.write_text("x,y\n0.5,0.5\n2.5,1.5\n")
    more = ("--privacy", "metric", "--epsilon", 1, "--objective", "minimax", "--outputs", outputs, "--out", out)
    told = json.loads(optldp("design", "--prior", prior, "--public", *more, "--json").stdout)
    assert told["outputs"] == 2
    made = load_mechanism(out)
    assert isinstance(made, CategoricalTable)
    assert made.outputs is not None
    assert made.outputs.labels == ("0.5,0.5", "2.5,1.5")
    assert proved_twice(optldp, out)


def test_verify_says_of_an_altered_budget_that_it_is_broken(optldp, prior, tmp_path):
    """Both verifiers see that a smaller epsilon per unit is not kept, the checksum being right."""
    made = design(CategoricalPrior(Places(GRID), WEIGHTS), Metric(1.0), objective=Loss("absolute")).mechanism
    assert type(made)(made.categories, 0.99, made.provenance, made.numerators, made.outputs, Metric(0.99)).failures()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--epsilon", 1, "--outputs", "0:1:0.5"), "must be a file with columns x and y"),
        (("--epsilon", 1, "--privacy", "metric:period=9"), "give distance, n x n"),
        (("--epsilon", 1, "--method", "grr"), "--method is of no use to places"),
        (("--epsilon", 1, "--loss", "circular"), "give --circle PERIOD"),
        (("--epsilon", 1, "--circle", 9), "--circle is of no use to places"),
    ],
)
def test_what_places_do_not_go_with_is_refused(optldp, prior, more, said):
    done = optldp("design", "--prior", prior, "--public", *more)
    assert done.exit_code == 2
    assert said in done.stderr


def test_people_elsewhere_and_one_column_are_refused(optldp, prior, tmp_path):
    out, people = tmp_path / "m.json", tmp_path / "people.csv"
    optldp("design", "--prior", prior, "--public", "--epsilon", 1, "--out", out)
    people.write_text("x,y\n0,0\n0.5,0\n")
    for columns, said in ((("x", "y"), "got 1 that are not"), (("x",), "--column x --column y")):
        named = [word for column in columns for word in ("--column", column)]
        done = optldp("perturb", out, people, *named, "--out", tmp_path / "r.csv")
        assert done.exit_code == 2
        assert said in done.stderr


def test_a_budget_for_any_two_values_does_not_pay_for_a_table_by_distance():
    """Its epsilon is per unit: a client who spends as much for any two values must not draw from it."""
    places = Places(GRID)
    made = design(CategoricalPrior(places, WEIGHTS), Metric(0.5), objective=Loss("absolute")).mechanism
    for budget in (0.5, Metric(0.5)):
        with pytest.raises(InputError, match="of its values alone"):
            BudgetToken(budget).spend(made)


def test_distances_never_exceed_the_true_ones():
    rng = np.random.default_rng(3)
    places = Places(rng.normal(size=(40, 2)) * 10.0 ** rng.integers(-3, 4, size=(40, 1)))
    said = places.metric(1.0).distance
    assert isinstance(said, tuple)
    at = [(Fraction(x), Fraction(y)) for x, y in places.points.tolist()]
    for (a, b), row in zip(at, said, strict=True):
        for (x, y), distance in zip(at, row, strict=True):
            assert Fraction(distance) ** 2 <= (a - x) ** 2 + (b - y) ** 2
