"""Reports as text: numbers, codes of texts and of their forms, and lines that are none."""

import numpy as np
from optldp.designer.auditing.subjects.text import form_of, numbers_of, parsed_rows, text_codes, text_columns
from optldp.mechanisms import InputError

TEXTS = ["1.5", "-1.5", "7.2", "72", "1e5", "", "banana", "1.5"]


def test_numbers_are_pythons_and_one_text_that_is_none_leaves_the_others_be():
    assert numbers_of(["0.1", "1e-320", "-0.0", "inf"]).tolist() == [0.1, 1e-320, -0.0, np.inf]
    assert np.isnan(numbers_of(["0.1", "x", "0.2"])).tolist() == [False, True, False]


def test_equal_texts_and_no_others_have_equal_codes():
    """In one call and in the next, whatever else there is."""
    codes = text_codes(TEXTS)
    np.testing.assert_array_equal(codes[:, None] == codes, np.array(TEXTS)[:, None] == np.array(TEXTS))
    np.testing.assert_array_equal(text_codes(TEXTS[::-1])[::-1], codes)
    assert (codes >= 0).all()


def test_forms_are_texts_with_all_digits_alike():
    forms = np.array([text.translate(str.maketrans("123456789", "000000000")) for text in TEXTS])
    codes = form_of(TEXTS)
    np.testing.assert_array_equal(codes[:, None] == codes, forms[:, None] == forms)
    assert form_of([]).size == 0


def test_text_that_no_program_prints_has_codes_too():
    """Bytes that are no UTF-8, as they are read."""
    assert len(set(text_columns(["\udcff", "\udcfe", "a"])["the text"].tolist())) == 3


def test_rows_are_parsed_together_and_one_by_one_if_some_are_none():
    """The same reports; `nothing` where there is none."""
    calls = []

    def parse(texts):
        calls.append(len(texts))
        if "x" in texts:
            raise InputError("x is no report")
        return np.array([[int(text), 0] for text in texts])

    reports, foreign = parsed_rows(["3", "4"], parse, np.array([-1, -1]))
    assert (reports.tolist(), foreign.tolist(), calls) == ([[3, 0], [4, 0]], [0, 0], [2])
    reports, foreign = parsed_rows(["3", "x", "3", "x"], parse, np.array([-1, -1]))
    assert (reports.tolist(), foreign.tolist()) == ([[3, 0], [-1, -1], [3, 0], [-1, -1]], [0, 1, 0, 1])
    assert calls[1:] == [4, 1, 1]  # each text once
