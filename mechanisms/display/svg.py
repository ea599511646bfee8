"""Small pictures as inline SVG, drawn in the colour of the text around them: light on dark, dark on light."""

from __future__ import annotations

import sys
from html import escape

import numpy as np

from ..printable import shortened
from .summary import Dots, HeatMap, Picture, Profile

WIDTH, HEIGHT = 360, 150
"""Of the part that is drawn on; labels stand around it."""

MOST_CELLS = 48
"""Rows and columns of a heat map; larger ones are averaged in blocks."""

SHADES = 12
"""Steps between nothing and the largest number."""

MOST_BARS = 180
"""Places of a profile; more are added up in groups."""

MOST_DOTS = 24
"""Labels with numbers, from the first; a line below them says how many more there are."""

LARGEST = sys.float_info.max

LETTERS = 22
"""Characters of a label."""


def svg_of(picture: Picture) -> str:
    """Return the picture as one SVG element.

    Example
    -------
    >>> dots = Dots(["a < b"], np.array([0.5]), "share", np.array([0.4]), np.array([0.6]))
    >>> "a &lt; b" in svg_of(dots), "currentColor" in svg_of(dots)
    (True, True)
    """
    if isinstance(picture, HeatMap):
        return _heat_map(picture)
    return _profile(picture) if isinstance(picture, Profile) else _dots(picture)


def _heat_map(picture: HeatMap) -> str:
    cells = _pooled(_pooled(np.nan_to_num(picture.values, posinf=0.0, neginf=0.0).clip(0.0), 0), 1)
    n, m = cells.shape
    most = float(cells.max(initial=0.0))
    shades = np.rint(SHADES * np.sqrt(cells / most)).astype(int) if most > 0 else np.zeros((n, m), dtype=int)
    wide, high = WIDTH / n, HEIGHT / m
    parts = [
        f'<path fill="currentColor" fill-opacity="{shade / SHADES:.2f}" d="'
        + "".join(
            f"M{i * wide:.1f} {HEIGHT - (j + 1) * high:.1f}h{wide:.1f}v{high:.1f}h{-wide:.1f}z"
            for i, j in zip(*np.nonzero(shades == shade), strict=True)
        )
        + '"/>'
        for shade in range(1, SHADES + 1)
        if (shades == shade).any()
    ]
    (left, right), (low, top) = picture.across_ends, picture.up_ends
    return _framed(parts, picture.across, picture.up, (left, right, low, top))


def _profile(picture: Profile) -> str:
    known = np.isfinite(picture.places) & np.isfinite(picture.heights)
    places, heights = picture.places[known], picture.heights[known]
    if not places.size:
        return _framed([], picture.across, picture.up, ("", "", "", ""))
    if places.size > MOST_BARS:
        blocks = np.array_split(np.arange(places.size), MOST_BARS)
        places = np.array([places[block].mean() for block in blocks])
        heights = np.array([heights[block].max() for block in blocks])
    least, most = min(0.0, float(heights.min())), max(0.0, float(heights.max()))
    first, last = float(places.min()), float(places.max())
    thick = max(1.0, 0.7 * WIDTH / max(places.size, 8))
    x = thick / 2 + _scaled(places, first, last, WIDTH - thick)
    y = HEIGHT - _scaled(heights, least, most, HEIGHT)
    zero = HEIGHT - _scaled(np.zeros(1), least, most, HEIGHT)[0]
    line = "".join(f"M{a:.1f} {zero:.1f}V{b:.1f}" for a, b in zip(x, y, strict=True))
    bars = f'<path stroke="currentColor" stroke-opacity=".7" stroke-width="{thick:.1f}" d="{line}"/>'
    return _framed([bars], picture.across, picture.up, (f"{first:.4g}", f"{last:.4g}", f"{least:.4g}", f"{most:.4g}"))


