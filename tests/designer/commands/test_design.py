"""`optldp design` and `optldp compare`: what they make."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import METHODS, Prior, TradeOff, WorstCase, compare, design
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import load_table, ptt, ptt2, verify

from ..conftest import INCOME, PEOPLE
from ..objectives.test_variance import DENSITIES, KNOTS, REFERENCE

DESIGN = ("design", *INCOME, "--epsilon", 1, "--force", "--out", "new.json")
RANGE = ("--range", 0, 100)


class TestDesign:
    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
    @pytest.mark.parametrize("name", list(REFERENCE))
    def test_it_reproduces_the_reference_optima(self, optldp, name, epsilon):
        rows = [f"{x!r},{w!r}" for x, w in zip(KNOTS.tolist(), DENSITIES[name].tolist(), strict=True)]
        Path("density.csv").write_text("value,weight\n" + "\n".join(rows) + "\n")
        done = optldp("design", "--prior", "density.csv", "--uniform-share", 0, "--epsilon", epsilon, "--json")
        found, known = json.loads(done.stdout), REFERENCE[name][epsilon]
        assert found["knots"] == 17
        assert found["expected_variance"] == pytest.approx(known, rel=1e-6, abs=5.1e-7)
        assert 0 <= found["relative_gap"] <= 1e-6
        assert found["lower_bound"] <= found["expected_variance"]
        assert found["max_log_ratio"] <= epsilon
        assert found["table"] is None

    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("method", METHODS)
    def test_what_it_prints_is_what_the_saved_table_verifies_to(self, optldp, method):
        done = optldp(*DESIGN, *RANGE, "--knots", 5, "--method", method, "--json")
        found = json.loads(done.stdout)
        table = load_table("new.json")
        checked = verify(table)
        assert checked.ok
        assert (found["method"], table.provenance.method, found["table"]) == (method, method, "new.json")
        assert (found["knots"], found["outputs"]) == table.probabilities.shape
        assert (found["epsilon"], found["max_log_ratio"]) == (checked.epsilon, checked.max_log_ratio)
        for name in ("expected_variance", "worst_case_variance", "max_abs_bias"):  # sums, in any order
            assert found[name] == pytest.approx(getattr(checked, name), rel=1e-12, abs=1e-12)

    @pytest.mark.slow
    def test_it_is_the_librarys_design(self, optldp):
        options = ["--knots", 9, "--uniform-share", 0.01, "--tolerance", 1e-4, "--units", "EUR", "--public"]
        found = json.loads(optldp(*DESIGN, *RANGE, *options, "--json").stdout)
        prior = Prior.from_data(PEOPLE, knots=9, domain=(0, 100), source="public", units="EUR")
        made = design(prior, 1.0, uniform_share=0.01, tolerance=1e-4)
        assert found["expected_variance"] == made.expected_variance
        assert (found["program_variance"], found["program_lower_bound"]) == (made.value, made.bound)
        assert found["lower_bound"] == made.certificate.as_given.bound()
        table = load_table("new.json")
        assert np.array_equal(table.probabilities, made.mechanism.probabilities)
        assert table.units == "EUR"
        assert table.prior is not None
        assert table.prior.source == "public"

    @pytest.mark.nightly
    def test_options_of_the_methods_reach_them(self, optldp):
        lattice = ["--method", "aaa", "--intervals", 2, "--window", 5, "--tail-ratio", 0.9]
        optldp(*DESIGN, *RANGE, "--knots", 5, *lattice)
        parameters = load_table("new.json").provenance.parameters
        assert (parameters["intervals"], parameters["window"], parameters["ratio"]) == (2, 5, 0.9)
        optldp(*DESIGN, *RANGE, "--knots", 5, "--method", "ptt2", "--worst-case")
        assert load_table("new.json").provenance.parameters["second_moment"] == 1.0
        for method, family in (("ptt", ptt), ("ptt2", ptt2)):
            optldp(*DESIGN, *RANGE, "--knots", 5, "--method", method, "--eta", 2.5)
            made = load_table("new.json")
            assert made.provenance.parameters["eta"] == 2.5
            same = family(made.knots, made.epsilon, eta=2.5)
            np.testing.assert_allclose(made.knot_variances, same.knot_variances, rtol=1e-5)

    @pytest.mark.slow
    def test_a_prior_from_sensitive_values_is_warned_of_unless_public(self, optldp):
        sensitive, public = optldp(*DESIGN, *RANGE, "--knots", 5), optldp(*DESIGN, *RANGE, "--knots", 5, "--public")
        first, second, written = sensitive.stderr.splitlines()
        assert first.startswith("optldp: warning: ")
        assert "--public" in first
        assert "--omit-prior" in second
        assert written == "optldp: wrote new.json (a table of 5 knots)"
        assert public.stderr == f"{written}\n"

    @pytest.mark.slow
    def test_omit_prior_leaves_no_prior(self, optldp):
        optldp(*DESIGN, *RANGE, "--knots", 5)
        kept = load_table("new.json")
        done = optldp(*DESIGN, *RANGE, "--knots", 5, "--omit-prior", "--json")
        assert json.loads(Path("new.json").read_text()).get("prior") is None
        bare = load_table("new.json")
        assert kept.prior is not None
        assert bare.prior is None
        assert np.array_equal(kept.probabilities, bare.probabilities)
        assert json.loads(done.stdout)["expected_variance"] == verify(kept).expected_variance
        assert "--omit-prior" not in done.stderr

    def test_without_a_range_the_domain_is_the_datas_and_it_says_so(self, optldp):
        done = optldp(*DESIGN, "--knots", 5, "--public")
        assert done.stderr.startswith("optldp: note: no --range given; the range is the data's own")
        assert load_table("new.json").domain == (PEOPLE.min(), PEOPLE.max())

    @pytest.mark.slow
    def test_a_range_may_be_negative_and_must_not_be_the_datas(self, optldp):
        Path("signed.csv").write_text("x\n-0.75\n0.5\n")
        done = optldp("design", "signed.csv", "--column", "x", "--range", -1, 1, "--epsilon", 1, "--knots", 3,
                      "--out", "new.json")  # fmt: skip
        assert done.exit_code == 0
        assert load_table("new.json").knots.tolist() == [-1, 0, 1]

    @pytest.mark.nightly
    def test_missing_values_are_left_out_when_asked(self, optldp):
        Path("gaps.csv").write_text("x\n1\n\nNA\n4\n2\n")
        Path("full.csv").write_text("x\n1\n4\n2\n")
        arguments = ["--column", "x", "--epsilon", 1, "--knots", 4, "--json"]
        gaps = json.loads(optldp("design", "gaps.csv", *arguments, "--drop-missing").stdout)
        full = json.loads(optldp("design", "full.csv", *arguments).stdout)
        assert gaps["expected_variance"] == full["expected_variance"]

    @pytest.mark.nightly
    def test_parquet_is_read_like_csv(self, optldp):
        write_column("people.parquet", "income", PEOPLE)
        arguments = ["--column", "income", "--epsilon", 1, "--knots", 5, "--json"]
        csv = json.loads(optldp("design", "people.csv", *arguments).stdout)
        parquet = json.loads(optldp("design", "people.parquet", *arguments).stdout)
        assert parquet["expected_variance"] == csv["expected_variance"]

    @pytest.mark.nightly
    def test_an_open_gap_is_warned_of_and_the_table_written(self, optldp):
        done = optldp(*DESIGN, *RANGE, "--knots", 3, "--tolerance", 1e-15, "--public")
        assert done.exit_code == 0
        assert done.stderr.startswith("optldp: warning: the certificate's gap stayed open; ")
        assert load_table("new.json").provenance.certificate is not None

    @pytest.mark.slow
    @pytest.mark.parametrize("share", [None, 0, 0.3])
    def test_the_variance_that_is_shown_is_the_one_that_the_bound_is_for(self, optldp, share):
        asked = [*DESIGN, *RANGE, "--knots", 5, "--public", *([] if share is None else ["--uniform-share", share])]
        lines = [line.split()[:2] for line in optldp(*asked).stdout.splitlines()[1:]]
        shown = {name: float(value) for name, value in lines if name.endswith(("expected_variance", "lower_bound"))}
        assert shown["expected_variance"] >= shown["continuum_lower_bound"]  # to the digits that are printed
        told = json.loads(optldp(*asked, "--force", "--json").stdout)
        assert told["continuum_lower_bound"] <= told["lower_bound"] <= told["expected_variance"]
        assert told["program_lower_bound"] <= told["program_variance"] == told["value"]

    def test_brackets_in_a_name_are_printed_as_they_are(self, optldp):
        done = optldp("design", *INCOME, "--knots", 5, "--epsilon", 1, "--out", "[red]x.json")
        assert "[red]x.json" in done.stdout


class TestPriorFile:
    def test_its_values_and_the_ends_of_the_range_are_the_knots(self, optldp):
        optldp("design", "--prior", "prior.csv", "--epsilon", 1, "--range", -2, 1, "--out", "new.json")
        table = load_table("new.json")
        assert table.knots.tolist() == [-2, -1, -0.5, 0, 0.5, 1]
        assert table.prior is not None
        np.testing.assert_allclose(table.prior.weights, np.array([0, 1, 2, 3, 2, 1]) / 9)

    def test_other_knots_may_be_asked_for(self, optldp):
        optldp("design", "--prior", "prior.csv", "--epsilon", 1, "--knots", 4, "--out", "new.json")
        np.testing.assert_allclose(load_table("new.json").knots, [-1, -1 / 3, 1 / 3, 1])

    @pytest.mark.nightly
    def test_too_many_values_are_rounded_to_101_knots(self, optldp):
        values = np.linspace(0, 1, 500)
        Path("long.csv").write_text("value,weight\n" + "".join(f"{float(v)!r},1\n" for v in values))
        found = json.loads(
            optldp("design", "--prior", "long.csv", "--epsilon", 1, "--method", "duchi", "--json").stdout
        )
        assert found["knots"] == 101

    def test_values_of_no_weight_may_lie_outside_the_range(self, optldp):
        Path("wide.csv").write_text("value,weight\n0,1\n1,1\n5,0\n")
        found = optldp("design", "--prior", "wide.csv", "--range", 0, 1, "--epsilon", 1, "--json")
        assert json.loads(found.stdout)["knots"] == 2


class TestCompare:
    @pytest.mark.nightly
    def test_it_is_the_librarys_comparison(self, optldp):
        arguments = ["--knots", 5, "--epsilon", 0.5, "--epsilon", 2, "--uniform-share", 0.01]
        found = json.loads(optldp("compare", *INCOME, *RANGE, *arguments, "--json").stdout)
        prior = Prior.from_data(PEOPLE, knots=5, domain=(0, 100))
        rows = compare(prior, [0.5, 2.0], uniform_share=0.01)
        for told, row in zip(found["rows"], rows, strict=True):
            assert told | {"seconds": 0} == vars(row) | {"seconds": 0}
        assert [row["method"] for row in found["rows"]] == [*METHODS, *METHODS]

    def test_methods_can_be_chosen(self, optldp):
        chosen = ["--method", "duchi", "--method", "optimal"]
        found = json.loads(optldp("compare", "--prior", "prior.csv", "--epsilon", 1, *chosen, "--json").stdout)
        assert [row["method"] for row in found["rows"]] == ["duchi", "optimal"]
        assert found["rows"][1]["ratio_to_optimal"] == 1.0

    @pytest.mark.slow
    def test_its_table_has_one_line_per_row_under_a_header(self, optldp):
        chosen = ["--method", "three-outputs", "--method", "optimal"]
        shown = optldp("compare", "--prior", "prior.csv", "--epsilon", 1, *chosen).stdout
        title, header, *rows = shown.splitlines()
        assert "squared units" in title
        assert header.split() == ["method", "epsilon", "expected", "worst", "case", "ratio", "one_report"]
        assert [row.split()[0] for row in rows] == ["three-outputs", "optimal"]
        assert rows[1].split()[-2] == "1.0000"
        assert len({len(line) for line in (header, *rows)}) == 1

    @pytest.mark.nightly
    def test_the_first_objective_decides_and_every_one_has_its_table(self, optldp):
        arguments = ["compare", "--prior", "prior.csv", "--epsilon", 1, "--method", "optimal", "--method", "duchi"]
        chosen = ["--objective", "minimax", "--objective", "trade-off:0.5"]
        found = json.loads(optldp(*arguments, *chosen, "--json").stdout)["rows"]
        prior = Prior.from_pairs([-1, -0.5, 0, 0.5, 1], [1, 2, 3, 2, 1], knots=[-1, -0.5, 0, 0.5, 1])
        rows = compare(prior, [1.0], methods=["optimal", "duchi"], objective=WorstCase(), objectives=[TradeOff(0.5)])
        assert [told | {"seconds": 0} for told in found] == [vars(row) | {"seconds": 0} for row in rows]
        shown = optldp(*arguments, *chosen).stdout
        assert shown.count("ratio to the optimum") == 2
        assert shown.count("duchi") == 2

    def test_a_method_that_an_objective_cannot_judge_is_told_of(self, optldp):
        chosen = ["--objective", "information:fisher", "--method", "optimal", "--method", "duchi"]
        done = optldp("compare", *INCOME, *RANGE, "--knots", 5, "--epsilon", 1, *chosen)
        assert "duchi" in done.stdout
        assert (
            "warning: 1 of 2 rows have no value, the first duchi at epsilon 1 by information: the Fisher" in done.stderr
        )

    @pytest.mark.slow
    def test_a_sensitive_prior_is_warned_of_unless_public(self, optldp):
        arguments = ["compare", *INCOME, *RANGE, "--knots", 5, "--epsilon", 1, "--method", "duchi"]
        assert "--public" in optldp(*arguments).stderr
        assert optldp(*arguments, "--public").stderr == ""
