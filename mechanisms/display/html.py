"""An answer as a piece of a page: no script, no style sheet, no address; every text escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ..printable import shortened
from .summary import Told, plain
from .svg import svg_of

MOST_ROWS = 10
"""Rows of a table that are shown."""

MOST_LETTERS = 80
"""Characters of a text that are shown."""

CELL = "text-align:right;padding:1px 8px;color:inherit;background:none"


def html_of(name: str, told: Told) -> str:
    """Return what an answer says of itself as HTML, which is as light or dark as what stands around it.

    Parameters
    ----------
    name : str
        Of its class.
    told : Told

    Example
    -------
    >>> html_of("Mean", Told({"value": 0.5, "units": "<b>"})).count("<b>")
    0
    """
    facts = {each: _text(value) for each, value in told.facts.items() if value is not None}
    parts = [f"<strong>{escape(name)}</strong>"]
    if told.columns:
        parts.append(escape(" · ".join(f"{each} {value}" for each, value in facts.items())))
    body = _table(told.columns) if told.columns else _list(facts)
    picture = svg_of(told.picture) if told.picture is not None else ""
    return f'<div style="color:inherit">{" ".join(parts)}<br/>{picture}{body}</div>'


def _text(value: Any) -> str:
    value = plain(value)
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value), MOST_LETTERS)


def _list(facts: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><th style="{CELL};text-align:left">{escape(name)}</th><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table style="color:inherit">{rows}</table>'


def _table(columns: Mapping[str, Any]) -> str:
    size = max(map(len, columns.values()))
    head = "".join(f'<th style="{CELL}">{escape(_text(name))}</th>' for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td style={chr(34)}{CELL}{chr(34)}>{escape(_text(cell))}</td>' for cell in row)}</tr>"
        for row in zip(*(column[:MOST_ROWS] for column in columns.values()), strict=True)
    )
    more = f"<div>and {size - MOST_ROWS:,} more: to_frame()</div>" if size > MOST_ROWS else ""
    return f'<table style="color:inherit"><tr>{head}</tr>{rows}</table>{more}'
