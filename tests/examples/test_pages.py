"""Pages of papers say what is kept: tables, whole figures, numbers in sentences, and how many claims hold."""

import importlib
from pathlib import Path

import pytest
from redone.experiment import pages
from redone.experiment.keeping import Shelf, Stamp, Table
from redone.experiment.pages import Telling, percent, shown, span, stale, write

RESULTS = Path(__file__).parents[2] / "examples" / "papers" / "results"
ROOMS = {"aaa": "aaa", "em-mr": "em_mr", "febsf": "febsf", "optt": "optt", "privacy-for-free": "privacy_for_free"}

OWN = """# Page

It gains 1% to
2% here, in 3 of 4 cases.

<!-- table: short -->
| a |
|---|
| old |

| | claim | verdict |
|---|---|---|
| 1 | One | reproduced |
| 2 | Two | not so: no |
| 3 | Three | extended below |
"""
RESULT = "<!-- figure: f -->\nold\n<!-- end -->\n"
OVERVIEW = "| [Toy](papers/toy.md) | `toy.py` | 0 | 0 | | | |\n| [Two](papers/two.md) | `two.py` | 7 | | | | |\n"


@pytest.mark.parametrize("paper", ROOMS)
def test_pages_say_what_is_kept(paper):
    """The command `python examples/papers/PAPER.py --check`."""
    said = importlib.import_module(f"redone.{ROOMS[paper]}.said").said
    assert not stale(paper, Shelf(RESULTS / paper), said)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Pages of a toy, and a shelf with one figure."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    for name, text in zip(pages.pages_of("toy"), (OWN, RESULT, OVERVIEW, ""), strict=True):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(text)
    shelf = Shelf(tmp_path / "kept")
    table = Table("t", "Errors", ("data", "error"), (("a", "0.123456789"), ("b", "2 ± 0.1")))
    shelf.put("f", Stamp("abc1234", "0123456789", 1, True, False), [table], [("it holds", "yes", "0.3")], 2.4)
    return shelf


def told(*sentences):
    return lambda shelf: Telling(sentences, {"short": [["a", "b"], ["new", "1"]]})


def texts():
    return [page.read_text() for page in pages.pages_of("toy")]


def test_numbers_are_written_where_the_sentence_stands(toy):
    said = told("It gains [[5% to 6%]] here", "in [[4 of 4]] cases")
    assert len(stale("toy", toy, said)) == 3
    assert write("toy", toy, said) == []
    assert stale("toy", toy, said) == []
    own, result, overview, _ = texts()
    assert "It gains 5% to 6% here, in 4 of 4 cases." in own
    assert "| a | b |\n|---|---|\n| new | 1 |\n\n" in own
    assert "| a | 0.1235 |\n| b | 2 ± 0.1 |" in result
    assert "library at abc1234" in result
    assert "- it holds: 0.3." in result
    assert overview.startswith(
        "| [Toy](papers/toy.md) | `toy.py` | 3 | 1 | | 1 | 1 |\n| [Two](papers/two.md) | `two.py` | 7 |"
    )


def test_a_number_that_is_right_keeps_its_line_end(toy):
    write("toy", toy, told("It gains [[1% to 2%]] here"))
    assert "1% to\n2% here" in texts()[0]


@pytest.mark.parametrize(("sentence", "why"), [("It loses [[5%]] here", "no page says"), ("| [[9]] |", "times")])
def test_a_sentence_that_is_not_there_once_is_said(toy, sentence, why):
    (line,) = write("toy", toy, told(sentence))
    assert why in line


def test_a_figure_that_is_not_kept_and_a_check_that_fails_are_said(toy):
    (toy.folder / "checks-f.csv").write_text((toy.folder / "checks-f.csv").read_text().replace("yes", "no"))
    assert write("toy", toy, told()) == ["it holds (0.3)"]
    (toy.folder / "checks-f.csv").unlink()
    assert write("toy", toy, told()) == ["f is not kept: run --keep"]


def test_shares_and_cells_are_shown_short():
    assert (percent(0.0949), percent(-0.001), span([0.31, 0.09]), shown("0.123456789"), shown("2 ± 0.1")) == (
        "9%",
        "0%",
        "9% to 31%",
        "0.1235",
        "2 ± 0.1",
    )
