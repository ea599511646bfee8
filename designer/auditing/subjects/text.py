"""Reports as lines of text: what a sampler behind a pipe prints, as numbers and codes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from ....mechanisms import InputError

DIGITS = str.maketrans("123456789", "000000000")
"""All digits are one in the form of a text."""

SIXTY_BITS = 2**60 - 1


def numbers_of(texts: Sequence[str]) -> np.ndarray:
    """Return the numbers (N,) that texts are read as; NaN for text that is none.

    Example
    -------
    >>> numbers_of(["-0.0", " 12", "1e999", "banana"])
    array([-0., 12., inf, nan])
    """
    try:
        return np.array(list(map(float, texts)))
    except ValueError:
        return np.array([_number(text) for text in texts])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def published_numbers(texts: Sequence[str]) -> list[str | None]:
    """Return the one spelling of the number that each text is read as; None for text that is no finite number.

    Example
    -------
    >>> published_numbers(["4", "4.0", "1e-7", "-0", "inf", "banana"])
    ['4.0', '4.0', '1e-07', '0.0', None, None]
    """
    numbers = numbers_of(texts) + 0.0  # zero has no sign
    return [repr(number) if isfinite(number) else None for number in numbers.tolist()]


def published_rows(
    reports: np.ndarray, foreign: np.ndarray, to_text: Callable[[np.ndarray], list[str]]
) -> list[str | None]:
    """Return the one spelling of each of N reports, as `parsed_rows` returns them; None where there is none.

    Example
    -------
    >>> published_rows(np.array([7, -1]), np.array([0, 1]), lambda reports: [str(one) for one in reports])
    ['7', None]
    """
    if not foreign.any():
        return list(to_text(reports))
    spelled = iter(to_text(reports[foreign == 0]))
    return [None if none else next(spelled) for none in foreign.tolist()]


def text_codes(texts: Sequence[str]) -> np.ndarray:
    """Return a code (N,) for each text: equal texts have equal codes, in every call.

    Example
    -------
    >>> text_codes(["a", "b", "a"]).tolist() == text_codes(["a", "b", "a"]).tolist(), np.unique(text_codes("aba")).size
    (True, 2)
    """
    codes: dict[str, int] = {}
    return np.array([codes.get(text) or codes.setdefault(text, _code(text)) for text in texts], dtype=np.int64)


def _code(text: str) -> int:
    content = text.encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") & SIXTY_BITS


def form_of(texts: Sequence[str]) -> np.ndarray:
    """Return a code (N,) for the form of each text: its length, signs, points and exponents, whatever the digits.

    Example
    -------
    >>> codes = form_of(["12.5", "-12.5", "37.9"])
    >>> bool(codes[0] == codes[2]), bool(codes[0] == codes[1])
    (True, False)
    """
    return text_codes("\n".join(texts).translate(DIGITS).split("\n") if len(texts) else [])


def text_columns(texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns that every report has because it is text: the text, and its form."""
    return {"the text": text_codes(texts), "the form of the text": form_of(texts)}


def parsed_rows(
    texts: Sequence[str], parse: Callable[[Sequence[str]], np.ndarray], nothing: np.ndarray | np.generic
) -> tuple[np.ndarray, np.ndarray]:
    """Return the report (N, ...) of each text, `nothing` where it is none, and which are none, (N,) 0 or 1.

    Parameters
    ----------
    texts : sequence of str
    parse : callable
        Turns texts into reports, or raises InputError if one is none.
    nothing : ndarray
        What stands for no report; of the shape and type of one.

    Example
    -------
    >>> from ....mechanisms.report_text import integers_of_text
    >>> parsed_rows(["7", "banana"], integers_of_text, np.int64(-1))
    (array([ 7, -1]), array([0, 1]))
    """
    try:
        return parse(texts), np.zeros(len(texts), dtype=np.int64)
    except InputError:
        known = {text: _parsed(text, parse) for text in dict.fromkeys(texts)}
        found = [known[text] for text in texts]
        foreign = np.array([one is None for one in found], dtype=np.int64)
        return np.array([nothing if one is None else one for one in found]), foreign


def _parsed(text: str, parse: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray | None:
    try:
        return parse([text])[0]
    except InputError:
        return None
