"""The command line for categories, levels, pairs and several attributes: design, show, verify, perturb, estimate."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.personalised import auem_variance
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.texts import missing_texts, read_labels, read_texts
from optldp.mechanisms import load_mechanism, save_bundle
from optldp.mechanisms.categorical import optimised_unary

from ...conftest import found

JOBS = np.repeat(["cook", "smith", "nurse", "clerk"], [400, 300, 200, 100])
BUDGETS = np.resize([0.5, 1.0, 2.0], 1000)
PAY = np.linspace(0.0, 60.0, 1000)


@pytest.fixture
def staff(here) -> Path:
    """staff.csv: id, job, budget, pay, age of a thousand people."""
    rows = zip(range(1000), JOBS, BUDGETS, PAY, np.resize(np.arange(18, 91), 1000), strict=True)
    Path("staff.csv").write_text(
        "id,job,budget,pay,age\n" + "".join(f"p{i},{j},{b},{p},{a}\n" for i, j, b, p, a in rows)
    )
    return Path("staff.csv")


@pytest.fixture
def design(design_once, staff):
    """Design a mechanism from staff.csv and return what is known of it."""
    return lambda *words: design_once(staff, *words)


CATEGORICAL = ("--column", "job", "--categorical", "--epsilon", 2)


class TestCategories:
    @pytest.mark.parametrize("method", ["auto", "grr", "olh", "oue", "rappor", "subset", "projective-geometry"])
    def test_what_is_designed_is_perturbed_with_and_estimated_from(self, optldp, design, method):
        """The whole loop; the estimate is what the library makes of the reports in the file."""
        facts = design(*CATEGORICAL, "--method", method)
        assert facts["method"] == ("grr" if method == "auto" else method)
        assert facts["categories"] == 4
        assert facts["max_log_ratio"] <= 2.0
        assert found(optldp, "perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv") == {
            "n": 1000, "clipped": 0, "out": "r.csv", "simulated": False,
        }  # fmt: skip
        result = found(optldp, "estimate", "made.json", "r.csv")
        mechanism = load_mechanism("made.json")
        counts = CategoryCounts.from_reports(mechanism, mechanism.from_text(read_labels("r.csv", "report").tolist()))
        assert result["category"] == ["clerk", "cook", "nurse", "smith"]
        assert result["value"] == estimate_frequencies(counts).value.tolist()
        assert result["n"] == 1000

    def test_a_seed_makes_it_the_librarys_sample(self, optldp, design):
        """The reports are those of a generator with that seed, and the result says that it was a simulation."""
        design(*CATEGORICAL)
        done = found(optldp, "perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv", "--seed", 5)
        mechanism = load_mechanism("made.json")
        expected = mechanism.to_text(mechanism.sample(JOBS, np.random.default_rng(5)))
        assert done["simulated"]
        assert read_labels("r.csv", "simulated_report").tolist() == expected

    @pytest.mark.slow
    def test_em_may_be_told_to_stop_as_it_does(self, optldp, design, refusal):
        """At a step that gains little, as papers do; the certified maximum has a name of its own."""
        design(*CATEGORICAL)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv")
        told = found(optldp, "estimate", "made.json", "r.csv", "--method", "em:stop=loglik")
        assert told["stop"] == "loglik-change"
        assert told["value"] == found(optldp, "estimate", "made.json", "r.csv", "--method", "em")["value"]
        message = refusal("estimate", "made.json", "r.csv", "--method", "em:stop=certificate")
        assert "whose certified maximum is --method mle" in message

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", ["norm-sub", "base-cut", "iiw", "em", "mle", "mr"])
    def test_every_method_writes_and_draws_its_frequencies(self, optldp, design, method):
        """The file has a row for each category with its interval."""
        design(*CATEGORICAL)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv", "--seed", 1)
        result = found(
            optldp, "estimate", "made.json", "r.csv", "--method", method, "--out", "f.csv", "--plot", "f.png"
        )
        category, frequency, low, high = read_texts("f.csv", ["category", "value", "low", "high"])
        assert category.tolist() == result["category"]
        assert frequency.astype(float).tolist() == result["value"]
        assert (low.astype(float) <= high.astype(float)).all()
        assert Path("f.png").stat().st_size > 2000

    @pytest.mark.slow
    def test_categories_may_be_reduced_before_the_first_fit(self, optldp, design):
        """The settings of mixture reduction reach the estimator; so does the threshold of the base cut."""
        design(*CATEGORICAL)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv", "--seed", 1)
        mechanism = load_mechanism("made.json")
        reports = mechanism.from_text(read_labels("r.csv", "simulated_report").tolist())
        counts = CategoryCounts.from_reports(mechanism, reports)
        settings = ("--preselect", 14, "--least-components", 2, "--prune", "--threshold", 0.01)
        result = found(optldp, "estimate", "made.json", "r.csv", "--method", "mr", *settings)
        expected = estimate_frequencies(
            counts, method="mr", preselect=14.0, least_components=2, operation="prune", threshold=0.01
        )
        assert result["value"] == pytest.approx(expected.value)
        assert result["components"] == expected.components == 2
        result = found(optldp, "estimate", "made.json", "r.csv", "--method", "base-cut", "--threshold", 0.4)
        assert result["value"] == pytest.approx(estimate_frequencies(counts, method="base-cut", threshold=0.4).value)

    def test_text_output_shows_the_frequencies(self, optldp, design):
        """A person sees a table and how it was made."""
        design(*CATEGORICAL)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv", "--seed", 1)
        text = optldp("estimate", "made.json", "r.csv").stdout
        assert text.splitlines()[0] == "frequencies of the categories"
        assert "smith" in text
        assert "unbiased" in text

    def test_of_many_categories_the_most_frequent_are_shown(self, optldp, here):
        """Text is for people: 25 rows, the largest first, and where the others are."""
        labels = np.repeat([f"c{i}" for i in range(30)], np.arange(1, 31))
        Path("many.csv").write_text("c\n" + "\n".join(labels) + "\n")
        optldp("design", "many.csv", "--column", "c", "--categorical", "--epsilon", 8, "--out", "m.json")
        optldp("perturb", "m.json", "many.csv", "--column", "c", "--out", "r.csv", "--seed", 1)
        lines = optldp("estimate", "m.json", "r.csv").stdout.splitlines()
        shares = [float(line.split()[1]) for line in lines[2:27]]
        assert shares == sorted(shares, reverse=True)
        assert lines[27].startswith("5 others, together ")
        assert lines[29] == "all of them: --out FILE or --json"

    def test_declared_categories_are_no_disclosure(self, optldp, here):
        """A prior file declares the categories; categories from data are noted as a disclosure."""
        Path("jobs.csv").write_text("value,weight\ncook,3\npilot,0\n")
        declared = optldp("design", "--prior", "jobs.csv", "--categorical", "--epsilon", 1, "--out", "d.json")
        assert declared.stderr == "optldp: wrote d.json (a mechanism, categorical-table)\n"
        assert load_mechanism("d.json").categories.labels == ("cook", "pilot")
        Path("people2.csv").write_text("job\ncook\nsmith\n")
        seen = optldp("design", "people2.csv", "--column", "job", "--categorical", "--epsilon", 1, "--out", "e.json")
        assert "a disclosure" in seen.stderr

    def test_show_and_verify_speak_of_bundles(self, optldp, design):
        """Facts for people and programs; a proof by whole numbers where it is asked for."""
        facts = design(*CATEGORICAL, "--method", "oue")
        shown = found(optldp, "show", "made.json")
        moved = shown.pop("one_report_times_n")
        assert shown.pop("table")
        assert {**shown, "file": "made.json"} == facts
        assert moved == pytest.approx(1 / (shown["own_support"] - shown["other_support"]))
        assert f"one_report     of n moves a frequency by at most {moved:.7g}/n" in optldp("show", "made.json").stdout
        checked = found(optldp, "verify", "made.json", "--exact")
        assert (checked["ok"], checked["failures"]) == (True, [])
        assert "keeps its promise" in optldp("verify", "made.json").stdout
        assert "unary-encoding" in optldp("show", "made.json").stdout

    @pytest.mark.parametrize("command", ["show", "perturb", "estimate"])
    def test_a_tampered_bundle_is_refused(self, refusal, design, command):
        """The checksum covers every member."""
        design(*CATEGORICAL)
        text = Path("made.json").read_text()
        Path("bad.json").write_text(text.replace('"epsilon": 2.0', '"epsilon": 1.0'))
        more = {"show": (), "perturb": ("staff.csv", "--column", "job", "--out", "x.csv"), "estimate": ("staff.csv",)}
        assert "the file was altered" in refusal(command, "bad.json", *more[command])

    def test_what_is_not_private_fails_verification(self, optldp, design):
        """A file that claims less than it spends, with a checksum of its own, is found out by exit code 1."""
        design(*CATEGORICAL)
        document = json.loads(Path("made.json").read_text())
        document["epsilon"] = 1.5
        from optldp.mechanisms.files.checksum import checksum

        document["checksum"] = checksum(document)
        Path("bad.json").write_text(json.dumps(document))
        done = optldp("verify", "bad.json", "--json")
        assert done.exit_code == 1
        assert "log-ratio must be at most 1.5" in json.loads(done.stdout)["failures"][0]


class TestOptimalCategories:
    def test_the_optimum_is_certified_and_beats_the_oracles(self, optldp, design):
        """A table of least error with a lower bound, and the comparison that shows it."""
        facts = design("--column", "job", "--categorical", "--epsilon", 1, "--method", "optimal", "--public")
        assert facts["lower_bound"] <= facts["expected_squared_error"]
        assert facts["relative_gap"] <= 1e-3
        rows = found(optldp, "compare", "staff.csv", "--column", "job", "--categorical", "--epsilon", 1, "--public")[
            "rows"
        ]
        errors = {row["method"]: row["error"] for row in rows}
        assert set(errors) == {"optimal", "grr", "rappor", "oue", "olh", "subset"}
        assert errors["optimal"] == pytest.approx(facts["expected_squared_error"], rel=1e-9)
        assert min(errors.values()) == errors["optimal"]
        text = optldp("compare", "staff.csv", "--column", "job", "--categorical", "--epsilon", 1, "--epsilon", 2)
        assert text.stdout.count("rappor") == 2
        assert "Say --public" in text.stderr

    def test_it_is_verified_for_people(self, optldp, design):
        """Its certificate stands among the facts, part by part."""
        design("--column", "job", "--categorical", "--epsilon", 1, "--method", "optimal", "--public")
        assert "certificate: objective" in optldp("verify", "made.json").stdout

    def test_its_reports_are_estimated_from(self, optldp, design):
        """A designed table goes the whole way like any oracle."""
        design("--column", "job", "--categorical", "--epsilon", 2, "--method", "optimal")
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--out", "r.csv", "--seed", 1)
        result = found(optldp, "estimate", "made.json", "r.csv")
        truth = np.array([0.1, 0.4, 0.2, 0.3])
        assert (np.abs(np.array(result["value"]) - truth) < 5 * np.array(result["std_error"])).all()

    def test_options_for_numbers_are_refused(self, refusal, staff):
        """Nothing is ignored in silence."""
        message = refusal("compare", staff, "--column", "job", "--categorical", "--epsilon", 1, "--knots", 5)
        assert "--knots is of no use to categories" in message


class TestLevels:
    LEVELS = ("--column", "job", "--categorical", "--levels", "0.5,1,2")

    @pytest.mark.parametrize("method", ["mle", "unbiased"])
    @pytest.mark.parametrize("oracle", ["auto", "olh", "subset", "projective-geometry"])
    def test_users_choose_their_budgets(self, optldp, design, oracle, method):
        """Reports carry the reported level; frequencies and shares of the levels are estimated."""
        facts = design(*self.LEVELS, "--level-epsilon", 1, "--method", oracle)
        assert facts["levels"] == [0.5, 1.0, 2.0]
        assert facts["level_leakage"] > facts["level_epsilon"] == 1.0
        planned = auem_variance(load_mechanism("made.json"), [1 / 3] * 3, [0.25] * 4)
        assert facts["std_error_times_root_n"] == pytest.approx(planned.mean() ** 0.5)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--level-column", "budget", "--key", "id",
               "--out", "r.csv", "--seed", 2)  # fmt: skip
        key, level = read_texts("r.csv", ["id", "simulated_level"])
        assert key[0] == "p0"
        assert set(level.astype(float)) == {0.5, 1.0, 2.0}
        result = found(optldp, "estimate", "made.json", "r.csv", "--method", method)
        assert len(result["value"]) == 4
        assert sum(result["level_shares"]["value"]) == pytest.approx(1.0)

    @pytest.mark.parametrize("protocol", ["oue", "olh"])
    def test_the_level_itself_goes_by_any_protocol(self, optldp, refusal, design, protocol):
        """Its reports are whole numbers of their own, and the shares of the levels come out of them."""
        facts = design(*self.LEVELS, "--level-epsilon", 2, "--level-method", protocol)
        assert facts["level_method"] == protocol
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--level-column", "budget", "--out", "r.csv",
               "--seed", 2)  # fmt: skip
        told = read_column("r.csv", "simulated_level")
        assert set(told) == set(range(load_mechanism("made.json").level_report.n_reports))
        shares = found(optldp, "estimate", "made.json", "r.csv", "--method", "unbiased")["level_shares"]
        assert (np.abs(np.array(shares["value"]) - 1 / 3) < 5 * np.array(shares["std_error"])).all()
        Path("odd.csv").write_text("report,level\n0,0.5\n")
        assert "'0' with 0.5 is no report of this mechanism" in refusal("estimate", "made.json", "odd.csv")

    def test_levels_in_the_clear_are_noted(self, optldp, staff):
        """Without a budget for the level its choice is public."""
        done = optldp("design", staff, *self.LEVELS, "--out", "made.json")
        assert "levels are reported in the clear" in done.stderr

    def test_leaking_reports_are_noted(self, optldp, staff):
        """Unary encodings of small budgets tell the level by their number of ones."""
        done = optldp("design", staff, *self.LEVELS, "--level-epsilon", 0.5, "--method", "oue", "--out", "made.json")
        assert "tells more about the level" in done.stderr

    @pytest.mark.slow
    def test_levels_of_numbers_are_one_bundle_of_tables(self, optldp, design):
        """One file, one checksum, a table for each level without its prior."""
        facts = design("--column", "pay", "--range", 0, 60, "--knots", 5, "--levels", "0.5,2")
        made = load_mechanism("made.json")
        assert facts["levels"] == [0.5, 2.0] == list(made.epsilons)
        assert all(level.prior is None and level.exact for level in made.levels)
        Path("two.csv").write_text("pay,budget\n10,0.5\n20,2\n")
        done = found(optldp, "perturb", "made.json", "two.csv", "--column", "pay", "--level-column", "budget",
                     "--out", "r.csv")  # fmt: skip
        assert done["n"] == 2

    @pytest.mark.nightly
    @pytest.mark.parametrize("protected", [(), ("--level-epsilon", 1)], ids=["clear", "protected"])
    def test_the_mean_of_numbers_at_levels(self, optldp, refusal, design, protected):
        """Reports of numbers at budgets of the users' own give one mean with an interval."""
        design("--column", "pay", "--range", 0, 60, "--knots", 5, "--levels", "0.5,1,2", *protected)
        optldp("perturb", "made.json", "staff.csv", "--column", "pay", "--level-column", "budget", "--out", "r.csv",
               "--seed", 1)  # fmt: skip
        result = found(optldp, "estimate", "made.json", "r.csv")
        assert result["n"] == 1000
        assert abs(result["value"] - 30.0) < 5 * result["std_error"]
        assert "--out needs a distribution" in refusal("estimate", "made.json", "r.csv", "--out", "x.csv")

    def test_an_undeclared_level_is_counted_with_the_first(self, refusal, design):
        """Budgets in the data must be levels of the mechanism."""
        design(*self.LEVELS)
        Path("odd.csv").write_text("job,budget\ncook,0.5\ncook,0.7\ncook,3\n")
        message = refusal(
            "perturb", "made.json", "odd.csv", "--column", "job", "--level-column", "budget", "--out", "r.csv"
        )
        assert "got 2 that are not, the first 0.7 in row 2" in message


