"""`optldp design` and `optldp compare`: what they refuse, in one line that names what, where and the cure."""

import os
from pathlib import Path

import pytest

from ..conftest import INCOME

DESIGN = ("design", *INCOME, "--epsilon", 1, "--out", "new.json")


@pytest.mark.parametrize("command", ["design", "compare"])
class TestBadNumbers:
    @pytest.mark.parametrize(
        ("epsilon", "says"),
        [
            ("0", "epsilon must be positive and finite, got 0"),
            ("-1", "epsilon must be positive and finite, got -1"),
            ("nan", "epsilon must be positive and finite, got nan"),
            ("inf", "epsilon must be positive and finite, got inf"),
            ("1000", "epsilon must be at most 16, got 1000"),
            ("1e-9", "epsilon must be at least 1e-06, got 1e-09"),
        ],
    )
    def test_an_epsilon_out_of_bounds(self, refusal, command, epsilon, says):
        assert says in refusal(command, *INCOME, "--epsilon", epsilon, *out(command))

    @pytest.mark.parametrize("knots", [1, 0, -3])
    def test_fewer_than_two_knots(self, refusal, command, knots):
        message = refusal(command, *INCOME, "--epsilon", 1, "--knots", knots, *out(command))
        assert f"knots must be at least 2, got {knots}" in message

    def test_a_reversed_range(self, refusal, command):
        message = refusal(command, *INCOME, "--epsilon", 1, "--range", 100, 0, *out(command))
        assert "low < high, got [100, 0]" in message

    @pytest.mark.parametrize("end", ["nan", "inf"])
    def test_an_endless_range(self, refusal, command, end):
        assert "range must be finite" in refusal(command, *INCOME, "--epsilon", 1, "--range", 0, end, *out(command))

    @pytest.mark.slow
    def test_a_range_that_does_not_hold_the_data_names_count_and_extremes(self, refusal, command):
        Path("five.csv").write_text("x\n1\n2\n3\n-4\n55\n")
        message = refusal(command, "five.csv", "--column", "x", "--epsilon", 1, "--range", 0, 2.5, *out(command))
        assert "in the range [0, 2.5], got 3 of 5 of x outside it (smallest -4, largest 55): take a" in message

    def test_a_floor_that_is_no_share(self, refusal, command):
        assert "uniform share must lie in [0, 1], got 2" in refusal(
            command, *INCOME, "--epsilon", 1, "--uniform-share", 2, *out(command)
        )

    def test_an_unknown_method_names_those_there_are(self, refusal, command):
        message = refusal(command, *INCOME, "--epsilon", 1, "--method", "magic", *out(command))
        assert "optimal, aaa, laplace" in message
        assert "got 'magic'" in message


