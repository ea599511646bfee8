"""The command line for several attributes at levels: design, show, verify, perturb, estimate, and what is refused."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import count, personalised_distribution
from optldp.estimators.personalised import personalised_attribute_means
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.number_cells import read_sparse_column
from optldp.mechanisms import load_mechanism
from optldp.mechanisms.combinators import PersonalisedReports

from ...conftest import found, instead

AGE, PAY = np.resize(np.arange(18, 91), 900), np.linspace(0.0, 60.0, 900)
BOTH = ("--attribute", "age=18:90", "--attribute", "pay=0:60", "--levels", "0.5,1,2", "--knots", 5, "--public")


@pytest.fixture
def staff(here) -> Path:
    """staff.csv: age, pay and budget of 900 people."""
    rows = zip(AGE, PAY, np.resize([0.5, 1.0, 2.0], 900), strict=True)
    Path("staff.csv").write_text("age,pay,budget\n" + "".join(f"{a},{p},{b}\n" for a, p, b in rows))
    return Path("staff.csv")


@pytest.fixture
def designed(optldp, design_once, staff):
    """Design made.json with more options, perturb r.csv with it, and return what design said."""

    def run(*more: object) -> dict:
        said = design_once(staff, *BOTH, *more)
        found(
            optldp, "perturb", "made.json", staff, "--level-column", "budget", "--force", "--out", "r.csv", "--seed", 1
        )
        return said

    return run


def counted():
    made = load_mechanism("made.json")
    columns = [read_sparse_column("r.csv", f"simulated_{name}") for name in ("age", "pay")]
    told = read_column("r.csv", "simulated_level")
    levels = made.level_numbers(told) if made.level_mechanism is None else told.astype(int)
    return count(made, PersonalisedReports(levels, np.column_stack(columns)))


DUCHI = ("--method", "duchi")
OUE = ("--level-epsilon", 1, "--level-method", "oue")


@pytest.mark.nightly
@pytest.mark.parametrize("more", [DUCHI, ("--level-epsilon", 1, "--leakage", 1), (*DUCHI, *OUE)])
def test_estimate_says_what_python_does(optldp, designed, more):
    """Means of all attributes and of one, with the shares of the levels of all users."""
    designed(*more)
    means = personalised_attribute_means(counted())
    every = found(optldp, "estimate", "made.json", "r.csv")
    assert every["value"] == pytest.approx(means.value.tolist())
    assert every["std_error"] == pytest.approx(means.std_error.tolist())
    assert every["level_shares"]["level"] == [0.5, 1.0, 2.0]
    assert every["level_shares"]["n"] == sum(every["n"]) == 900
    one = found(optldp, "estimate", "made.json", "r.csv", "--attribute", "pay")
    assert (one["attribute"], one["value"]) == ("pay", pytest.approx(means["pay"].value))
    shape = found(optldp, "estimate", "made.json", "r.csv", "--attribute", "age", "--of", "distribution")
    assert shape["value"] == pytest.approx(personalised_distribution(counted()["age"]).value.tolist())
    assert shape["level_shares"]["level"] == [0.5, 1.0, 2.0]


@pytest.mark.nightly
def test_leakage_bounds_what_all_reports_tell_of_the_level(optldp, designed):
    """With two attributes drawn each has half of it; the mean is unbiased though levels are protected."""
    said = designed("--leakage", 1, "--level-epsilon", 0.5, "--sampled", 2)
    made = load_mechanism("made.json")
    assert 0.98 < said["report_leakage"] <= 1.0
    assert made.level_leakage == pytest.approx(said["report_leakage"] + 0.5)
    for command in ("show", "verify"):
        facts = found(optldp, command, "made.json")
        assert (facts["level_leakage"], facts["sampled"]) == (pytest.approx(made.level_leakage), 2)
        assert facts["levels"] == [0.5, 1.0, 2.0]
    assert found(optldp, "verify", "made.json")["verdict"] == "proved"
    assert found(optldp, "estimate", "made.json", "r.csv")["method"] == "population"
    assert designed(*DUCHI, "--level-epsilon", 1)["level_leakage"] is None


@pytest.mark.nightly
def test_as_many_are_sampled_at_all_levels_as_is_best_at_the_strictest(optldp, staff):
    """One at a budget of 0.5, though others have 16; two at 8."""
    for levels, best in (("0.5,16", 1), ("8,16", 2)):
        said = found(
            optldp, "design", staff, *instead(BOTH, "--levels", levels), *DUCHI, "--force", "--out", "made.json"
        )
        assert said["sampled"] == best


REFUSED = [
    (("design", "staff.csv", *BOTH, "--leakage", 1, "--method", "duchi"), "--leakage is for method optimal"),
    (("design", "staff.csv", *BOTH, "--epsilon", 1), "either --epsilon or --levels"),
    (("design", "no.csv", *BOTH, "--attribute", "level=0:1"), "must not be named 'level', as the column of levels is"),
    (("perturb", "made.json", "staff.csv", "--out", "s.csv"), "needs --level-column"),
    (("estimate", "made.json", "r.csv", "--attribute", "wage"), "attributes are age, pay, got 'wage'"),
    (("estimate", "made.json", "r.csv", "--of", "quantiles"), "choose it by --attribute, one of age, pay"),
    (("estimate", "made.json", "r.csv", "--attribute", "pay", "--method", "ua"), "--method must be one of"),
    (("estimate", "made.json", "r.csv", "made.json", "r.csv"), "got several"),
    (("count", "made.json", "r.csv", "--out", "c.csv"), "estimate takes the reports themselves"),
]


@pytest.mark.slow
def test_what_is_not_supported_is_refused_in_one_line(optldp, designed):
    """And exit code 2."""
    designed(*DUCHI)
    for arguments, message in REFUSED:
        done = optldp(*arguments)
        assert (done.exit_code, len(done.stderr.strip().splitlines())) == (2, 1), done.output
        assert message in done.stderr


@pytest.mark.nightly
def test_rows_that_are_no_reports_are_left_out_and_counted(optldp, designed):
    """A row without a level, one without a report, one of two reports."""
    designed(*DUCHI)
    whole = found(optldp, "estimate", "made.json", "r.csv")
    with Path("r.csv").open("a") as file:
        file.write("20,,,\n,,1,\n20,30,1,\n")
    done = optldp("estimate", "made.json", "r.csv")
    assert done.exit_code == 2
    assert "3 of 903 rows" in done.stderr
    assert found(optldp, "estimate", "made.json", "r.csv", "--skip-invalid")["value"] == whole["value"]
