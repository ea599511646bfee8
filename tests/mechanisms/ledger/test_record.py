"""What is sealed of a record and of the head: all of it, as ledgers on disk have it."""

import hashlib
import hmac
import struct
from dataclasses import replace

import pytest
from optldp.mechanisms.ledger.record import Head, Record
from optldp.mechanisms.ledger.seals import Seals

KEY, NAME = bytes(range(32)), b"sixteen bytes..."
RECORD = Record(7, b"u" * 32, b"g" * 32, 0.25, b"42.0", b"s" * 16)
HEAD = Head(NAME, 1.5, 7, bytes(range(256)) * 32)


def sealed(*parts):
    """The format in words: each part with its length in 8 bytes, least first; HMAC-SHA-256."""
    text = b"".join(len(part).to_bytes(8, "little") + part for part in (b"optldp-ledger/2", *parts))
    return hmac.new(KEY, text, hashlib.sha256).digest()


def test_a_records_seal_is_the_one_that_ledgers_on_disk_have():
    numbers = (7).to_bytes(8, "little") + struct.pack("<d", 0.25)
    wanted = sealed(b"record", NAME, numbers, RECORD.user, RECORD.given, RECORD.report, RECORD.salt)
    assert RECORD.seal(Seals(KEY, NAME)) == wanted


def test_a_heads_seal_is_the_one_that_ledgers_on_disk_have():
    numbers = struct.pack("<d", 1.5) + (7).to_bytes(8, "little")
    assert HEAD.seal(Seals(KEY, NAME)) == sealed(b"head", NAME, numbers, HEAD.branches)


@pytest.mark.parametrize(
    ("member", "value"),
    [("number", 8), ("user", b"x"), ("given", b"x"), ("epsilon", 0.5), ("report", b"43.0"), ("salt", b"x")],
)
def test_every_member_of_a_record_changes_its_seal(member, value):
    seals = Seals(KEY, NAME)
    assert replace(RECORD, **{member: value}).seal(seals) != RECORD.seal(seals)
