"""What one report can do, as show, estimate and compare print it, and `estimate --winsorise`."""

# Arrays are given as lists, which array_like allows; what may be None is known not to be.
# pyright: reportArgumentType=false, reportOperatorIssue=false

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer.commands.handlers.registry import kind_of
from optldp.estimators import count, estimate_mean, fitted_influence, influence
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import (
    AttributeSampling,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    load_table,
    make_exact,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.sampling.within_cell import GeometricTails

from ..conftest import INCOME


def facts_of(text):
    """The lines "  name  value" of a printout."""
    return dict(line.split(maxsplit=1) for line in text.splitlines() if line.startswith("  "))


def lattice() -> TabulatedMechanism:
    """An exact table of two lattice tails."""
    rows = [[0.75, 0.25], [0.25, 0.75]]
    ends = ([-np.inf, 2.0], [-2.0, np.inf])
    return TabulatedMechanism([-1.5, 1.5], *ends, rows, 1.1, GeometricTails(1.0, 0.5), units="EUR", exact=True)


class TestTables:
    def test_show_says_what_one_report_of_n_does(self, optldp, table):
        times_n = json.loads(optldp("show", table, "--json").stdout)["one_report_times_n"]
        assert times_n == pytest.approx(float(influence(load_table(table)).times_n[0]))
        shown = facts_of(optldp("show", table).stdout)
        assert shown["one_report"] == f"of n moves the mean by at most {times_n:.7g}/n"

    @pytest.mark.slow
    def test_estimate_says_it_beside_the_standard_error(self, optldp, table):
        optldp("perturb", table, *INCOME, "--out", "r.csv", "--seed", 1)
        found = json.loads(optldp("estimate", table, "r.csv", "--json").stdout)
        assert found["one_report"] == pytest.approx(float(influence(load_table(table)).times_n[0]) / 300)
        text = optldp("estimate", table, "r.csv").stdout
        assert facts_of(text)["one_report"] == f"moves the mean by at most {found['one_report']:.4g} (of 300)"
        assert "bias_low" not in text
        names = list(facts_of(text))
        assert names.index("one_report") == names.index("target") + 1

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", ["em", "ems", "smooth"])
    def test_fits_have_it_to_first_order(self, optldp, table, method):
        from optldp.estimators import ReportCounts, estimate_distribution

        optldp("perturb", table, *INCOME, "--out", "r.csv", "--seed", 1)
        found = json.loads(optldp("estimate", table, "r.csv", "--method", method, "--json").stdout)
        counts = ReportCounts.from_reports(load_table(table), read_column("r.csv", "simulated_report"))
        expected = fitted_influence(counts, estimate_distribution(counts, method=method)).one_report[0]
        assert found["one_report"] == pytest.approx(float(expected), rel=1e-6)

    @pytest.mark.nightly
    def test_where_none_is_known_none_is_printed(self, optldp, table):
        optldp("perturb", table, *INCOME, "--out", "r.csv", "--seed", 1)
        assert json.loads(optldp("estimate", table, "r.csv", "--method", "mr", "--json").stdout)["one_report"] is None
        assert "one_report" not in optldp("estimate", table, "r.csv", "--method", "mr").stdout

    @pytest.mark.slow
    def test_compare_has_a_column(self, optldp):
        arguments = ["compare", *INCOME, "--range", 0, 100, "--knots", 5, "--epsilon", 1, "--method", "duchi"]
        (row,) = json.loads(optldp(*arguments, "--json").stdout)["rows"]
        assert row["one_report_times_n"] == pytest.approx(100 * (np.e + 1) / (np.e - 1), rel=1e-9)
        header, cells = optldp(*arguments).stdout.splitlines()[1:]
        assert header.split()[-1] == "one_report"
        assert float(cells.split()[-1]) == pytest.approx(row["one_report_times_n"], rel=1e-6)


class TestWinsorise:
    @pytest.fixture(autouse=True)
    def reports(self, here):
        save_table(lattice(), "lattice.json")
        drawn = lattice().sample(np.full(400, 0.5), np.random.default_rng(1))
        Path("r.csv").write_text("report\n" + "".join(f"{y!r}\n" for y in drawn.tolist()))

    @pytest.mark.slow
    def test_it_is_the_librarys(self, optldp):
        found = json.loads(optldp("estimate", "lattice.json", "r.csv", "--raw", "--winsorise", 0.05, "--json").stdout)
        expected = estimate_mean(count(lattice(), read_column("r.csv", "report")), winsorise=0.05, raw=True)
        assert found | expected.to_dict() == found
        assert found["bias_high"] > 0
        plain = json.loads(optldp("estimate", "lattice.json", "r.csv", "--raw", "--json").stdout)
        assert found["one_report"] < plain["one_report"] / 5
        shown = facts_of(optldp("estimate", "lattice.json", "r.csv", "--raw", "--winsorise", 0.05).stdout)
        assert float(shown["bias_high"]) == pytest.approx(found["bias_high"], rel=1e-6)

    def test_a_report_that_the_sampler_cannot_make_is_refused(self, refusal):
        Path("bad.csv").write_text(Path("r.csv").read_text() + "1e295\n")
        message = refusal("estimate", "lattice.json", "bad.csv")
        assert "got 1 of 401 rows that hold none, the first in row 401: 1e+295 is no output of this table" in message

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (["--winsorise", 0.5], "strictly between 0 and 0.5, got 0.5"),
            (["--winsorise", 0.1, "--method", "em"], "--winsorise is for the plain mean of one table: leave it out"),
            (["--winsorise", 0.1, "--of", "quantiles"], "--winsorise is for the plain mean of one table"),
        ],
    )
    def test_other_uses_are_refused(self, refusal, more, says):
        assert says in refusal("estimate", "lattice.json", "r.csv", *more)

    def test_bundles_do_not_take_it(self, refusal):
        save_bundle(categorical_grr("ab", 1.0), "grr.json")
        Path("c.csv").write_text("report\n0\n1\n")
        message = refusal("estimate", "grr.json", "c.csv", "--winsorise", 0.1)
        assert "--winsorise is for tables of numbers: leave it out" in message


