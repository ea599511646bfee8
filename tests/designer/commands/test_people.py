"""`--n`: every command that has a mean in it says how far off that of so many people may be, by the same numbers."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer.planning.people import FACTS, table_mean_within
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.estimators.reading.columns.texts import read_texts
from optldp.mechanisms import load_table

from ..conftest import INCOME, found

RANGE = (*INCOME, "--range", 0, 100, "--knots", 5, "--public")
PEOPLE = ("--n", 20_000)
SENTENCE = "with 20,000 people: mean within "


def told(facts: dict) -> list[float]:
    """The numbers alone; that all have the same assumption is in what they come to."""
    assert isinstance(facts["mean_within_if"], str)
    return [facts[name] for name in FACTS if name != "mean_within_if"]


@pytest.mark.slow
def test_design_show_and_the_library_say_the_same_of_a_table(optldp):
    made = found(optldp, "design", *RANGE, "--epsilon", 1, "--method", "duchi", *PEOPLE, "--out", "m.json")
    within = table_mean_within(load_table("m.json"), 20_000)
    assert told(made) == pytest.approx(told(within.facts), rel=1e-9)
    assert told(found(optldp, "show", "m.json", *PEOPLE)) == pytest.approx(told(made), rel=1e-9)
    assert f"{within}\n" in optldp("show", "m.json", *PEOPLE).stdout
    assert "people" not in found(optldp, "show", "m.json")


@pytest.mark.nightly
def test_a_comparison_and_bounds_say_it_of_each_row_and_of_the_best_in_words(optldp):
    words = (*RANGE, "--epsilon", 1, "--method", "duchi", "--method", "optimal", *PEOPLE)
    rows = {row["method"]: row for row in found(optldp, "compare", *words)["rows"]}
    made = found(optldp, "design", *RANGE, "--epsilon", 1, *PEOPLE)
    assert told(rows["optimal"]) == pytest.approx(told(made), rel=1e-4)
    assert rows["duchi"]["mean_within"] > rows["optimal"]["mean_within"]
    assert f"epsilon 1, optimal: {SENTENCE}" in optldp("compare", *words).stdout
    bounds = {row["method"]: row for row in found(optldp, "bounds", *words)["rows"]}
    assert told(bounds["optimal"]) == pytest.approx(told(rows["optimal"]), rel=1e-4)
    assert bounds["minimax"]["mean_within_any_values"] < rows["optimal"]["mean_within_any_values"]


@pytest.mark.nightly
def test_how_sure_that_is_may_be_asked_of_every_command(optldp, refusal):
    """The same numbers times the ratio of two normal quantiles, as V / n is the variance of the mean."""
    words = (*RANGE, "--epsilon", 1, "--method", "duchi", *PEOPLE)
    commands = [
        ("design", *words, "--out", "m.json", "--force"),
        ("compare", *words),
        ("bounds", *words),
        ("plan", *words),
        ("evaluate", "m.json", "--on", *INCOME, *PEOPLE),
        ("show", "m.json", *PEOPLE),
    ]
    for command in commands:
        usual, surer = (found(optldp, *command, *more) for more in ((), ("--confidence", 0.99)))
        usual, surer = (told["rows"][0] if "rows" in told else told for told in (usual, surer))
        assert surer["confidence"] == 0.99
        assert surer["mean_within"] / usual["mean_within"] == pytest.approx(2.5758293 / 1.959964, rel=1e-4)
    assert "(99%)" in optldp("show", "m.json", *PEOPLE, "--confidence", 0.99).stdout
    assert "strictly between 0 and 1" in refusal("show", "m.json", *PEOPLE, "--confidence", 1)
    assert "how far off the mean of --n people may be" in refusal("design", *words[:-2], "--confidence", 0.9)


@pytest.mark.parametrize(
    ("words", "under"),
    [
        (("--objective", "minimax"), "their values follow the prior"),
        (("--objective", "robust:tv,radius=0.1"), "the prior is right within total variation 0.1"),
        (("--objective", "error:2"), "the prior is right within a factor of 2"),
        (("--objective", "information:cumulative"), "their values follow the prior"),
    ],
)
def test_every_objective_says_what_it_assumes(optldp, words, under):
    made = found(optldp, "design", *RANGE, "--epsilon", 1, *words, *PEOPLE)
    assert made["mean_within_if"] == under
    anyway = made["mean_within_any_values"]
    assert anyway is None or anyway >= made["mean_within"] > 0


def test_reports_of_which_no_mean_can_be_had_say_so_once(optldp):
    done = optldp("design", *RANGE, "--epsilon", 1, "--objective", "information", *PEOPLE)
    assert done.stderr.count("no mean can be had of these reports") == 1
    assert SENTENCE not in done.stdout


def test_without_a_prior_it_holds_whatever_the_values_are(optldp):
    for words in (("--objective", "minimax", "--epsilon", 1), ("--epsilon", 1, "--delta", 1e-6)):
        done = optldp("design", "--range", 0, 100, "--knots", 5, *words, *PEOPLE)
        assert done.stdout.splitlines()[-1].startswith(SENTENCE)
        assert done.stdout.endswith(" (95%) whatever their values are\n")


@pytest.mark.nightly
def test_several_attributes_and_levels_say_it_of_each(optldp, here):
    rng = np.random.default_rng(5)
    rows = zip(rng.uniform(0, 10, 60).tolist(), rng.uniform(0, 90, 60).tolist(), strict=True)
    (here / "two.csv").write_text("age,pay\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows))
    two = ("design", "two.csv", "--attribute", "age=0:10", "--attribute", "pay=0:90", "--knots", 4, "--sampled", 1)
    made = found(optldp, *two, "--epsilon", 1, *PEOPLE, "--out", "two.json")
    assert [round(90 / 10 * made["mean_within"][0] / made["mean_within"][1])] == [1]
    variances = np.array(made["predicted_variance_one_user"])
    assert made["mean_within"] == pytest.approx(1.96 * np.sqrt(variances / 20_000), rel=1e-2)
    shown = optldp("show", "two.json", *PEOPLE).stdout.splitlines()[-1]
    assert shown.startswith("with 20,000 people: mean of age within ")
    assert ", of pay within " in shown
    levels = found(optldp, "design", *RANGE, "--levels", "0.5,1", "--method", "duchi", *PEOPLE, "--out", "levels.json")
    assert levels["mean_within"][0] > levels["mean_within"][1]
    assert "mean of all at 0.5 within " in optldp("show", "levels.json", *PEOPLE).stdout


@pytest.mark.nightly
def test_pairs_say_it_of_the_share_of_those_who_hold_a_key_and_of_the_mean_of_theirs(optldp, here):
    (here / "jobs.csv").write_text("job,pay\n" + "".join(f"{'ab'[i % 2]},{i % 60}\n" for i in range(120)))
    words = ("design", "jobs.csv", "--column", "job", "--categorical", "--value-column", "pay", "--range", 0, 60)
    words = (*words, "--knots", 3, "--method", "grr", *PEOPLE)
    made = found(optldp, *words, "--epsilon", 1, "--out", "pairs.json")
    shown = optldp("show", "pairs.json", *PEOPLE).stdout.splitlines()[-1]
    assert shown.startswith("with 20,000 people: share of those who hold a key within ")
    assert shown.endswith(" (95%) if 1 in 2 hold a key, whatever their values")
    assert 0 < made["share_within"] < 0.1 < made["mean_within"] < 60
    levels = found(optldp, *words, "--levels", "0.5,1", "--out", "levels.json")
    assert levels["share_within"][1] == pytest.approx(made["share_within"])
    assert levels["mean_within"][0] > levels["mean_within"][1] == pytest.approx(made["mean_within"])
    hidden = found(optldp, "design", *RANGE, "--epsilon", 1, "--missing", "protect", *PEOPLE, "--out", "some.json")
    assert "have a value" in hidden["mean_within_if"]


@pytest.mark.slow
def test_two_phases_say_it_at_their_confidence(optldp):
    write_column("many.csv", "income", np.random.default_rng(2).uniform(0, 100, 1000))
    words = ("two-phase", "many.csv", *RANGE[1:-1], "--epsilon", 1, "--seed", 1, "--confidence", 0.9)
    said = found(optldp, *words, "--n", 1000)
    assert said["mean_within"] == pytest.approx(1.645 * said["std_error"], rel=1e-3)
    assert said["confidence"] == 0.9
    assert "each phase needs at least 30 clients" in optldp(*words, "--n", 20).stderr


@pytest.mark.slow
def test_what_has_no_mean_or_no_people_is_refused(optldp, refusal):
    optldp("design", *RANGE, "--epsilon", 1, "--method", "duchi", "--out", "m.json")
    optldp("design", "people.csv", "--column", "name", "--categorical", "--epsilon", 1, "--out", "names.json")
    assert "the number of users must be whole, from 1 to 1e+15, got 0" in refusal("show", "m.json", "--n", 0)
    assert "--n is for means of numbers, pairs, attributes and levels of these" in refusal(
        "show", "names.json", *PEOPLE
    )
    assert "--n is of no use to categories" in refusal(
        "design", "people.csv", "--column", "name", "--categorical", "--epsilon", 1, *PEOPLE
    )


class TestRows:
    WORDS = ("compare", *RANGE, "--epsilon", 1, "--method", "duchi")

    @pytest.mark.nightly
    def test_they_are_written_as_the_file_s_name_says(self, optldp):
        rows = found(optldp, *self.WORDS, *PEOPLE, "--out", "rows.json")["rows"]
        assert told(json.loads(Path("rows.json").read_text())["rows"][0]) == pytest.approx(told(rows[0]), rel=1e-9)
        assert "rows: rows.csv\n" in optldp(*self.WORDS, *PEOPLE, "--out", "rows.csv").stdout
        optldp(*self.WORDS, *PEOPLE, "--out", "rows.parquet")
        with Path("rows.csv").open(newline="") as stream:
            (row,) = csv.DictReader(stream)
        assert list(row) == list(rows[0])
        assert float(row["mean_within"]) == rows[0]["mean_within"]
        assert row["clip_low"] == ""
        (methods,) = read_texts("rows.parquet", ["method"])
        assert methods.tolist() == ["duchi"]

    def test_other_endings_are_refused_before_anything_is_computed(self, refusal):
        said = refusal(*self.WORDS, "--out", "rows.xlsx")
        assert "the output must end in .csv or .parquet or .json or .tex, got 'rows.xlsx'" in said
