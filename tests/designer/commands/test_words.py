"""What --explain says: of every number that is printed, and nothing else than the glossary."""

import json
import re
from pathlib import Path

import pytest
from optldp.designer.commands.output.words import GLOSSARY, NUMBERS, explained
from optldp.designer.planning.people import FACTS

from ..conftest import INCOME

PAGE = Path(__file__).parents[3] / "docs" / "glossary.md"


def plain(text):
    """The sentences of a cell that are more than a link, without links."""
    said = re.sub(r"(?<=[.:]) \[[^]]*\]\([^)]*\)\.", "", text)
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", said)


def test_the_glossary_on_the_site_and_that_of_the_commands_are_one():
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {word: plain(said) for word, said in rows} == GLOSSARY
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)


@pytest.mark.parametrize(
    "words",
    [
        (*INCOME, "--range", 0, 100, "--knots", 5, "--n", 900),
        (*INCOME, "--range", 0, 100, "--knots", 5, "--n", 900, "--objective", "error"),
        (*INCOME, "--range", 0, 100, "--knots", 5, "--objective", "robust:tv,radius=0.1"),
        (*INCOME, "--range", 0, 100, "--knots", 5, "--objective", "trade-off:0.5", "--n", 900),
        (*INCOME, "--range", 0, 100, "--knots", 5, "--objective", "information"),
        ("--range", 0, 100, "--knots", 5, "--objective", "minimax", "--n", 900),
        ("--range", 0, 100, "--knots", 5, "--delta", 1e-6),
        ("people.csv", "--column", "name", "--categorical"),
    ],
)
def test_every_number_that_is_printed_is_explained(optldp, words):
    made = json.loads(optldp("design", *words, "--epsilon", 1, "--out", "m.json", "--explain", "--json").stdout)
    told = made.pop("explained")
    shown = json.loads(optldp("show", "m.json", "--json").stdout)
    for name, value in (made | shown).items():
        if name in ("certificate", "parameters"):
            numbers = [
                key
                for key, each in (value or {}).items()
                if isinstance(each, float | int) and not isinstance(each, bool)
            ]
            assert set(numbers) <= set(NUMBERS)
        elif isinstance(value, float | int) and not isinstance(value, bool) and name not in FACTS:
            assert name.removesuffix("_times_n") in NUMBERS, name
            assert name in told or name not in made or name == "one_report_times_n"


def test_it_is_said_below_the_numbers_in_plain_sentences(optldp):
    done = optldp("design", *INCOME, "--range", 0, 100, "--knots", 5, "--epsilon", 1, "--n", 900, "--explain").stdout
    numbers, said = done.split("what they mean\n")
    assert re.search(r"knots +5 \(values that the table has rows for\)", numbers)
    assert numbers.splitlines()[-1].startswith("with 900 people: mean within ")
    assert re.search(rf"knots +{re.escape(GLOSSARY['knots'])}", said)
    assert re.search(rf"mean_within +{re.escape(NUMBERS['mean_within'])}", said)


def test_what_needs_no_words_gets_none():
    assert explained(["method", "status"]) == {}