class TestPairs:
    PAIRS = (
        "--column",
        "job",
        "--categorical",
        "--value-column",
        "pay",
        "--range",
        0,
        60,
        "--knots",
        5,
        "--epsilon",
        2,
    )

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("form", ["unary", "grr"])
    @pytest.mark.parametrize("method", ["unbiased", "em", "mr", "mle"])
    def test_keys_and_means_of_their_values(self, optldp, design, form, method):
        """The whole loop for both forms and every estimator."""
        facts = design(*self.PAIRS, "--method", form)
        assert facts["max_log_ratio"] <= 2.0
        assert facts["keys"] == 4
        done = optldp("perturb", "made.json", "staff.csv", "--column", "job", "--value-column", "pay",
                      "--out", "r.csv", "--seed", 3)  # fmt: skip
        assert done.exit_code == 0, done.output
        result = found(optldp, "estimate", "made.json", "r.csv", "--method", method)
        assert result["key"] == ["clerk", "cook", "nurse", "smith"]
        assert all(0.0 <= mean <= 60.0 for mean in result["value"])

    @pytest.mark.slow
    @pytest.mark.parametrize("option", [("--prune",), ("--threshold", 0.1), ("--least-components", 2)])
    def test_how_components_are_reduced_is_not_asked(self, optldp, refusal, design, option):
        """No option is ignored in silence."""
        design(*self.PAIRS)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--value-column", "pay", "--out", "r.csv")
        says = refusal("estimate", "made.json", "r.csv", "--method", "mr", *option)
        assert f"{option[0][2:]} of --method mr is for numbers and categories" in says

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ("cook,1\n,2\n", "a key-value report with a value must have a key, got 1 without, first in row 2"),
            ("cook,1\ncook,\n", "a key-value report with a key must have a value, got 1 without, first in row 2"),
            ("cook,1\nking,2\n", "got 1 that are not, the first 'king'"),
            ("cook,1\ncook,99\n", "values must lie in [0, 60]"),
        ],
        ids=["no-key", "no-value", "unknown-key", "outside"],
    )
    def test_half_pairs_and_unknown_keys_are_refused(self, refusal, design, rows, says):
        """One line each, with count and first row."""
        design(*self.PAIRS)
        Path("odd.csv").write_text("job,pay\n" + rows)
        message = refusal(
            "perturb", "made.json", "odd.csv", "--column", "job", "--value-column", "pay", "--out", "r.csv"
        )
        assert says in message

    def test_shares_that_need_not_sum_to_one_are_not_shrunk(self, optldp, refusal, design):
        design(*self.PAIRS)
        optldp("perturb", "made.json", "staff.csv", "--column", "job", "--value-column", "pay", "--out", "r.csv")
        message = refusal("estimate", "made.json", "r.csv", "--method", "shrunk")
        assert "--method shrunk is for shares that sum to one, and those of keys need not: use mle" in message

    def test_users_without_a_pair_take_part(self, optldp, design):
        """With padding a row that misses both is a user who holds none."""
        design(*self.PAIRS)
        Path("some.csv").write_text("job,pay\ncook,1\n,\n")
        done = found(optldp, "perturb", "made.json", "some.csv", "--column", "job", "--value-column", "pay",
                     "--out", "r.csv")  # fmt: skip
        assert done["n"] == 2


