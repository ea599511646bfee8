"""Text that is shown: on one line, and nothing in it that a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, OptldpError, TableError
from optldp.mechanisms.printable import printable, shortened

EVERYTHING = st.text(st.characters(exclude_categories=[]))
"""Lone surrogates too, which file names can hold."""


@given(EVERYTHING)
def test_it_is_one_line_of_printable_characters(text):
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown
    shown.encode()


@given(st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" ")))
def test_printable_text_stays(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("character", "shown"),
    [("\x1b", r"\x1b"), ("\r", r"\r"), ("\n", r"\n"), ("\x07", r"\x07"), ("\x7f", r"\x7f"), ("\x9b", r"\x9b"),
     ("\u202e", r"\u202e"), ("\u2066", r"\u2066"), ("\u200b", r"\u200b"), ("\u2028", r"\u2028"), ("\ufeff", r"\ufeff"),
     ("\udcff", r"\udcff"), ("\U000e0001", r"\U000e0001")],
)  # fmt: skip
def test_what_commands_reorders_or_hides_is_escaped(character, shown):
    assert printable(f"a{character}b") == f"a{shown}b"


@pytest.mark.parametrize("kind", [OptldpError, InputError, TableError])
def test_every_error_of_ours_is_safe_to_show(kind):
    assert str(kind("got 'x\x1b[2J\n\u202ey'")) == r"got 'x\x1b[2J\n\u202ey'"


@given(EVERYTHING, st.integers(1, 20))
def test_what_is_cut_says_so(text, most):
    shown = shortened(text, most)
    assert shown.isprintable()
    assert len(shown) <= most + 4
    if len(text) > most:
        assert shown.endswith(" ...")
