"""A table that was designed with --clip says so in what people forward: the estimate."""

import json

import numpy as np
import pytest
from optldp.designer.commands.handlers.numbers.clipped import counted_into
from optldp.designer.commands.handlers.registry import kind_of
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import Provenance, duchi

HOURS = np.append(np.arange(90.0), [120.0] * 10)
OUTSIDE = 0.19  # 81 to 89, and 120 ten times, of a hundred
LINE = (
    "values are counted into 0 to 80: 19% of those that the table was designed from lie outside and count as its ends"
)


def collected(optldp, *options, of="hours", ends=("--range", 0, 80)):
    write_columns("people.csv", {"hours": HOURS, "age": np.linspace(18.0, 60.0, HOURS.size)})
    column = () if of is None else ("--column", of)
    knots = () if "--prior" in options else ("--knots", 9)
    made = ("design", "people.csv", *column, *ends, *knots, "--epsilon", 1, "--out", "made.json", "--force")
    assert optldp(*made, *options).exit_code == 0
    assert (
        optldp("perturb", "made.json", "people.csv", *column, "--clip", "--out", "sent.csv", "--force").exit_code == 0
    )
    return optldp("estimate", "made.json", "sent.csv").stdout, json.loads(
        optldp("estimate", "made.json", "sent.csv", "--json").stdout
    )


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--form", "floor"), ("--objective", "minimax"), ("--method", "duchi")])
def test_the_estimate_says_what_its_values_are_counted_into_and_what_share_lay_outside(optldp, more):
    text, told = collected(optldp, "--clip", "--public", *more)
    assert text.startswith("mean of the values, counted into 0 to 80\n")
    assert text.splitlines()[-1] == LINE
    assert told["counted_into"] == [{"table": "", "low": 0.0, "high": 80.0, "units": "", "share_outside": OUTSIDE}]


@pytest.mark.nightly
@pytest.mark.parametrize("more", [(), ("--public", "--omit-prior")])
def test_what_is_not_public_is_not_told_of_by_the_table(optldp, more):
    text, told = collected(optldp, "--clip", *more)
    assert text.splitlines()[-1] == "values are counted into 0 to 80: those that lie outside count as its ends"
    assert told["counted_into"][0]["share_outside"] is None
    with open("made.json") as file:
        assert "share_outside" not in file.read()


@pytest.mark.nightly
def test_without_clip_nothing_is_said_of_it(optldp):
    text, told = collected(optldp, "--public", ends=("--range", 0, 120))
    assert text.startswith("mean of the values\n")
    assert "counted_into" not in told


@pytest.mark.nightly
def test_of_attributes_each_has_its_own_range(optldp):
    ends = ("--attribute", "hours=0:80", "--attribute", "age=0:70")
    text, told = collected(optldp, "--clip", "--public", of=None, ends=ends)  # pyright: ignore[reportArgumentType] -- of these there is one
    assert [(one["table"], one["high"], one["share_outside"]) for one in told["counted_into"]] == [
        ("hours", 80.0, OUTSIDE),
        ("age", 70.0, 0.0),
    ]
    assert "hours: values are counted into 0 to 80: 19% of those" in text


@pytest.mark.parametrize("share", [-1.0, 7.5, "most", None, True])
def test_a_share_that_is_none_is_not_repeated(share):
    origin = Provenance("duchi", {"clipped": True, "share_outside": share})
    (one,) = counted_into([kind_of(duchi([0.0, 80.0], 1.0).with_provenance(origin))])
    assert one["share_outside"] is None


def test_only_true_is_a_table_that_was_clipped():
    origin = Provenance("duchi", {"clipped": "yes"})
    assert counted_into([kind_of(duchi([0.0, 80.0], 1.0).with_provenance(origin))]) == []
