"""Reports by a secret: the same report again, another one for whatever differs, and no secret in any message."""

import copy
import hmac
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import FAMILIES, InputError, TableError, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.pseudorandom import KeyedReports, Secret, new_secret, read_secret, secret_of
from optldp.mechanisms.pseudorandom import secret as secret_files
from optldp.mechanisms.pseudorandom.reports import law_checksum, user_names
from optldp.mechanisms.pseudorandom.words import TAG, ReportWords

from ...small_channels import OF_PAIRS
from ..drawable_tables import tables
from ..floor_forms import by_hand

SECRET = Secret(bytes(range(32)))
USERS = [f"u{i}" for i in range(40)]
LABELS = ["a", "b", "c"]
CATEGORIES = [
    categorical_grr(LABELS, 1.0),
    optimised_unary(LABELS, 1.0),
    local_hashing(LABELS, 1.0),
    subset_selection(LABELS, 0.5),
    projective_geometry(LABELS, 1.0),
]


def test_the_words_are_hmac_sha256_over_all_parts_each_with_its_length():
    """By the standard library and by nothing of ours."""
    parts = [TAG, b"sum", "größe".encode(), b"May", b"ann", b"\x01\x02", struct.pack("<Q", 1)]
    joined = b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    expected = hmac.digest(bytes(range(32)), joined, "sha256")
    words = ReportWords(SECRET, "sum", "größe", "May").stream(b"ann", b"\x01\x02")(8)
    assert words[4:].tolist() == list(struct.unpack("<4Q", expected))


@pytest.mark.parametrize("name", tables())
def test_a_table_draws_the_same_alone_together_and_in_any_order(name):
    table = tables()[name]
    values = np.linspace(*table.domain, len(USERS))
    keyed = KeyedReports(table, SECRET)
    order = np.random.default_rng(1).permutation(len(USERS))
    for draw in (keyed.sample, keyed.sample_index):
        together = draw(USERS, values)
        assert np.array_equal(draw(np.array(USERS)[order], values[order]), together[order])
        alone = [draw([user], [value])[0] for user, value in zip(USERS, values, strict=True)]
        assert np.array_equal(alone, together)
    assert np.array_equal(table.output_index(keyed.sample(USERS, values)), keyed.sample_index(USERS, values))


@pytest.mark.parametrize("name", ["sensitive", "blocks"])
def test_a_table_of_pairs_draws_the_same_of_its_knots_and_refuses_what_lies_between(name):
    table = OF_PAIRS[name]
    keyed, values = KeyedReports(table, SECRET), np.resize(table.knots, len(USERS))
    assert np.array_equal(keyed.sample(USERS, values), keyed.sample(USERS[::-1], values[::-1])[::-1])
    with pytest.raises(InputError, match="values must be knots where privacy is promised of these alone, got 1 of 2"):
        keyed.sample(["ann", "bo"], [0.0, 1.0])


def test_a_floor_form_draws_the_same_each_time():
    form = by_hand()
    keyed = KeyedReports(form, SECRET)
    values = np.linspace(*form.domain, len(USERS))
    assert np.array_equal(keyed.sample(USERS, values), form.outputs[keyed.sample_index(USERS, values)])


@pytest.mark.parametrize("made", CATEGORIES, ids=lambda made: made.kind)
def test_categories_draw_the_same_alone_together_and_in_any_order(made):
    values = np.array(LABELS * 14)[: len(USERS)]
    keyed = KeyedReports(made, SECRET)
    together = keyed.sample(USERS, values)
    assert np.array_equal(keyed.sample(USERS[::-1], values[::-1]), together[::-1])
    assert np.array_equal(
        np.concatenate([keyed.sample([u], [v]) for u, v in zip(USERS, values, strict=True)]), together
    )
    with pytest.raises(InputError, match="sample says reports"):
        keyed.sample_index(USERS, values)


def test_whatever_differs_has_reports_of_its_own():
    """Of 40 users some report must differ; of the same law with another history none may."""
    table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    values = np.linspace(0, 1, len(USERS))

    def drawn(mechanism=table, secret=SECRET, users=USERS, shift=0.0, **options):
        return KeyedReports(mechanism, secret, **options).sample_index(users, values * (1 - shift)).tolist()

    first = drawn()
    others = [
        drawn(secret=Secret(new_secret())),
        drawn(column="income"),
        drawn(label="May"),
        drawn(users=[f"v{i}" for i in range(len(USERS))]),
        drawn(make_exact(duchi([0.0, 1.0], 1.01)).mechanism),
        drawn(shift=1e-15),
    ]
    assert all(other != first for other in others)
    assert len({tuple(other) for other in others}) == len(others)
    renamed = make_exact(duchi([0.0, 1.0], 1.0)).mechanism.without_prior()
    assert law_checksum(renamed) == law_checksum(table)
    assert drawn(renamed) == first
    assert drawn(column="ab", label="c") != drawn(column="a", label="bc")


def test_a_user_is_the_same_by_digits_and_by_unicodes_normal_form():
    assert user_names([7]) == user_names(["7"]) == user_names(np.array([7], dtype=np.int8))
    assert user_names(["e\u0301va"]) == user_names(["\u00e9va"])


