"""Mechanisms whose reports others drew."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import CategoricalMechanism, InputError, Provenance, TableError, load_mechanism, save_bundle
from optldp.mechanisms.categorical import CategoricalTable, SubsetSelection
from optldp.mechanisms.categorical.mechanism import PureProtocol
from optldp.mechanisms.files.bundle import bundle_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.third_party import SeededHashing, Written, adopt
from optldp.mechanisms.third_party.adoption import written_of
from optldp.mechanisms.third_party.mark import is_adopted
from optldp.mechanisms.third_party.xxh32 import xxh32

NAMES = ["cook", "smith", "baker"]


@pytest.mark.parametrize(
    ("text", "seed", "digest"),
    [(b"", 0, 0x02CC5D05), (b"a", 0, 0x550D7456), (b"abc", 0, 0x32D153FF), (b"", 2654435761, 0x36B78AE7)],
)
def test_the_hash_is_xxh32(text, seed, digest):
    """Digests that the reference implementation and its ports publish."""
    assert xxh32(text, np.array([seed], dtype=np.uint32)).tolist() == [digest]


@pytest.mark.parametrize(
    ("law", "told", "own", "other"),
    [
        ("grr", {"epsilon": 1.0}, math.e / (math.e + 2), 1 / (math.e + 2)),
        ("grr", {"own": 0.6}, 0.6, 0.2),
        ("rappor", {"epsilon": 1.0}, math.e**0.5 / (1 + math.e**0.5), 1 / (1 + math.e**0.5)),
        ("rappor", {"own": 0.75, "other": 0.3}, 0.75, 0.3),
        ("oue", {"epsilon": 1.0}, 0.5, 1 / (math.e + 1)),
        ("olh", {"epsilon": 1.0}, math.e / (math.e + 3), 1 / 4),
        ("subset", {"epsilon": 1.0}, math.e / (math.e + 2), 1 / (math.e + 2)),
        ("olh", {"epsilon": 1.0, "n_values": 2}, math.e / (math.e + 1), 1 / 2),
    ],
)
def test_a_law_is_the_one_that_was_named_keeps_its_epsilon_and_its_mark_stays(tmp_path, law, told, own, other):
    """Probabilities within rounding, privacy by whole numbers, the mark through a file."""
    save_bundle(adopt(law, NAMES, **told, drawn_by="them"), tmp_path / "m.json")
    made = load_mechanism(tmp_path / "m.json")
    assert isinstance(made, CategoricalMechanism)
    assert made.failures() == ()
    assert is_adopted(made)
    assert made.provenance.parameters["drawn_by"] == "them"
    if isinstance(made, CategoricalTable):
        assert made.probabilities[0] == pytest.approx([own, other, other], abs=1e-15)
    else:
        assert isinstance(made, PureProtocol)
        assert (made.own_support, made.other_support) == pytest.approx((own, other), abs=1e-15)
    assert made.max_log_ratio <= made.epsilon * (1 + 1e-15)
    assert made.max_log_ratio >= made.epsilon - 1e-9


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ("bits", [["101", "[0, 1, 1]", "0. 0. 1."]]),
        ("integer", [["5", "6", "4"]]),
        ("columns", [["1", "0", "0"], ["0", "1", "0.0"], ["1", "1", "1"]]),
    ],
)
def test_bits_are_read_in_every_form_and_counted_ones_come_back(form, columns):
    written = Written(adopt("oue", NAMES, 1.0), form)
    reports = written.reports(columns)
    assert written.mechanism.bits(reports).tolist() == [[1, 0, 1], [0, 1, 1], [0, 0, 1]]  # pyright: ignore[reportAttributeAccessIssue] -- of OUE
    assert np.array_equal(written.counted(written.texts(reports)), reports)


def test_sets_are_read_and_counted_ones_come_back():
    """Numbers of categories in any order; of seven at epsilon 0.5 three, as multi-freq-ldpy has it, and p* is its."""
    made = adopt("subset", list("abcdefg"), 0.5)
    written = Written(made, "set")
    reports = written.reports([["[4 0 6]", "1, 2, 3"]])
    assert isinstance(made, SubsetSelection)
    assert made.bits(reports).tolist() == [[1, 0, 0, 0, 1, 0, 1], [0, 1, 1, 1, 0, 0, 0]]
    assert written.texts(reports) == ["0 4 6", "1 2 3"]
    assert np.array_equal(written.counted(written.texts(reports)), reports)
    assert np.array_equal(Written(made, "bits").reports([["1000101", "0111000"]]), reports)
    assert made.own_support == pytest.approx(3 * math.exp(0.5) / (3 * math.exp(0.5) + 4))


def test_hashed_reports_support_what_has_the_hash_that_was_sent():
    """Seeds count by their last 32 bits; a likelihood is one number for those supported and one for the others."""
    made = adopt("olh", NAMES, 1.0)
    assert isinstance(made, SeededHashing)
    seeds = np.array([7, 2**32 + 7, 2**62 + 123])
    reports = Written(made, "seeded").reports([["0", "0", "3"], [str(seed) for seed in seeds]])
    assert reports[0] == reports[1]
    hashes = np.array([xxh32(str(code).encode(), seeds.astype(np.uint32)) % 4 for code in range(3)]).T
    assert np.array_equal(made.supported(reports), hashes == np.array([[0], [0], [3]]))
    own = made.pmf(reports)[made.supported(reports)]
    assert own * 2**32 == pytest.approx(np.full(own.size, made.own_support))
    assert made.largest_ratio == Fraction(made.own_value, (2**53 - made.own_value) // 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: adopt("ss", NAMES, 1.0), "a law to adopt must be one of grr, rappor, oue, olh, subset, got 'ss'"),
        (lambda: adopt("grr", NAMES), "needs epsilon, or the probability own"),
        (lambda: adopt("grr", NAMES, own=0.3), "own must be above 1/3"),
        (lambda: adopt("grr", NAMES, own=0.5, other=0.25), "it follows from own"),
        (lambda: adopt("rappor", NAMES, own=0.3, other=0.4), "own must be above other"),
        (lambda: adopt("oue", NAMES, 1.0, written="label"), "written must be one of bits, integer, columns"),
        (lambda: adopt("grr", NAMES, 1.0, n_values=4), "n_values is for olh"),
        (lambda: adopt("olh", NAMES, 12.0), "n_values must be a whole number from 2 to 65536"),
        (lambda: adopt("olh", NAMES, 1.0).sample(["cook"]), "draws none: use local_hashing"),
        (
            lambda: Written(adopt("oue", NAMES, 1.0), "bits").reports([["101", "10"]]),
            "must be 3 bits, got '10' in row 2",
        ),
        (lambda: Written(adopt("oue", NAMES, 1.0), "integer").reports([["8"]]), "whole numbers of 3 bits, got '8'"),
        (
            lambda: Written(adopt("oue", NAMES, 1.0), "columns").reports([["1"], ["2"], ["0"]]),
            "'smith' must hold 0 or 1",
        ),
        (lambda: adopt("subset", NAMES, own=0.5), "subset needs epsilon"),
        (
            lambda: Written(adopt("subset", NAMES, 0.1), "set").reports([["[1]", "[1 3]"]]),
            "below 3, got '[1 3]' in row 2",
        ),
        (
            lambda: Written(adopt("subset", list("abcdefg"), 0.5), "set").reports([["1 1 2"]]),
            "different numbers below 7",
        ),
        (lambda: Written(adopt("subset", list("abcdefg"), 0.5), "set").reports([["1 2"]]), "must have 3 ones, got 2"),
        (lambda: Written(adopt("olh", NAMES, 1.0), "seeded").reports([["4"], ["1"]]), "must lie in 0..3"),
        (lambda: Written(adopt("olh", NAMES, 1.0), "seeded").reports([["1"], ["-1"]]), "seeds must be 0 or more"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, says):
    with pytest.raises((InputError, TableError)) as caught:
        call()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mechanism_that_draws_here_is_read_as_it_writes():
    from optldp.mechanisms.categorical import categorical_grr

    assert written_of(categorical_grr(NAMES, 1.0)) is None


@pytest.mark.parametrize("mark", [{}, {"adopted": False}, {"adopted": 1}, {"adopted": "true"}], ids=str)
def test_a_file_of_seeded_hashing_must_say_that_others_drew_the_reports(tmp_path, mark):
    """Nobody draws by it here, so a file without the mark is none; nor is one ever written."""
    made = adopt("olh", NAMES, 1.0)
    with pytest.raises(TableError, match="'adopted': true"):
        replace(made, provenance=Provenance("olh", mark))
    document = bundle_to_document(made)
    document["provenance"] = {**document["provenance"], "parameters": mark}
    document["checksum"] = checksum(document)
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(TableError, match="'adopted': true"):
        load_mechanism(tmp_path / "m.json")
