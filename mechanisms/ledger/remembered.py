"""What a state holds beside reports, where a way needs it: values of periods before, draws of values, or signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..over_time.tree import SIGNS
from ..over_time.way import Way
from ..sampling.random_words import random_words
from .period_book import FORGOTTEN, PeriodBook


def drawn_reports(
    way: Way, book: PeriodBook, names: Sequence[str], values: Sequence[Any], rows: Sequence[int]
) -> Sequence[str | None]:
    """Return new reports of some of the users, by their rows, as text, None for those who may draw no more.

    What they remember is written down.
    """
    if way.remembers == "values":
        return _of_histories(way, book, [names[row] for row in rows])
    if way.remembers == "draws":
        return _of_draws(way, book, [names[row] for row in rows], [values[row] for row in rows])
    if way.remembers == "signs":
        return _of_signs(way, book, [names[row] for row in rows], [values[row] for row in rows])
    inputs, words = way.inputs, random_words(None)
    held = inputs.sampled(inputs.admitted([values[row] for row in rows]), words)
    return way.to_text(way.draw(held, words))


def note_values(way: Way, book: PeriodBook, period: int, names: Sequence[str], values: Sequence[Any]) -> None:
    """Write down the values of users who are still to report of histories; the first of a period stays."""
    turns = way.turns(names).max(axis=1)
    waiting = np.flatnonzero(turns >= period).tolist()
    held = way.values.admitted([values[row] for row in waiting])
    book.remember((names[row], period, repr(value)) for row, value in zip(waiting, held.tolist(), strict=True))


def note_signs(way: Any, book: PeriodBook, names: Sequence[str], values: Sequence[Any]) -> None:
    """Draw and write down the signs of users of branches who have none, beside the sign of their value now.

    Where another copy of the state may have drawn signs, or these were forgotten, there are no new ones.
    """
    if book.about.lost:
        return
    of_branches = np.flatnonzero(way.beside(names)["branch"]).tolist()
    remembered = book.remembered([names[row] for row in of_branches])
    lacking = [row for row in of_branches if not remembered[names[row]]]
    held, mine = way.inputs.admitted([values[row] for row in lacking]), [names[row] for row in lacking]
    for name, memory in zip(mine, way.first_memories(mine, held, random_words(None)), strict=True):
        book.remember((name, place, text) for place, text in memory.items())


def _of_signs(way: Any, book: PeriodBook, names: Sequence[str], values: Sequence[Any]) -> list[str | None]:
    """Reports of users who tell one value, and the next sign of others; None for those whose signs are gone."""
    words, remembered = random_words(None), book.remembered(names)
    branches = way.beside(names)["branch"]
    held = way.inputs.admitted(values)
    texts: list[str | None] = [None] * len(names)
    ones = np.flatnonzero(branches == 0)
    for row, text in zip(ones.tolist(), way.to_text(way.draw(held[ones], words)), strict=True):
        texts[row] = text
    there = [row for row in np.flatnonzero(branches).tolist() if SIGNS in remembered[names[row]]]
    if book.about.lost:
        there = []  # a copy may have told changes that this one would tell by the same signs
    mine = [names[row] for row in there]
    after, sent = way.drawn_next(mine, held[there], [remembered[name] for name in mine], words)
    book.drop_remembered(mine)
    for row, name, memory, text in zip(there, mine, after, sent, strict=True):
        book.remember((name, place, content) for place, content in memory.items())
        texts[row] = text
    return texts


def _of_histories(way: Way, book: PeriodBook, names: Sequence[str]) -> list[str]:
    """Reports of whole histories; these are forgotten then, as nothing more is drawn of them."""
    remembered = book.remembered(names)
    histories = np.full((len(names), way.periods), np.nan)
    for row, name in enumerate(names):
        for period, content in remembered[name].items():
            if period > 0:
                histories[row, period - 1] = float(content)
    texts = way.to_text(way.drawn_of(names, histories, random_words(None)))
    book.drop_remembered(names)
    return texts


def _of_draws(way: Any, book: PeriodBook, names: Sequence[str], values: Sequence[Any]) -> list[str | None]:
    """Reports by what was drawn once for each value; see `Memoised`.

    Who was forgotten sends no more, and where another copy of the state may have drawn, nothing new is.
    """
    words, remembered = random_words(None), book.remembered(names)
    held, fresh = way.inputs.admitted(values), not book.about.lost
    gone = [FORGOTTEN in remembered[name] for name in names]
    if any(gone):
        there = [row for row, forgotten in enumerate(gone) if not forgotten]
        texts = iter(_of_draws(way, book, [names[row] for row in there], [values[row] for row in there]))
        return [None if forgotten else next(texts) for forgotten in gone]
    lacking = [name for name in names if not remembered[name]]
    for name, first in zip(lacking, way.first_draws(len(lacking), words), strict=True):
        remembered[name] = first
    after, texts = way.drawn_again(held, [remembered[name] for name in names], words, fresh=fresh)
    book.drop_remembered(names)
    book.remember((name, place, text) for name, mine in zip(names, after, strict=True) for place, text in mine.items())
    return texts


def draws_of(way: Any, book: PeriodBook, name: str) -> int:
    """Return how many draws for different values count as made for a user; all, where a state was lost."""
    if book.about.lost:
        return way.values_drawn
    mine = book.remembered([name])[name]
    return int(mine.get(FORGOTTEN, 0)) + sum(place >= 0 for place in mine)