class TestAttributes:
    BOTH = ("--attribute", "pay=0:60", "--attribute", "age=18:90", "--knots", 5, "--epsilon", 2)

    @pytest.mark.nightly
    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_means_of_several_attributes(self, optldp, design, suffix):
        """Every user reports some of them, the other cells are empty; the means have intervals."""
        facts = design(*self.BOTH)
        assert facts["attributes"] == ["pay", "age"]
        assert facts["sampled"] == 1
        optldp("perturb", "made.json", "staff.csv", "--out", f"r.{suffix}", "--seed", 4)
        pay, age = read_texts(f"r.{suffix}", ["simulated_pay", "simulated_age"])
        assert (missing_texts(pay) ^ missing_texts(age)).all()
        result = found(optldp, "estimate", "made.json", f"r.{suffix}")
        assert result["attribute"] == ["pay", "age"]
        assert sum(result["n"]) == 1000
        for truth, low, high in zip([30.0, 53.0], result["low"], result["high"], strict=True):
            assert low - 20 < truth < high + 20

    def test_their_number_can_be_given(self, design):
        """Two at half the budget each."""
        facts = design(*self.BOTH, "--sampled", 2, "--method", "duchi")
        assert facts["sampled"] == 2
        assert facts["max_log_ratio"] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--column", "job", "--categorical", "--epsilon", 1, "--knots", 5),
            "--knots is of no use to categories",
        ),
        (
            ("--column", "job", "--categorical", "--epsilon", 1, "--window", 5),
            "--window is for --method aaa: leave it out",
        ),
        (("--column", "job", "--categorical", "--epsilon", 1, "--method", "laplace"), "method must be one of auto"),
        (("--column", "job", "--categorical", "--epsilon", 1, "--padding", 2), "--padding is of no use to categories"),
        (("--column", "job", "--epsilon", 1, "--value-column", "pay"), "pairs need --categorical"),
        (("--column", "job", "--categorical", "--levels", "1,1"), "two or more different budgets"),
        (("--column", "job", "--categorical", "--levels", "1,2", "--level-method", "oue"), "without --level-epsilon"),
        (
            ("--column", "job", "--categorical", "--levels", "1,2", "--level-epsilon", 0),
            "--level-epsilon must be positive",
        ),
        (("--attribute", "pay=60:0", "--epsilon", 1), "NAME=LO:HI with LO < HI"),
        (("--attribute", "pay=0:60", "--epsilon", 1, "--column", "job"), "--column is of no use to attributes"),
        (("--attribute", "pay=0:60", "--epsilon", 1, "--sampled", 2), "from 1 to 1"),
        (("--column", "pay", "--epsilon", 1, "--sampled", 2), "--sampled is of no use to one table of numbers"),
        (
            ("--column", "job", "--categorical", "--value-column", "pay", "--epsilon", 1, "--method", "oue"),
            "unary or grr",
        ),
        (
            ("--column", "job", "--categorical", "--value-column", "pay", "--epsilon", 1, "--value-method", "x"),
            "--value-method must be one of",
        ),
    ],
    ids=lambda value: "_".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_contradictory_designs_are_refused(refusal, staff, arguments, says):
    """No option is ignored in silence."""
    assert says in refusal("design", staff, *arguments, "--out", "made.json")


