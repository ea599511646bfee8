"""What a state holds beside reports, where a way needs it: values of periods before, or the draws of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..over_time.way import Way
from ..sampling.random_words import random_words
from .period_book import PeriodBook


def drawn_reports(
    way: Way, book: PeriodBook, names: Sequence[str], values: Sequence[Any], rows: Sequence[int]
) -> list[str]:
    """Return new reports of some of the users, by their rows, as text; what they need to be drawn is written down."""
    if way.remembers == "values":
        return _of_histories(way, book, [names[row] for row in rows])
    if way.remembers == "draws":
        return _of_draws(way, book, [names[row] for row in rows], [values[row] for row in rows])
    inputs, words = way.inputs, random_words(None)
    held = inputs.sampled(inputs.admitted([values[row] for row in rows]), words)
    return way.to_text(way.draw(held, words))


def note_values(way: Way, book: PeriodBook, period: int, names: Sequence[str], values: Sequence[Any]) -> None:
    """Write down the values of users who are still to report of histories; the first of a period stays."""
    turns = way.turns(names).max(axis=1)
    waiting = np.flatnonzero(turns >= period).tolist()
    held = way.values.admitted([values[row] for row in waiting])
    book.remember((names[row], period, repr(value)) for row, value in zip(waiting, held.tolist(), strict=True))


def _of_histories(way: Way, book: PeriodBook, names: Sequence[str]) -> list[str]:
    """Reports of whole histories; these are forgotten then, as nothing more is drawn of them."""
    remembered = book.remembered(names)
    histories = np.full((len(names), way.periods), np.nan)
    for row, name in enumerate(names):
        for period, content in remembered[name].items():
            histories[row, period - 1] = float(content)
    texts = way.to_text(way.drawn_of(names, histories, random_words(None)))
    book.drop_remembered(names)
    return texts


def _of_draws(way: Any, book: PeriodBook, names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Reports by what was drawn once for each value; see `Memoised`."""
    words, remembered = random_words(None), book.remembered(names)
    held = way.inputs.admitted(values)
    lacking = [name for name in names if not remembered[name]]
    for name, first in zip(lacking, way.first_draws(len(lacking), words), strict=True):
        remembered[name] = first
    after, texts = way.drawn_again(held, [remembered[name] for name in names], words)
    book.drop_remembered(names)
    book.remember((name, place, text) for name, mine in zip(names, after, strict=True) for place, text in mine.items())
    return texts
