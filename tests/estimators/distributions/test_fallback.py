"""Where no log density is found, the exact fit takes its place, and everybody is told."""

import json

import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.estimators import count, estimate_distribution
from optldp.estimators.distributions.estimation import estimate_alone
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import SolverError, make_exact, save_table, square_wave
from typer.testing import CliRunner

TABLE = make_exact(square_wave(np.linspace(0.0, 1.0, 9), 2.0)).mechanism


@pytest.fixture
def nothing_smooth(monkeypatch):
    def fail(*_, **__):
        raise SolverError("the log-density fit has not converged in 102 evaluations")

    monkeypatch.setattr("optldp.estimators.distributions.likelihood_methods.smooth_likelihood", fail)


def counted(rng):
    return count(TABLE, TABLE.sample(np.repeat([0.0, 0.5], [950, 50]), rng))


@pytest.mark.usefixtures("nothing_smooth")
def test_the_estimate_is_that_of_em_and_says_so():
    counts = counted(np.random.default_rng(1))
    found, exact = estimate_distribution(counts), estimate_distribution(counts, method="em")
    assert (found.method, found.instead_of, exact.instead_of) == ("em", "smooth", "")
    np.testing.assert_array_equal(found.value, exact.value)
    assert found.quantile(0.5).interval() == exact.quantile(0.5).interval()
    assert "by em: smooth found no fit" in found.summary()
    weights, _ = estimate_alone(counts, "smooth", found.grid)
    np.testing.assert_allclose(weights, exact.value, atol=1e-6)


@pytest.mark.nightly
@pytest.mark.usefixtures("nothing_smooth")
@pytest.mark.parametrize("of", ["distribution", "quantiles"])
def test_the_command_says_it_in_a_note_and_in_json(tmp_path, monkeypatch, of):
    monkeypatch.chdir(tmp_path)
    save_table(TABLE, "t.json")
    write_column("r.csv", "report", TABLE.sample(np.repeat([0.0, 0.5], [950, 50]), np.random.default_rng(1)))
    done = CliRunner().invoke(app, ["estimate", "t.json", "r.csv", "--of", of, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "note: smooth found no fit of these reports: em took its place" in done.stderr
    assert json.loads(done.stdout)["instead_of"] == "smooth"


def test_otherwise_nothing_is_said():
    assert estimate_distribution(counted(np.random.default_rng(1))).instead_of == ""