def test_a_bundle_is_no_npz_and_needs_its_own_columns(refusal, optldp, design):
    """Wrong suffixes, missing or useless columns, methods of other kinds, several services."""
    design(*CATEGORICAL)
    perturb = ("perturb", "made.json", "staff.csv", "--out", "r.csv")
    assert ".json" in refusal("design", "staff.csv", *CATEGORICAL, "--out", "made.npz")
    assert "needs --column" in refusal(*perturb)
    assert "--level-column is of no use" in refusal(*perturb, "--column", "job", "--level-column", "budget")
    assert "got 1000 that are not, the first 'p0'" in refusal(*perturb, "--column", "id")
    optldp(*perturb, "--column", "job")
    assert "--method must be one of unbiased" in refusal("estimate", "made.json", "r.csv", "--method", "uwa")
    assert "--of is for tables of numbers" in refusal("estimate", "made.json", "r.csv", "--of", "mean")
    assert "by itself" in refusal("estimate", "made.json", "r.csv", "made.json", "r.csv")
    assert "is no report of this mechanism" in refusal("estimate", "made.json", "staff.csv", "--column", "age")


@pytest.mark.slow
def test_reports_that_could_not_be_read_are_not_written(refusal):
    """A bit for each of 20,000 categories has 5,000 hexadecimal digits: count and estimate take 4,096 of a cell."""
    save_bundle(optimised_unary(range(20_000), 1.0), "wide.json")
    Path("some.csv").write_text("job\n7\n19999\n")
    line = refusal("perturb", "wide.json", "some.csv", "--column", "job", "--out", "r.csv")
    assert "at most 4,096 characters in a file, got 5,000" in line
    assert line.endswith("optldp design --method olh\n")
