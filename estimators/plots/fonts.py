"""Letters that the usual font lacks, such as Chinese, Japanese or Korean ones: from another font of the system.

matplotlib draws a box for a letter that its font lacks; given several families it takes each letter from the first that
has it. Which of the system's fonts has one is looked up only where one is lacking.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

MOST_NAMED = 8
"""Letters that are named as lacking."""


LAST_RESORT = "Last Resort"
"""A font that matplotlib brings along, whose letters are all boxes."""


def choose_fonts(figure: Figure) -> str:
    """Give each text of a figure fonts that have its letters, and return what is lacking in all fonts, as a sentence.

    Example
    -------
    >>> from .style import new_axes
    >>> axes = new_axes(2, 2)
    >>> choose_fonts(axes.figure)
    ''
    """
    from matplotlib.text import Text

    lacking: set[str] = set()
    for text in figure.findobj(Text):
        missing = frozenset(_lacking(text))
        if missing:
            families, still = _fallbacks(missing)
            lacking |= still
            text.set_fontfamily(list(dict.fromkeys([*text.get_fontfamily(), *families])))
    if not lacking:
        return ""
    named = "".join(sorted(lacking)[:MOST_NAMED]) + ("..." if len(lacking) > MOST_NAMED else "")
    return f"no font of this system has {named}: the figure shows boxes; install one that has, such as Noto Sans CJK"


@contextmanager
def quiet_about_boxes() -> Iterator[None]:
    """Draw without a warning of matplotlib's for each letter that no font has: `choose_fonts` has said it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _lacking(text: Text) -> set[str]:
    """Return the letters of a text that its own fonts lack; nearly always none, and then nothing is looked up."""
    from matplotlib.font_manager import findfont, get_font

    letters = {letter for letter in text.get_text() if ord(letter) > 127 and not letter.isspace()}
    if not letters:
        return set()
    font = get_font(findfont(text.get_fontproperties()))
    return {letter for letter in letters if not font.get_char_index(ord(letter))}


@functools.lru_cache(maxsize=64)
def _fallbacks(missing: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return families that have these letters, as few as come first by name, and the letters that none has."""
    from matplotlib.font_manager import fontManager, get_font

    families: list[str] = []
    left = set(missing)
    for font in sorted(fontManager.ttflist, key=lambda font: (font.style != "normal", font.weight != 400, font.name)):
        if not left:
            break
        try:
            letters = get_font(font.fname)
            found = {letter for letter in left if letters.get_char_index(ord(letter))}
        except (OSError, RuntimeError):  # a font that is gone, or broken
            continue
        if found and not font.name.startswith(LAST_RESORT):
            families.append(font.name)
            left -= found
    return tuple(families), frozenset(left)