@pytest.mark.parametrize(
    ("users", "values", "says"),
    [
        (["a"], [0.5, 0.6], "a user for each of 2 values, got 1"),
        (["a", "a"], [0.5, 0.6], "one value in a round, got another for 1 users, the first in row 1"),
        ([1.5], [0.5], "texts or whole numbers, got float in row 1"),
        ([None], [0.5], "got NoneType in row 1"),
        ([""], [0.5], "in row 1"),
        (["\ud800"], [0.5], "must be Unicode"),
        (["a" * 1025], [0.5], "at most 1024 characters, got more in row 1"),
        (["a", "b"], [0.5, np.float32(0.1)], "got float32, whose 0.1"),
        (["a", "b"], np.array([0.5, np.float16(0.1)], dtype=object), "got float16, whose 0.1"),
        ([["a"]], [0.5], "one-dimensional"),
        (["a"], [7.0], "values must lie in"),
    ],
)
def test_bad_users_and_values(users, values, says):
    with pytest.raises(InputError, match=says):
        KeyedReports(make_exact(duchi([0.0, 1.0], 1.0)).mechanism, SECRET).sample(users, values)


def test_the_same_value_twice_is_the_same_report_and_nobody_has_none():
    keyed = KeyedReports(make_exact(duchi([0.0, 1.0], 1.0)).mechanism, SECRET)
    assert len(set(keyed.sample(["a", "a"], [0.5, 0.5]).tolist())) == 1
    assert keyed.sample([], []).shape == (0,)
    assert keyed.sample(["a"], [0.0]) == keyed.sample(["a"], [-0.0])


def test_only_what_is_proved_is_drawn_from():
    table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    with pytest.raises(TableError):
        KeyedReports(duchi([0.0, 1.0], 1.0), SECRET)
    with pytest.raises(InputError, match="a ledger"):
        KeyedReports(key_value_unary(["a", "b"], table, 1.0), SECRET)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="never with the collector"):
        KeyedReports(table, bytes(32))  # pyright: ignore[reportArgumentType]


class TestSecret:
    @pytest.mark.parametrize("content", [b"", bytes(31), bytes(32), os.urandom(33), "x" * 32], ids=len)
    def test_what_is_no_secret(self, content):
        with pytest.raises(InputError, match="a secret must be"):
            Secret(content)

    def test_no_printout_copy_or_pickle_holds_it(self):
        content = new_secret()
        secret = Secret(content)
        keyed = KeyedReports(make_exact(FAMILIES["duchi"]([0.0, 1.0], 1.0)).mechanism, secret)
        for thing in (secret, keyed, keyed._words):
            assert content.hex() not in repr(thing)
            assert str(content) not in repr(thing)
            with pytest.raises((InputError, TypeError)):
                pickle.dumps(thing)
            with pytest.raises((InputError, TypeError)):
                copy.deepcopy(thing)

    def test_a_file_must_be_closed_to_others_and_of_the_right_length(self, tmp_path):
        path = Path(tmp_path, "secret")
        path.touch(mode=0o600)
        content = new_secret()
        path.write_bytes(content)
        assert read_secret(path).reveal() == content
        for mode in (0o640, 0o604, 0o620, 0o644, 0o777):
            path.chmod(mode)
            with pytest.raises(InputError, match=f"got mode {mode:o} of .*: chmod 600") as caught:
                read_secret(path)
            assert content.hex() not in str(caught.value)
        path.chmod(0o400)
        assert repr(read_secret(path)) == "Secret(...)"
        path.chmod(0o600)
        for wrong, says in ((content[:31], "31 bytes"), (content * 2, "more than 32 bytes"), (b"", "0 bytes")):
            path.write_bytes(wrong)
            with pytest.raises(InputError, match=says):
                read_secret(path)
        with pytest.raises(InputError, match="must be readable"):
            read_secret(tmp_path / "none")
        with pytest.raises(InputError, match=r"must be readable|regular file"):
            read_secret(tmp_path)

    def test_a_mount_that_its_group_may_read_is_taken_where_that_is_said(self, tmp_path, monkeypatch):
        """A cluster mounts secrets as root's, for a group; nobody else may read or write even then."""
        path = tmp_path / "secret"
        path.write_bytes(new_secret())
        path.chmod(0o440)
        with pytest.raises(InputError, match="group_readable"):
            read_secret(path)
        read_secret(path, group_readable=True)
        for mode in (0o660, 0o444, 0o450, 0o644):
            path.chmod(mode)
            with pytest.raises(InputError, match="closed to all but its owner"):
                read_secret(path, group_readable=True)
        path.chmod(0o440)
        owner = path.stat().st_uid
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
        monkeypatch.setattr(secret_files, "ROOT", owner)
        read_secret(path, group_readable=True)
        monkeypatch.setattr(secret_files, "ROOT", owner + 2)
        with pytest.raises(InputError, match="of another user"):
            read_secret(path, group_readable=True)

    @pytest.mark.parametrize("given", [os.urandom(32), 3, "ab" * 32, "a\0b"], ids=lambda given: type(given).__name__)
    def test_what_is_no_path_of_a_file_is_not_shown(self, given):
        for read in (read_secret, secret_of):
            with pytest.raises(InputError, match="secret must be") as told:
                read(given)
            assert repr(given) not in str(told.value)
            assert "abab" not in str(told.value)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_short_floats_are_refused_as_their_reports_would_be_others_than_those_of_doubles(kind):
    keyed = KeyedReports(make_exact(duchi([0, 1], 1.0)).mechanism, Secret(bytes(range(32))), column="x")
    with pytest.raises(InputError, match="doubles or whole numbers"):
        keyed.sample_index(["ann"], np.array([0.1], dtype=kind))
