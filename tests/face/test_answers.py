"""Whatever users are handed: a line, a cell of a notebook, a frame, a picture; pickled, compared, with an example."""

import pickle
import re
import sys
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from optldp.estimators import Estimate
from optldp.mechanisms import InputError
from optldp.mechanisms.display.axes import draw
from optldp.mechanisms.display.display import Shown
from optldp.mechanisms.display.summary import Dots, Profile
from optldp.mechanisms.display.svg import svg_of

from .answers import answers

ANSWERS = answers()


def kinds(base: type = Shown) -> set[type]:
    """Every class of answers, those that have no kinds of their own."""
    below = base.__subclasses__()
    return set().union(*map(kinds, below)) if below else {base}


def test_no_kind_of_answer_is_missing_here():
    for floor in ("mechanisms", "solvers", "estimators", "designer"):  # an editable optldp has none of them in its path
        for module in walk_packages(import_module(f"optldp.{floor}").__path__, f"optldp.{floor}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    made = {type(answer) for answer in ANSWERS.values()}
    assert {kind.__name__ for kind in kinds() - made if kind.__module__.startswith("optldp.")} == set()


@pytest.mark.parametrize("name", ANSWERS)
class TestEveryAnswer:
    def test_says_one_line(self, name):
        answer = ANSWERS[name]
        line = repr(answer)
        assert line.startswith(f"{type(answer).__name__}(")
        assert line.endswith(")")
        assert len(line) < 400
        assert line.isprintable()

    def test_stands_in_a_notebook_in_the_colour_of_its_surroundings_with_every_text_escaped(self, name):
        answer = ANSWERS[name]
        page = answer._repr_html_()
        tree = ElementTree.fromstring(page)
        assert {element.tag.split("}")[-1] for element in tree.iter()} <= {
            *("div", "strong", "br", "table", "tr", "th", "td"),
            *("svg", "rect", "path", "circle", "text"),
        }
        assert "".join(tree.itertext()).isprintable()
        assert type(answer).__name__ in page
        assert "<svg" in page
        assert len(page) < 60_000
        assert not re.search("nan|inf", "".join(re.findall(r' (?:d|cx|cy|x|y)="([^"]*)"', page)))
        assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', page)) <= {"currentColor", "none"}
        assert set(re.findall(r"(?:color|background):([^;\"]*)", page)) <= {"inherit", "none"}

    def test_becomes_a_frame_of_any_library(self, name):
        frames = [ANSWERS[name].to_frame(backend=backend) for backend in ("pandas", "polars", "pyarrow")]
        shapes = {frame.shape for frame in frames}
        assert len(shapes) == 1
        assert min(shapes.pop()) > 0
        assert list(frames[0].columns) == frames[1].columns == frames[2].column_names
        with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow, got 'excel'"):
            ANSWERS[name].to_frame(backend="excel")

    def test_is_drawn_on_axes_that_come_back(self, name):
        axes = Figure().add_subplot()
        assert ANSWERS[name].plot(axes) is axes
        assert axes.has_data()

    def test_is_the_same_after_a_pickle_and_no_other(self, name):
        answer = ANSWERS[name]
        again = pickle.loads(pickle.dumps(answer))
        assert again is not answer
        assert again == answer
        assert hash(again) == hash(answer)
        assert repr(again) == repr(answer)
        assert [other for other, each in ANSWERS.items() if each == answer and each is not answer] == []
        assert answer != name

    def test_has_an_example(self, name):
        assert ">>>" in (type(ANSWERS[name]).__doc__ or "")

    def test_calls_the_same_things_by_the_same_names(self, name):
        answer = ANSWERS[name]
        columns = set(answer.to_frame(backend="polars").columns)
        assert not columns & {"users", "n_users", "error_bar", "se", "stderr", "lower", "upper", "ci_low", "ci_high"}
        if isinstance(answer, Estimate):
            assert {"value", "std_error", "low", "high", "confidence", "n"} <= columns
            assert (answer.confidence, answer.interval()) == (0.95, answer.interval(0.95))
            assert repr(answer.low) == repr(answer.interval().low)
            assert repr(answer.high) == repr(answer.interval().high)


@pytest.mark.parametrize(
    "picture",
    [
        Profile(np.array([0.0, 5.0, 80.0]), np.array([0.5, 0.25, 0.25]), "hours", "share"),
        Dots(["a", "b"], np.array([0.01, 0.4]), "share", low=np.array([0.0, 0.3]), high=np.array([0.1, 0.5])),
    ],
    ids=["profile", "dots"],
)
def test_no_axis_begins_below_zero_where_nothing_does(picture):
    axes = draw(picture)
    assert not re.search(r">-[0-9.e-]+</text>", svg_of(picture))
    assert axes.get_xlim()[0] >= 0
    assert isinstance(picture, Dots) or axes.get_ylim()[0] == 0  # the rows of dots begin half a row above the first


def test_a_picture_says_how_many_dots_it_leaves_out():
    many = np.append(np.linspace(1.0, 2.0, 49), np.nan)
    picture = Dots([f"method {k}" for k in range(50)], many, "ratio")
    assert "ratio (24 of 50 drawn; 1 has no number)" in svg_of(picture)
    assert draw(picture).get_xlabel() == "ratio (40 of 50 drawn; 1 has no number)"
    twenty = Dots([f"method {k}" for k in range(20)], many[:20], "ratio")
    assert svg_of(twenty).count("<circle") == 20
    assert "drawn" not in svg_of(twenty)


def test_dots_at_the_same_place_are_told_apart_by_their_numbers():
    picture = svg_of(Dots(["optimal", "aaa"], np.array([1.0, 1.0004]), "ratio"))
    assert ">1</text>" in picture
    assert ">1.0004</text>" in picture


def test_a_new_figure_is_made_where_no_axes_are_given():
    assert isinstance(ANSWERS["prior"].plot(), Axes)


def test_without_a_library_of_frames_the_one_that_is_asked_for_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match="a polars data frame needs polars: pip install polars"):
        ANSWERS["prior"].to_frame(backend="polars")
