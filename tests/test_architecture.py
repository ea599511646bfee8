"""The pictures of the house: arrows are the imports there are, and none runs through a box."""

import ast
import importlib
import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

CI = Path(__file__).parents[1] / ".ci"


@pytest.fixture(scope="module")
def house():
    """The program that draws, and what places boxes and arrows for it."""
    sys.path.insert(0, str(CI))
    try:
        yield importlib.import_module("architecture"), importlib.import_module("layered_drawing")
    finally:
        sys.path.remove(str(CI))


@pytest.mark.nightly
def test_a_name_of_a_layer_is_an_arrow_to_the_room_where_it_lives(house):
    """`from ...mechanisms import Sampler` asks the client's room; commands are loaded by their names."""
    drawn, _ = house
    found = drawn.arrows()
    assert drawn.public("mechanisms")["Sampler"] == "mechanisms.client.sampler"
    assert not {"mechanisms", "solvers", "estimators", "designer"} & set().union(*found.values())
    assert found["designer.command_line"] == {"designer.commands"}


def test_every_room_is_installed():
    """What is not listed is found in a clone all the same, and missing from the wheel."""
    root = Path(__file__).parents[1]
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    layers = ("designer", "solvers", "mechanisms", "estimators")
    rooms = [place.parent.relative_to(root) for layer in layers for place in (root / layer).rglob("__init__.py")]
    assert set(listed) == {"optldp", *(f"optldp.{'.'.join(room.parts)}" for room in rooms)}


def test_an_arrow_that_others_imply_is_left_out(house):
    drawn, _ = house
    found = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert drawn.without_implied(found) == {"a": {"b"}, "b": {"c"}, "c": set()}


@pytest.mark.parametrize("seed", range(20))
def test_boxes_do_not_overlap_and_no_arrow_runs_through_one(house, seed):
    """On random rows of boxes: every arrow leaves its first box, enters its last one and meets no other."""
    rng, (_, layout) = np.random.default_rng(seed), house
    rows = [[f"{i}{letter}" for letter in "abcde"[: rng.integers(1, 6)]] for i in range(7)]
    row_of = {name: i for i, row in enumerate(rows) for name in row}
    edges = [(a, b) for a in row_of for b in row_of if row_of[a] < row_of[b] and rng.random() < 0.12]
    widths = {name: rng.uniform(0.3, 1.5) for name in row_of}
    drawing = layout.layered(rows, [-1.2 * i for i in range(7)], widths, edges, half=0.2)
    for row in drawing.rows:
        for left, right in pairwise(row):
            assert drawing.x[right] - drawing.x[left] >= (drawing.widths[left] + drawing.widths[right]) / 2
    y = drawing.y()
    for edge in edges:
        points = np.vstack(layout.path(drawing, edge).to_polygons(closed_only=False))
        for name in row_of:
            inside = np.abs(points - [drawing.x[name], y[name]]) < [widths[name] / 2, 0.2 - 1e-9]
            assert not inside.all(axis=1).any()
        for (x, height), name, side in ((points[0], edge[0], -0.2), (points[-1], edge[1], 0.2)):
            assert abs(x - drawing.x[name]) < widths[name] / 2
            assert height == pytest.approx(y[name] + side)


@pytest.mark.nightly
def test_what_a_room_says_of_itself_names_what_there_is():
    """A name in an essay is a file, a room, a path or a word of the code; `file.name` stands in that file."""
    stubs = {layer: (CI.parent / layer).rglob("*.py") for layer in ("mechanisms", "solvers", "estimators", "designer")}
    files = [file for found in stubs.values() for file in found]
    code = {word for file in files for node in ast.walk(ast.parse(file.read_text())) for word in words_of(node)}
    known = code | {file.stem for file in files} | {file.parent.name for file in files}
    for file in files:
        if file.name != "__init__.py" or file.parent.name in stubs:
            continue
        essay = ast.get_docstring(ast.parse(file.read_text())) or ""
        named = re.findall(r"`([^`]+)`", essay)
        for name in named:
            of, _, last = name.rpartition(".")
            if "/" in name or name.startswith("__"):
                assert any((folder / name).exists() for folder in (file.parent, *file.parents)), (file, name)
            elif (file.parent / f"{of}.py").exists():
                assert re.search(rf"\b{last}\b", (file.parent / f"{of}.py").read_text()), (file, name)
            else:
                assert {*name.split(".")} - {"optldp"} <= known, (file, name)


def words_of(node: ast.AST) -> list[str]:
    """What a node of code defines or uses by name."""
    return [getattr(node, field) for field in ("name", "id", "attr", "arg") if isinstance(getattr(node, field, 0), str)]


def test_a_step_that_is_taken_nowhere_is_refused(house):
    drawn, _ = house
    page = drawn.PAGE.read_text()
    assert list(drawn.steps(page)) == list(drawn.STEPS)
    with pytest.raises(ValueError, match="a room of the house, got mechanisms/cellar"):
        drawn.steps(page.replace("`mechanisms/files`", "`mechanisms/cellar`"))
    with pytest.raises(ValueError, match="must be those of STEPS"):
        drawn.steps(page.replace("| counts |", "| sums |"))
