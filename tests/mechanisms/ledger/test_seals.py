"""Keys and digests: purposes and parts are told apart, and keys are long enough and shown nowhere."""

import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.ledger import new_ledger_key
from optldp.mechanisms.ledger.seals import NOTHING, Seals, checked_key, digest_of_all


def test_new_keys_are_of_32_bytes_and_differ():
    keys = {new_ledger_key() for _ in range(50)}
    assert len(keys) == 50
    assert set(map(len, keys)) == {32}


def test_a_key_of_32_bytes_is_long_enough_and_one_of_31_is_not():
    assert checked_key(bytes(32)) == bytes(32)
    with pytest.raises(InputError, match="at least 32 bytes: make one with new_ledger_key"):
        checked_key(bytes(31))
    assert repr(b"\1\2" * 16) not in repr(Seals(b"\1\2" * 16, b"name"))


def test_purposes_ledgers_keys_and_parts_are_told_apart():
    one = Seals(bytes(32), b"name")
    others = [
        one.digest("user", b"a", b"bc"),
        one.digest("user", b"ab", b"c"),
        one.digest("user", b"abc"),
        one.digest("value", b"a", b"bc"),
        Seals(bytes(32), b"other").digest("user", b"a", b"bc"),
        Seals(bytes(33) + b"\1", b"name").digest("user", b"a", b"bc"),
    ]
    assert len(set(others)) == len(others)
    assert set(map(len, others)) == {32}


def test_a_digest_of_digests_depends_on_their_order_and_nothing_stays_nothing():
    a, b = b"a" * 32, b"b" * 32
    assert digest_of_all([a, b]) != digest_of_all([b, a])
    assert digest_of_all([NOTHING, a]) not in (NOTHING, digest_of_all([a, NOTHING]), digest_of_all([a]))
    assert digest_of_all([]) == digest_of_all([NOTHING]) == NOTHING == bytes(32)
