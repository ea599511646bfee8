"""`optldp describe`, and the command that it says to type next."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import load_table

from ..conftest import INCOME, PEOPLE


@pytest.mark.slow
def test_the_next_command_runs_as_it_stands(optldp):
    shown = optldp("describe", "people.csv", "--column", "income")
    assert "rows               300" in shown.stdout
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("next: ")]
    words = shlex.split(line.removeprefix("next: optldp "))
    assert optldp(*words, "--knots", 5).exit_code == 0
    low, high = load_table("mech.json").domain
    assert low <= PEOPLE.min() <= PEOPLE.max() <= high
    assert "what you publish of it discloses" in " ".join(shown.stderr.split())


def test_values_far_out_are_left_to_clip_and_the_next_command_says_so(optldp):
    write_column("far.csv", "v", [*np.linspace(0, 100, 4000), 1e6])
    told = json.loads(optldp("describe", "far.csv", "--column", "v", "--json").stdout)
    assert (told["kind"], told["low"], told["high"], told["above"]) == ("numbers", 0.0, 100.0, 1)
    assert "--range 0 100 --clip" in told["next"]
    assert (
        "1 of 4,001 lie outside, which --clip counts as its ends"
        in optldp("describe", "far.csv", "--column", "v").stdout
    )


@pytest.mark.slow
def test_a_picture_says_which_values_a_bar_is_of(optldp):
    Path("t.csv").write_text("day,amount,year\n" + "".join(f"{i % 7},{i * i * 5},{2000 + i}\n" for i in range(60)))
    days = optldp("describe", "t.csv", "--column", "day").stdout
    assert "\n  6      13.3%  ####" in days
    assert "if these numbers are codes" in days
    amounts = optldp("describe", "t.csv", "--column", "amount").stdout
    assert "0 to 18,000" in amounts
    assert "+0" not in amounts
    assert all(line == line.rstrip() for line in amounts.splitlines())
    assert "2000 to 2004" in optldp("describe", "t.csv", "--column", "year").stdout


def test_categories_are_shown_with_spellings(optldp):
    Path("jobs.csv").write_text("job\n" + "\n".join(["Cook", "cook", "smith", ""] + [f"j{i}" for i in range(30)]))
    shown = optldp("describe", "jobs.csv", "--column", "job").stdout
    assert "spelt differently  'Cook' = 'cook'" in shown
    assert "13 others" in shown
    assert "--categorical --drop-missing" in shown


class TestClip:
    """Values outside a range are refused with the cure, or counted as its ends, wherever a range meets data."""

    OUTSIDE = int(np.count_nonzero(PEOPLE > 60))

    @pytest.mark.nightly
    @pytest.mark.parametrize(
        "words",
        [
            ("design", *INCOME, "--knots", 5),
            ("design", "people.csv", "--attribute", "income=0:60", "--knots", 5),
            ("plan", *INCOME, "--n", 1000, "--knots", 5, "--method", "duchi"),
            ("compare", *INCOME, "--knots", 5, "--method", "duchi"),
            ("bounds", *INCOME, "--knots", 5, "--method", "duchi"),
            ("two-phase", *INCOME, "--knots", 5, "--share", 0.5, "--seed", 1),
            ("advise", *INCOME, "--knots", 5, "--n", 100, "--repetitions", 2, "--mechanism", "duchi"),
        ],
        ids=lambda words: f"{words[0]}{words[2]}",
    )
    def test_is_counted_and_said(self, optldp, refusal, words):
        ranged = (*words, "--epsilon", 1, *(() if "--attribute" in words else ("--range", 0, 60)))
        line = refusal(*ranged)
        assert f"got {self.OUTSIDE} of 300 of income outside it" in line
        assert "--clip" in line
        done = optldp(*ranged, "--clip", "--json")
        assert done.exit_code == 0, done.output
        assert f"{self.OUTSIDE} of 300 values of income" in " ".join(done.stderr.split())

    @pytest.mark.nightly
    def test_design_is_that_of_the_clipped_values(self, optldp):
        write_column("clipped.csv", "income", PEOPLE.clip(0, 60))
        words = ("--column", "income", "--range", 0, 60, "--epsilon", 1, "--knots", 5)
        optldp("design", "people.csv", *words, "--clip", "--out", "a.json")
        optldp("design", "clipped.csv", *words, "--out", "b.json")
        a, b = (load_table(name) for name in ("a.json", "b.json"))
        assert (a.provenance.parameters["clipped"], "clipped" in b.provenance.parameters) == (True, False)
        assert a.with_provenance(b.provenance) == b

    def test_needs_a_range(self, refusal):
        line = refusal("design", "people.csv", "--column", "income", "--epsilon", 1, "--clip")
        assert "give --range LO HI" in line

    @pytest.mark.nightly
    def test_of_pairs_and_of_levels_are_counted_when_perturbed(self, optldp):
        Path("held.csv").write_text("key,value,level\na,5,1\nb,99,2\na,,1\n,,2\nb,7,1\n")
        made = optldp("design", "held.csv", "--column", "key", "--categorical", "--value-column", "value",
                      "--range", 0, 10, "--epsilon", 1, "--knots", 3, "--clip", "--out", "pairs.json")  # fmt: skip
        assert made.exit_code == 0, made.output
        told = "1 of 3 values of value"
        assert told in " ".join(made.stderr.split())
        Path("held.csv").write_text("key,value,level\na,5,1\nb,99,2\nb,7,1\n")
        words = ("perturb", "pairs.json", "held.csv", "--column", "key", "--value-column", "value", "--out", "r.csv")
        assert optldp(*words).exit_code == 2
        assert json.loads(optldp(*words, "--clip", "--json").stdout)["clipped"] == 1
        optldp("design", "held.csv", "--column", "value", "--range", 0, 10, "--levels", "1,2", "--level-epsilon", 1,
               "--knots", 3, "--clip", "--out", "levels.json")  # fmt: skip
        words = (
            "perturb",
            "levels.json",
            "held.csv",
            "--column",
            "value",
            "--level-column",
            "level",
            "--force",
            "--out",
            "r.csv",
        )
        assert optldp(*words).exit_code == 2
        assert json.loads(optldp(*words, "--clip", "--json").stdout)["clipped"] == 1


def test_how_many_people_an_assumption_must_exempt_is_told(optldp, refusal):
    Path("now.csv").write_text("v\n" + "0\n1\n2\n2\n3\n" * 20)
    Path("last.csv").write_text("value,weight\n0,1\n1,1\n2,1\n3,1\n")
    words = ("describe", "now.csv", "--column", "v")
    told = json.loads(optldp(*words, "--assume", "trust=1.2", "--prior", "last.csv", "--json").stdout)
    assert told["exempt_needed"] == {"trust=1.2": pytest.approx(0.1)}
    assert "note: for monotone=0 of these values, 12% of people had" in optldp(*words, "--assume", "monotone=0").stderr
    Path("wide.csv").write_text("value,weight\n0,1\n3,1\n9,1\n")  # of values beyond those of the column
    assert "between 'wide.csv' and these" in optldp(*words, "--assume", "trust=2", "--prior", "wide.csv").stderr
    assert "--assume trust needs the prior that it is near" in refusal(*words, "--assume", "trust=2")
    assert "--prior is for --assume" in refusal(*words, "--prior", "last.csv")
    assert "--assume is of one column" in refusal(*words[:2], "--assume", "monotone=0")