def _dots(picture: Dots) -> str:
    shown = np.flatnonzero(np.isfinite(picture.values))[:MOST_DOTS]
    values = np.asarray(picture.values, dtype=float)[shown]
    low = values if picture.low is None else np.asarray(picture.low, dtype=float)[shown]
    high = values if picture.high is None else np.asarray(picture.high, dtype=float)[shown]
    ends = np.concatenate([values, low, high])
    ends = ends[np.isfinite(ends)]
    least, most = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 0.0)
    if picture.low is None and least > 0:
        least = 0.0  # sizes: how much longer one is than another is what is to be seen
    space = 0.05 * most - 0.05 * least or 0.5 * abs(most) or 1.0
    lowest = 0.0 if least >= 0 else -LARGEST  # no axis of shares or sizes begins below zero
    least, most, step = max(least - space, lowest), min(most + space, LARGEST), 18
    height = step * max(shown.size, 1)
    parts = []
    for row, k in enumerate(shown):
        own = np.array([low[row], values[row], high[row]])
        a, x, b = _scaled(np.nan_to_num(own, nan=values[row], posinf=most, neginf=least), least, most, WIDTH)
        y = step * (row + 0.5)
        parts.append(
            f'<path stroke="currentColor" stroke-opacity=".6" stroke-width="2" d="M{a:.1f} {y:g}H{b:.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{y:g}" r="4" fill="currentColor"/>'
            f'<text x="{WIDTH + 8}" y="{y + 4:g}" {FONT}>{_label(picture.labels[k])}</text>'
            f'<text x="-6" y="{y + 4:g}" text-anchor="end" {FONT}>{values[row]:.5g}</text>'
        )
    across = picture.what + picture.left_out(shown.size)
    return _framed(parts, across, "", (f"{least:.4g}", f"{most:.4g}", "", ""), height)


FONT = 'fill="currentColor" font-size="11" font-family="sans-serif"'


def _framed(parts: list[str], across: str, up: str, ends: tuple[str, str, str, str], height: int = HEIGHT) -> str:
    left, right, low, top = map(_label, ends)
    name = escape(shortened(" against ".join(filter(None, (up, across))), 4 * LETTERS))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" width="{WIDTH + 170}" '
        f'height="{height + 44}" viewBox="-70 -8 {WIDTH + 240} {height + 44}" style="max-width:100%">'
        f'<rect width="{WIDTH}" height="{height}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
        + "".join(parts)
        + f'<text x="0" y="{height + 14}" {FONT}>{left}</text>'
        f'<text x="{WIDTH}" y="{height + 14}" text-anchor="end" {FONT}>{right}</text>'
        f'<text x="{WIDTH / 2:g}" y="{height + 28}" text-anchor="middle" {FONT}>{_label(across, 4 * LETTERS)}</text>'
        f'<text x="-4" y="{height}" text-anchor="end" {FONT}>{low}</text>'
        f'<text x="-4" y="9" text-anchor="end" {FONT}>{top}</text>'
        f'<text x="-8" y="{height / 2:g}" text-anchor="middle" transform="rotate(-90 -8 {height / 2:g})" '
        f"{FONT}>{_label(up, 2 * LETTERS)}</text></svg>"
    )


def _label(text: object, most: int = LETTERS) -> str:
    return escape(shortened(str(text), most))


def _scaled(numbers: np.ndarray, least: float, most: float, length: float) -> np.ndarray:
    """Numbers between least and most as lengths; one number alone stands in the middle."""
    half = 0.5 * most - 0.5 * least  # which cannot overflow
    return np.full(numbers.shape, length / 2) if half == 0 else length * ((0.5 * numbers - 0.5 * least) / half)


def _pooled(cells: np.ndarray, axis: int) -> np.ndarray:
    if cells.shape[axis] <= MOST_CELLS:
        return cells
    return np.stack([block.mean(axis) for block in np.array_split(cells, MOST_CELLS, axis)], axis)
