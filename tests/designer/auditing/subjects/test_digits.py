"""Remainders and digits of reports, against Python's whole numbers and decimals."""

import struct

import numpy as np
import pytest
from optldp.designer.auditing.subjects.digits import (
    DIGITS,
    MODULI,
    digit,
    last_digit,
    last_words,
    leading_place,
    remainders,
    signed_words,
)

EVERY_SIZE = np.random.default_rng(1).integers(0, 2**64, 2000, dtype=np.uint64).view(np.float64)
"""Doubles of random bits: all sizes, both signs, NaN among them."""

PRICES = np.round(np.random.default_rng(2).normal(0.0, 500.0, 1000), 2)


def signed(code, report):
    return 2 * code + int(np.signbit(report))


@pytest.mark.parametrize("modulus", MODULI)
def test_remainders_are_those_of_the_64_bits(modulus):
    found = remainders(EVERY_SIZE, modulus)
    whole = [int.from_bytes(struct.pack("<d", report), "little") for report in EVERY_SIZE.tolist()]
    assert found.tolist() == [signed(bits % modulus, x) for bits, x in zip(whole, EVERY_SIZE, strict=True)]


@pytest.mark.parametrize("place", range(6))
def test_digits_are_those_of_the_number_written_out(place):
    """Prices with two decimals, from hundreds on."""
    written = [f"{abs(report):010.6f}" for report in PRICES.tolist()]
    start = [len(text.split(".")[0]) - 3 + place for text in written]
    digits = [int(text.replace(".", "")[at]) for text, at in zip(written, start, strict=True)]
    expected = [signed(code, x) for code, x in zip(digits, PRICES, strict=True)]
    assert digit(PRICES, 2, place).tolist() == expected


def test_the_last_digit_and_the_zeros_after_it_are_those_of_fifteen_digits():
    """Of short decimals of every size; what is no number, or next to nothing, counts as zero."""
    rng, reports, expected = np.random.default_rng(3), [], []
    for _ in range(2000):
        digits = str(rng.integers(1, 10**6)).rstrip("0")
        report = float(f"{rng.choice(['', '-'])}{digits}e{rng.integers(-290, 290)}")
        reports.append(report)
        expected.append(20 * (DIGITS - len(digits)) + signed(int(digits[-1]), report))
    assert last_digit(np.array(reports)).tolist() == expected
    assert last_digit(np.array([0.0, np.nan, np.inf, 5e-324])).tolist() == [0, 0, 0, 0]


def test_the_leading_place_is_that_of_the_median_of_what_is_not_zero():
    assert leading_place(np.array([0.0, 0.0, 0.02, -0.03, 700.0, np.nan, np.inf])) == -2
    assert leading_place(np.array([0.0, np.nan])) == 0


def test_codes_have_words():
    assert [signed_words(code) for code in (0, 1, 7)] == ["+0", "-0", "-3"]
    assert last_words(20 * 3 + 15) == "-7 before 3"
