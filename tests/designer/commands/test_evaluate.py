"""`optldp evaluate`: an old table on new values, beside a new design for them."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Prior, design
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import load_table, make_exact, save_table, square_wave

from ..conftest import INCOME, PEOPLE


@pytest.mark.usefixtures("table")
class TestEvaluate:
    @pytest.mark.slow
    def test_an_old_table_beside_a_new_design(self, optldp):
        later = np.clip(PEOPLE + 20, 0, 100)
        write_column("later.csv", "income", later)
        told = json.loads(
            optldp("evaluate", "mech.json", "--on", "later.csv", "--column", "income", "--n", 400, "--json").stdout
        )
        table = load_table("mech.json")
        prior = Prior.from_data(later, knots=table.knots)
        assert told["expected_variance"] == pytest.approx(table.expected_variance(prior.knot_prior))
        assert told["expected_variance_of_new_design"] == pytest.approx(design(prior, 1.0).expected_variance)
        assert told["ratio_to_new_design"] > 1.01
        assert told["mean_within"] == pytest.approx(1.96 * np.sqrt(told["expected_variance"]) / 20, rel=1e-4)

    def test_on_what_it_was_made_for_nothing_is_lost(self, optldp):
        shown = optldp("evaluate", "mech.json", "--on", *INCOME).stdout
        told = dict(line.rsplit(maxsplit=1) for line in shown.splitlines()[1:])
        told = {name.strip(): float(value) for name, value in told.items()}
        assert told["expected_variance"] == told["expected_variance_as_designed"]
        assert told["ratio_to_new_design"] == pytest.approx(1, abs=1e-5)

    @pytest.mark.slow
    def test_values_outside_the_tables_range_are_clipped_if_asked_for(self, optldp, refusal):
        write_column("later.csv", "income", [50.0, 101.0])
        words = ("evaluate", "mech.json", "--on", "later.csv", "--column", "income")
        assert "got 1 of 2 of income outside" in refusal(*words)
        assert optldp(*words, "--clip").exit_code == 0


def test_a_table_of_biased_reports_is_judged_decoded(optldp):
    save_table(make_exact(square_wave(np.linspace(0, 100, 9), 1.0)).mechanism, "wave.json")
    told = json.loads(optldp("evaluate", "wave.json", "--on", *INCOME, "--json").stdout)
    assert told["ratio_to_new_design"] > 1


def test_categories_are_judged_by_the_error_of_their_frequencies(optldp, refusal):
    """That of the method's closed form, and the new design errs less."""
    Path("jobs.csv").write_text("value,weight\na,6\nb,1\nc,1\n")
    Path("later.csv").write_text("value,weight\nb,6\na,1\n")
    optldp(
        "design", "--prior", "jobs.csv", "--categorical", "--epsilon", 1, "--method", "optimal", "--out", "made.json"
    )
    words = ("evaluate", "made.json", "--prior", "later.csv")
    told = json.loads(optldp(*words, "--n", 100, "--json").stdout)
    prior, epsilon = CategoricalPrior(["a", "b", "c"], [1, 6, 0]), 1.0
    new = design(prior, epsilon)
    assert told["expected_squared_error_of_new_design"] == pytest.approx(new.value)
    assert told["ratio_to_new_design"] > 1 + 1e-3  # a design's tolerance
    assert told["frequency_error"] == pytest.approx(np.sqrt(told["expected_squared_error"] / 300))
    Path("later.csv").write_text("value,weight\nz,6\na,1\n")
    assert "'z'" in refusal(*words)


@pytest.mark.nightly
def test_how_many_people_of_new_values_an_assumption_must_exempt_is_told(optldp, refusal):
    Path("last.csv").write_text("value,weight\n0,1\n1,1\n2,1\n3,1\n")
    optldp("design", "--prior", "last.csv", "--public", "--knots", 4, "--epsilon", 1, "--out", "m.json")
    Path("now.csv").write_text("v\n" + "0\n1\n2\n2\n3\n" * 20)
    words = ("evaluate", "m.json", "--on", "now.csv", "--column", "v", "--assume", "trust=1.2")
    assert json.loads(optldp(*words, "--json").stdout)["exempt_needed"] == {"trust=1.2": pytest.approx(0.1, abs=1e-3)}
    assert "10% of people had to be exempt" in optldp(*words).stderr
    optldp("design", "--prior", "last.csv", "--public", "--epsilon", 1, "--omit-prior", "--out", "m.json", "--force")
    assert "is near the prior that 'm.json' carries, got none" in refusal(*words)