@pytest.mark.parametrize("command", ["design", "compare"])
class TestBadData:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("y,x\n", "column 'x' of 'bad.csv' must hold at least one value, but it is empty"),
            ("y,z\n1,2\n", "column 'x' of 'bad.csv' must exist: the file has 'y', 'z'"),
            ("y,x\n1,2\n3,many\n", "column 'x' of 'bad.csv' must hold numbers, got the text 'many' in row 2"),
            (
                "y,x\n1,2\n3,\n4,5\n",
                "got 1 missing, the first in row 2: fill them in, or leave them out by --drop-missing (drop_missing=",
            ),
            ("y,x\n1,2\n3,inf\n", "must hold finite values, got 1 NaN or infinite, the first (inf) in row 2"),
            ("y,x\n1,3\n2,3\n", "values must not all be equal, got only 3 in 'bad.csv': give --range LO HI"),
            ("", "the first line of 'bad.csv' must name the columns"),
        ],
        ids=["empty", "no-column", "text", "missing", "infinite", "all-equal", "nothing"],
    )
    def test_a_column_that_is_no_column_of_numbers(self, refusal, command, text, says):
        Path("bad.csv").write_text(text)
        assert says in refusal(command, "bad.csv", "--column", "x", "--epsilon", 1, *out(command))

    def test_a_column_with_nothing_left(self, refusal, command):
        Path("bad.csv").write_text("y,x\n1,\n2,\n")
        message = refusal(command, "bad.csv", "--column", "x", "--epsilon", 1, "--drop-missing", *out(command))
        assert "must hold at least one value" in message

    def test_equal_values_are_fine_within_a_range(self, optldp, command):
        Path("same.csv").write_text("x\n3\n3\n")
        done = optldp(command, "same.csv", "--column", "x", "--epsilon", 1, "--range", 0, 4, "--knots", 3)
        assert done.exit_code == 0

    def test_no_such_file(self, refusal, command):
        message = refusal(command, "none.csv", "--column", "x", "--epsilon", 1, *out(command))
        assert "a data file must exist, got 'none.csv'" in message

    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ("0,1\n1,-2\n", "weights must not be negative, got -2 in row 2"),
            ("0,0\n1,0\n", "weights must have a positive finite sum, got 0"),
            ("0,1\n1,nan\n", "column 'weight' of 'bad.csv' must hold finite values, got 1 NaN or infinite"),
            ("0,1\n1,\n", "column 'weight' of 'bad.csv' must not miss values, got 1 missing, the first in row 2"),
            ("3,1\n", "values must not all be equal, got only 3 in 'bad.csv': give --range LO HI"),
            ("", "column 'value' of 'bad.csv' must hold at least one value"),
        ],
        ids=["negative", "zero-sum", "nan", "missing", "one-value", "empty"],
    )
    def test_a_prior_that_is_no_prior(self, refusal, command, rows, says):
        Path("bad.csv").write_text("value,weight\n" + rows)
        assert says in refusal(command, "--prior", "bad.csv", "--epsilon", 1, *out(command))

    def test_a_prior_file_without_its_columns(self, refusal, command):
        message = refusal(command, "--prior", "people.csv", "--epsilon", 1, *out(command))
        assert "lacks value and weight: it has 'name', 'income'" in message

    @pytest.mark.slow
    def test_a_prior_beyond_the_range(self, refusal, command):
        message = refusal(command, "--prior", "prior.csv", "--epsilon", 1, "--range", 0, 1, *out(command))
        assert (
            "values must lie in the range [0, 1], got 2 of 5 of prior.csv outside it (smallest -1, largest 1)"
            in message
        )

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ([], "the prior must come from a file, got none"),
            (["people.csv"], "a column of 'people.csv' must be named, got none: add --column NAME"),
            (["--column", "income"], "the prior must come from a file, got none"),
            ([*INCOME, "--prior", "prior.csv"], "from one file, got 'people.csv' and 'prior.csv'"),
            (["people.csv", "--prior", "prior.csv"], "from one file, got 'people.csv' and 'prior.csv'"),
            (["--prior", "prior.csv", "--column", "income"], "--column income is of DATA"),
        ],
        ids=["neither", "no-column", "no-data", "both", "data-and-prior", "column-and-prior"],
    )
    def test_the_prior_comes_from_exactly_one_place(self, refusal, command, arguments, says):
        assert says in refusal(command, *arguments, "--epsilon", 1, *out(command))


class TestBadOptions:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--worst-case"], "--worst-case is for --method ptt or ptt2: leave it out"),
            (["--eta", 2], "--eta is for --method ptt or ptt2: leave it out"),
            (["--eta", 2, "--method", "duchi"], "--eta is for --method ptt or ptt2: leave it out"),
            (["--eta", 2, "--method", "ptt", "--worst-case"], "worst_case chooses the parameter, got eta 2.0"),
            (["--eta", 1, "--method", "ptt"], "eta must be a finite number above 1, got 1.0"),
            (["--window", 3], "is for --method aaa: leave it out"),
            (["--method", "aaa", "--knots", 5, "--intervals", 3], "intervals must divide the prior's 4, got 3"),
            (["--tolerance", 0], "tolerance must lie strictly between 0 and 1"),
        ],
    )
    def test_options_that_do_not_fit(self, refusal, options, says):
        assert says in refusal(*DESIGN, *options)

    @pytest.mark.parametrize(
        ("place", "says"),
        [
            ("none/mech.json", "the output's folder must exist, got 'none/mech.json': create 'none' first"),
            ("people.csv/mech.json", "the output's folder must exist"),
            ("folder.json", "the output must be a file, got the folder 'folder.json'"),
            ("mech.txt", "the output must end in .json or .npz, got 'mech.txt'"),
            ("mech", "the output must end in .json or .npz, got 'mech'"),
            ("x" * 300 + ".json", "File name too long"),
        ],
        ids=["missing-folder", "file-as-folder", "folder", "suffix", "no-suffix", "name-too-long"],
    )
    def test_an_output_that_cannot_be_written(self, refusal, place, says):
        os.mkdir("folder.json")
        assert says in refusal("design", *INCOME, "--knots", 5, "--epsilon", 1, "--out", place)

    def test_an_output_of_the_wrong_kind_is_refused_before_the_work(self, refusal, monkeypatch):
        monkeypatch.setattr("optldp.designer.designs.design.design", None)
        refusal("design", *INCOME, "--epsilon", 1, "--out", "none/mech.json")


def out(command: str) -> tuple[str, ...]:
    """A file to write, for the command that writes one."""
    return ("--out", "new.json") if command == "design" else ()
