"""Boxes in given rows, and arrows that run between the boxes: Sugiyama's method, in small.

An arrow that spans several rows gets a place of its own in each row between (Sugiyama, Tagawa and Toda 1981); rows are
put in the order of their neighbours' averages, and places as near to those averages as the widths allow (pool adjacent
violators). An arrow bends only where there are no boxes, between rows, so it runs through none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Edge = tuple[str, str]

SWEEPS = 40
"""Down and up through the rows; the best order seen is kept."""

LANE = 0.16
"""Width of an arrow's place in a row."""

APART = 0.2
"""Between two places in a row."""

STRAIGHT = 8
"""How much more it counts that an arrow goes straight through rows between than that boxes stand below each other."""


@dataclass
class Drawing:
    """Where everything stands: rows from the top, boxes and the ways of arrows between them."""

    rows: list[list[str]]
    heights: list[float]
    widths: dict[str, float]
    ways: dict[Edge, list[str]]
    half: float
    """Half of a box's height, with what keeps arrows away from it."""
    x: dict[str, float] = field(default_factory=dict)

    def y(self) -> dict[str, float]:
        return {name: height for row, height in zip(self.rows, self.heights, strict=True) for name in row}


def layered(
    rows: list[list[str]], heights: list[float], widths: dict[str, float], edges: list[Edge], half: float
) -> Drawing:
    """Return a drawing of boxes in rows, from the top, and of edges from higher rows to lower ones."""
    rows = [list(row) for row in rows]
    row_of = {name: i for i, row in enumerate(rows) for name in row}
    widths, ways = dict(widths), {}
    for start, end in edges:
        lanes = [f"{start} > {end} at {i}" for i in range(row_of[start] + 1, row_of[end])]
        for lane, row in zip(lanes, rows[row_of[start] + 1 : row_of[end]], strict=True):
            row.append(lane)
            widths[lane] = LANE
        ways[start, end] = [start, *lanes, end]
    drawing = Drawing(rows, heights, widths, ways, half)
    _order(drawing)
    _place(drawing)
    return drawing


def _neighbours(drawing: Drawing) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {name: [] for row in drawing.rows for name in row}
    below: dict[str, list[str]] = {name: [] for row in drawing.rows for name in row}
    for way in drawing.ways.values():
        for a, b in pairwise(way):
            below[a].append(b)
            above[b].append(a)
    return above, below


def _order(drawing: Drawing) -> None:
    above, below = _neighbours(drawing)
    best, fewest = [list(row) for row in drawing.rows], _crossings(drawing, below)
    for sweep in range(SWEEPS):
        near, rows = (above, drawing.rows) if sweep % 2 == 0 else (below, drawing.rows[::-1])
        for row in rows:
            at = {name: i / len(one) for one in drawing.rows for i, name in enumerate(one)}
            row.sort(key=lambda name: sum(at[n] for n in near[name]) / len(near[name]) if near[name] else at[name])
        found = _crossings(drawing, below)
        if found < fewest:
            best, fewest = [list(row) for row in drawing.rows], found
    drawing.rows = best


def _crossings(drawing: Drawing, below: dict[str, list[str]]) -> int:
    count = 0
    for upper, lower in pairwise(drawing.rows):
        at = {name: i for i, name in enumerate(lower)}
        ends = [at[end] for name in upper for end in sorted(below[name], key=at.__getitem__)]
        count += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return count


def _place(drawing: Drawing) -> None:
    above, below = _neighbours(drawing)
    at = drawing.x
    for row in drawing.rows:
        _settle(row, drawing.widths, dict.fromkeys(row, 0.0), at)
    for sweep in range(SWEEPS):
        for row in drawing.rows if sweep % 2 == 0 else drawing.rows[::-1]:
            wanted = {name: _wanted(name, above[name] + below[name], drawing) for name in row}
            _settle(row, drawing.widths, wanted, at)


def _wanted(name: str, near: list[str], drawing: Drawing) -> float:
    """Return where a box or a lane would stand by its neighbours alone."""
    lanes = {lane for way in drawing.ways.values() for lane in way[1:-1]}
    weights = [STRAIGHT if {name, one} <= lanes else 1 for one in near]
    total = sum(weight * drawing.x[one] for weight, one in zip(weights, near, strict=True))
    return total / sum(weights) if near else 0.0


def _settle(row: list[str], widths: dict[str, float], wanted: dict[str, float], at: dict[str, float]) -> None:
    """Put a row, in its order and without overlap, as near to where it is wanted as squares can be."""
    offsets, end = [], 0.0
    for name in row:
        offsets.append(end + widths[name] / 2)
        end += widths[name] + APART
    pools: list[list[float]] = []  # sum and number of wanted places that must move together
    for name, offset in zip(row, offsets, strict=True):
        pools.append([wanted[name] - offset, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, number = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += number
    moved = [total / number for total, number in pools for _ in range(int(number))]
    at.update({name: shift + offset for name, shift, offset in zip(row, moved, offsets, strict=True)})


def path(drawing: Drawing, edge: Edge) -> Any:
    """Return an arrow's way as a path of matplotlib: down through its lanes, bent between rows alone."""
    from matplotlib.path import Path

    y, way = drawing.y(), drawing.ways[edge]
    (x, down), codes, points = (_port(drawing, edge, 0), y[way[0]] - drawing.half), [Path.MOVETO], []
    points.append((x, down))
    for name in way[1:]:
        last = name == way[-1]
        u, top = (_port(drawing, edge, 1) if last else drawing.x[name]), y[name] + drawing.half
        middle = (points[-1][1] + top) / 2
        points += [(points[-1][0], middle), (u, middle), (u, top)]
        codes += [Path.CURVE4] * 3
        if not last:
            points.append((u, y[name] - drawing.half))
            codes.append(Path.LINETO)
    return Path(points, codes)


def _port(drawing: Drawing, edge: Edge, end: int) -> float:
    """Where on a box's edge an arrow begins (0) or ends (1): side by side, in the order of where they come from."""
    name, where = edge[end], (1 if end == 0 else -2)
    beside = sorted((way[where] for one, way in drawing.ways.items() if one[end] == name), key=drawing.x.__getitem__)
    share = (beside.index(drawing.ways[edge][where]) + 1) / (len(beside) + 1) - 0.5
    return drawing.x[name] + share * min(drawing.widths[name], 0.22 * (len(beside) + 1))
