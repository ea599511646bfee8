"""`optldp audit`: exit codes, and what it says."""

import json
from pathlib import Path

import pytest
from optldp.mechanisms.checksum import checksum


def claiming(path: Path, epsilon: float) -> Path:
    """A copy of a table file with another claim and a checksum that fits."""
    document = {**json.loads(path.read_text()), "epsilon": epsilon}
    Path("claim.json").write_text(json.dumps({**document, "checksum": checksum(document)}))
    return Path("claim.json")


def test_the_real_sampler_passes(optldp, table):
    done = optldp("audit", table, "--samples", "2e5", "--confidence", 0.999999, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["ok"], found["epsilon"], found["confidence"]) == (True, 1.0, 0.999999)
    assert (found["simulated"], found["foreign"]) == (False, 0)
    assert 0.85 < found["lower_bound"] <= 1.0
    assert 0 < found["counts"][1] < found["counts"][0] < found["trials"]


def test_a_claim_a_tenth_too_small_is_exit_code_1(optldp, table):
    done = optldp("audit", claiming(table, 0.9), "--samples", "1e6", "--seed", 3, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["simulated"] is True
    text = optldp("audit", claiming(table, 0.9), "--seed", 3)
    assert text.exit_code == 1
    assert "ABOVE ITS CLAIM" in text.stdout


def test_a_seed_repeats_the_audit(optldp, table):
    arguments = ["audit", table, "--samples", 20_000, "--seed", 1, "--json"]
    assert optldp(*arguments).stdout == optldp(*arguments).stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--samples", 10], "samples must be a whole number of at least 1000, got 10"),
        (["--samples", "1000.5"], "samples must be a whole number, got 1000.5"),
        (["--samples", "inf"], "samples must be a whole number, got inf"),
        (["--samples", "nan"], "samples must be a whole number, got nan"),
        (["--confidence", 2], "confidence must lie strictly between 0 and 1, got 2.0"),
    ],
)
def test_what_cannot_be_audited_is_refused(refusal, table, options, says):
    assert says in refusal("audit", table, *options)