def exact(table):
    return make_exact(table).mechanism


BUNDLES = {
    "categories": (categorical_grr("abc", 1.0), "of n moves a frequency by at most"),
    "pairs": (key_value_unary("ab", exact(duchi([0.0, 1.0], 1.0)), 1.0), "of n moves a frequency by at most"),
    "attributes": (
        AttributeSampling(["x", "y"], [exact(duchi([0.0, 1.0], 1.0)), exact(duchi([0.0, 9.0], 1.0))], 1, 1.0),
        "of n moves the means by at most",
    ),
    "levels": (
        PersonalisedMechanism([exact(duchi([0.0, 1.0], e)) for e in (1.0, 2.0)]),
        "of n, all of one level, moves the mean by at most",
    ),
}


class TestBundles:
    @pytest.mark.parametrize("kind", list(BUNDLES))
    def test_show_says_it_for_every_kind(self, optldp, kind):
        made, says = BUNDLES[kind]
        save_bundle(made, "made.json")
        found = json.loads(optldp("show", "made.json", "--json").stdout)["one_report_times_n"]
        assert found == pytest.approx(kind_of(made).one_report_times_n())
        assert facts_of(optldp("show", "made.json").stdout)["one_report"].startswith(says)

    def test_levels_of_categories_have_none(self, optldp):
        save_bundle(PersonalisedMechanism([categorical_grr("ab", e) for e in (1.0, 2.0)]), "made.json")
        assert json.loads(optldp("show", "made.json", "--json").stdout)["one_report_times_n"] is None
        assert "one_report" not in optldp("show", "made.json").stdout

    @pytest.mark.slow
    def test_frequencies_say_it(self, optldp):
        save_bundle(BUNDLES["categories"][0], "made.json")
        Path("c.csv").write_text("report\n" + "0\n1\n2\n1\n")
        found = json.loads(optldp("estimate", "made.json", "c.csv", "--json").stdout)
        assert found["one_report"] == pytest.approx(kind_of(BUNDLES["categories"][0]).one_report_times_n() / 4)
        shown = optldp("estimate", "made.json", "c.csv").stdout
        assert f"moves a frequency by at most {found['one_report']:.4g} (of 4)" in shown
        assert "one_report" not in optldp("estimate", "made.json", "c.csv", "--method", "mle").stdout

    def test_pairs_say_it_of_frequencies_and_means(self, optldp):
        made = BUNDLES["pairs"][0]
        save_bundle(made, "made.json")
        reports = made.sample(["a", "b"] * 200, [0.2, 0.9] * 200, np.random.default_rng(1))
        Path("p.csv").write_text("report\n" + "".join(f"{text}\n" for text in made.to_text(reports)))
        found = json.loads(optldp("estimate", "made.json", "p.csv", "--json").stdout)
        assert found["one_report"] == pytest.approx(kind_of(made).one_report_times_n() / 400)
        assert all(0 < moved <= 1 for moved in found["mean_one_report"])

    @pytest.mark.slow
    def test_attributes_and_levels_say_it_of_their_means(self, optldp):
        made = BUNDLES["attributes"][0]
        save_bundle(made, "made.json")
        drawn = made.sample(np.full((60, 2), 0.5), np.random.default_rng(1))
        rows = zip(
            *([("" if np.isnan(y) else repr(y)) for y in column.tolist()] for column in drawn.values()), strict=True
        )
        Path("a.csv").write_text("x,y\n" + "".join(",".join(row) + "\n" for row in rows))
        found = json.loads(optldp("estimate", "made.json", "a.csv", "--json").stdout)
        ranges = np.array(kind_of(made).one_report_times_n()) / 2
        np.testing.assert_allclose(np.array(found["one_report"]) * found["n"], ranges, rtol=1e-9)
        made = BUNDLES["levels"][0]
        save_bundle(made, "levels.json")
        sent = made.sample(np.full(80, 0.5), np.arange(80) % 2, np.random.default_rng(1))
        budgets = np.array(made.epsilons)[sent.levels]
        rows = "".join(f"{level!r},{y!r}\n" for level, y in zip(budgets.tolist(), sent.reports.tolist(), strict=True))
        Path("l.csv").write_text("level,report\n" + rows)
        shown = optldp("estimate", "levels.json", "l.csv").stdout
        one = json.loads(optldp("estimate", "levels.json", "l.csv", "--json").stdout)["one_report"]
        assert facts_of(shown)["one_report"] == f"moves the mean by at most {one:.4g} (of 80)"


def test_compare_says_it_of_frequencies(optldp):
    Path("jobs.csv").write_text("value,weight\ncook,3\npilot,1\nsmith,1\n")
    arguments = ["compare", "--prior", "jobs.csv", "--categorical", "--epsilon", 1]
    rows = {row["method"]: row for row in json.loads(optldp(*arguments, "--json").stdout)["rows"]}
    assert rows["grr"]["one_report_times_n"] == pytest.approx(float(influence(categorical_grr("abc", 1.0)).times_n[0]))
    assert rows["oue"]["one_report_times_n"] == pytest.approx(1 / (0.5 - 1 / (np.e + 1)))
    assert optldp(*arguments).stdout.splitlines()[1].split()[-1] == "one_report"
