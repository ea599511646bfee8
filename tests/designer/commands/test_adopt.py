"""`optldp adopt`: reports that others' clients drew, kept by `.ci/others/others_reports.py`, through the commands."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ..conftest import found

KEPT = json.loads((Path(__file__).parent / "others_reports.json").read_text())


def adopted(optldp, case: dict) -> tuple[str, str]:
    """A mechanism and a file of reports as that package's users would have them."""
    Path("labels.csv").write_text("value\n" + "\n".join(KEPT["labels"]) + "\n")
    with Path("theirs.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["report", "seed"][: len(case["reports"])])
        rows.writerows(zip(*case["reports"], strict=True))
    told = [word for name, value in case["told"].items() for word in (f"--{name}", value)]
    optldp("adopt", case["law"], "--categories", "labels.csv", *told, "--force", "--out", "theirs.json")
    return "theirs.json", "theirs.csv"


@pytest.mark.parametrize("case", KEPT["cases"], ids=lambda case: f"{case['package']} {case['law']}")
def test_our_estimate_of_their_reports_is_theirs(optldp, case):
    """To rounding, where the package has one; the mark is on it."""
    said = found(optldp, "estimate", *adopted(optldp, case))
    assert said["origin"] == "not drawn by us, not audited"
    assert said["n"] == len(case["reports"][0])
    ours, theirs = np.array(said["value"]), case["estimate"]
    if theirs is None:  # OpenDP: probability 0.5 of the own label, 0.1 of any other
        theirs = [(case["reports"][0].count(label) / said["n"] - 0.1) / 0.4 for label in KEPT["labels"]]
    if case["cut"]:
        ours = np.maximum(ours, 0) / np.maximum(ours, 0).sum()
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.slow
def test_counts_of_their_reports_tell_the_same_and_nothing_draws_by_their_law(optldp, refusal):
    """Hashed reports stand in two columns, which one query does not count; show and verify say what nobody knows."""
    made, reports = adopted(optldp, next(case for case in KEPT["cases"] if case["law"] == "olh"))
    optldp("count", made, reports, "--out", "counts.csv")
    whole = found(optldp, "estimate", made, reports, "--method", "mle")
    assert found(optldp, "estimate", made, "--counts", "counts.csv", "--method", "mle")["value"] == whole["value"]
    assert "optldp count reads these" in refusal("count-sql", made, "--from", "t")
    assert "not drawn by us" in refusal("perturb", made, "people.csv", "--column", "name", "--out", "r.csv")
    assert "not drawn by us" in refusal("audit", made)
    assert found(optldp, "show", made)["origin"] == "not drawn by us, not audited"
    verified = found(optldp, "verify", made)
    assert verified["verdict"] == "proved"
    assert "is the word of who drew them" in verified["unknown"]


@pytest.mark.nightly
def test_labels_that_are_numbers_are_read_as_what_was_said(optldp):
    """Index 1 is the second category, label 1 the first."""
    Path("labels.csv").write_text("value\n1\n0\n")
    Path("r.csv").write_text("report\n" + "1\n" * 80 + "0\n" * 20)
    shares = {}
    for form in ("index", "label"):
        made = f"{form}.json"
        optldp("adopt", "grr", "--categories", "labels.csv", "--epsilon", 2, "--written", form, "--out", made)
        shares[form] = found(optldp, "estimate", made, "r.csv")["value"]
        optldp("count", made, "r.csv", "--force", "--out", "c.csv")
        assert found(optldp, "estimate", made, "--counts", "c.csv")["value"] == shares[form]
    assert shares["index"] == pytest.approx(shares["label"][::-1], abs=1e-12)
    assert shares["label"][0] > 0.5
