"""No variance or error is printed below the bound that is printed for it, whoever reads: people, programs, signers."""

import json
import re

import pytest
from optldp.designer import Prior, bounds
from optldp.designer.report.sentences import about_variance

from ..conftest import INCOME

MADE = ("design", *INCOME, "--range", 0, 100, "--knots", 5, "--public")
DESIGNS = {
    "optimal": (),
    "another method": ("--method", "ptt"),
    "much spread evenly": ("--uniform-share", 0.2),
    "minimax": ("--objective", "minimax"),
    "trade-off": ("--objective", "trade-off:0.5"),
    "robust": ("--objective", "robust:tv,radius=0.1"),
    "error": ("--objective", "error", "--n", 1000),
    "information": ("--objective", "information:fisher"),
}
PAIRS = (
    ("expected_variance", "lower_bound", ("optimal", "another method", "much spread evenly")),
    ("expected_variance", "continuum_lower_bound", ("optimal", "much spread evenly")),
    ("program_variance", "program_lower_bound", ("optimal", "another method", "much spread evenly")),
    ("worst_case_variance", "lower_bound", ("minimax",)),
    ("worst_knot_variance", "worst_case_lower_bound", ("minimax",)),
    ("weighted_variance", "lower_bound", ("trade-off",)),
    ("guaranteed_variance", "lower_bound", ("robust",)),
    ("rmse", "lower_bound", ("error",)),
    ("trace", "trace_lower_bound", ("information",)),
)
"""What is printed, the bound that is printed for it, and by which designs."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
@pytest.mark.parametrize("name", DESIGNS)
def test_no_design_prints_less_than_its_bound(optldp, name, epsilon):
    asked = [*MADE, *DESIGNS[name], "--epsilon", epsilon]
    told = json.loads(optldp(*asked, "--json").stdout)
    shown = dict(re.findall(r"^  (\w+) +([-+.e\d]+)", optldp(*asked).stdout, re.MULTILINE))
    pairs = [(what, bound) for what, bound, designs in PAIRS if name in designs]
    assert pairs
    for what, bound in pairs:
        assert told[bound] <= told[what], what
        if what in shown and bound in shown:
            assert float(shown[bound]) <= min(float(shown[what]), told[bound]), what


@pytest.mark.slow
@pytest.mark.parametrize("command", ["bounds", "compare"])
def test_no_row_prints_less_than_its_bound(optldp, command):
    asked = [command, *INCOME, "--range", 0, 100, "--knots", 5, "--public", "--epsilon", 1, "--epsilon", 4]
    rows = json.loads(optldp(*asked, "--json").stdout)["rows"]
    by_variance = [row for row in rows if row["objective"] == "expected" and row["expected_variance"] is not None]
    assert len(by_variance) > 4
    for row in by_variance:
        assert row["expected_bound"] <= row["expected_variance"]
        assert row["bound"] <= row["value"]
        assert command != "bounds" or row["lower_bound"] == row["expected_bound"]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_no_report_says_that_less_is_impossible_than_it_says_there_is(epsilon):
    found = bounds(Prior.on_knots([0, 5, 10, 20, 100], [8, 4, 2, 1, 1], source="public"), [epsilon])
    said = about_variance(found)[0]
    has, least = re.search(r"variance of ([\d.,]+): .* less than ([\d.,]+), and the optimum is within", said).groups()  # pyright: ignore[reportOptionalMemberAccess] -- of these there is one
    assert float(least.replace(",", "")) <= float(has.replace(",", ""))
