"""Whoever lacks the key changes nothing unseen: every kind of edit, of rows, schema, file and its place."""

import os
import shutil
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from optldp.mechanisms import InputError, TabulatedMechanism, make_exact, piecewise
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.ledger.file import SETTINGS

KEY = bytes(range(32))
TABLE = make_exact(piecewise([0.0, 1.0], 0.5)).mechanism  # no two reports alike
COLUMNS = "number, user, given, epsilon, report, salt, seal"


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setitem(SETTINGS, "synchronous", "OFF")


@pytest.fixture
def ledger(tmp_path):
    """Of ann, who has reported twice, on 0 and 1, and bob once."""
    ledger = Ledger.create(tmp_path / "people.ledger", KEY, 1.5)
    for user, value in (("ann", 0.0), ("bob", 1.0), ("ann", 1.0)):
        ledger.report(TABLE, user, value)
    return ledger


def edit(path, *statements):
    """As whoever can write to the file does, without the key."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            connection.execute(statement)


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def swapped(column, one, other):
    """Statements that exchange a column of two records; numbers are primary keys, so through a third."""
    return (
        f"CREATE TEMP TABLE kept AS SELECT * FROM records WHERE number = {one}",
        f"UPDATE records SET {column} = (SELECT {column} FROM records WHERE number = {other}) WHERE number = {one}",
        f"UPDATE records SET {column} = (SELECT {column} FROM kept) WHERE number = {other}",
    )


EDITS = {
    "a smaller cost": ["UPDATE records SET epsilon = 0.25 WHERE number = 1"],
    "no cost": ["UPDATE records SET epsilon = NULL WHERE number = 1"],
    "a cost in letters": ["UPDATE records SET epsilon = 'little' WHERE number = 1"],
    "another report": ["UPDATE records SET report = x'39' WHERE number = 1"],
    "a report of another type": ["UPDATE records SET report = CAST(report AS TEXT) WHERE number = 1"],
    "another value": ["UPDATE records SET given = zeroblob(32) WHERE number = 1"],
    "another user's": ["UPDATE records SET user = (SELECT user FROM records WHERE number = 2) WHERE number = 1"],
    "nobody's": ["UPDATE records SET user = zeroblob(32) WHERE number = 1"],
    "a user too long": ["UPDATE records SET user = user || x'00' WHERE number = 1"],
    "another salt": ["UPDATE records SET salt = zeroblob(16) WHERE number = 1"],
    "no seal": ["UPDATE records SET seal = NULL WHERE number = 1"],
    "the seal of another": ["UPDATE records SET seal = (SELECT seal FROM records WHERE number = 3) WHERE number = 1"],
    "another number": ["UPDATE records SET number = 9 WHERE number = 1"],
    "the first record deleted": ["DELETE FROM records WHERE number = 1"],
    "the last record deleted": ["DELETE FROM records WHERE number = 3"],
    "the last record deleted and uncounted": [
        "DELETE FROM records WHERE number = 3", "UPDATE head SET reports = 2"
    ],
    "a user deleted": ["DELETE FROM records WHERE number <> 2"],
    "all records deleted": ["DELETE FROM records", "UPDATE head SET reports = 0"],
    "all deleted": ["DELETE FROM records", "DELETE FROM branches", "UPDATE head SET reports = 0"],
    "all deleted, digests too": [
        "DELETE FROM records", "DELETE FROM branches", "UPDATE head SET reports = 0, branches = zeroblob(8192)"
    ],
    "a record twice": [f"INSERT INTO records SELECT 9, {COLUMNS.partition(', ')[2]} FROM records WHERE number = 1"],
    "users exchanged": swapped("user", 1, 2),
    "reports exchanged": swapped("report", 1, 3),
    "values exchanged": swapped("given", 1, 3),
    "a larger budget": ["UPDATE head SET budget = 99.0"],
    "fewer reports": ["UPDATE head SET reports = 1"],
    "another name": ["UPDATE head SET ledger = zeroblob(16)"],
    "another seal of the head": ["UPDATE head SET seal = zeroblob(32)"],
    "no head": ["DELETE FROM head"],
    "two heads": ["INSERT INTO head SELECT * FROM head"],
    "no branches": ["DELETE FROM branches"],
    "empty branches": ["UPDATE branches SET leaves = zeroblob(8192)"],
    "branches cut short": ["UPDATE branches SET leaves = x'00'"],
    "branches that are no bytes": ["UPDATE branches SET leaves = 'x'"],
    "a huge branch": ["UPDATE branches SET leaves = zeroblob(3000000)"],
    "another table": ["CREATE TABLE more (x)"],
    "another column": ["ALTER TABLE records ADD COLUMN x"],
    "no index": ["DROP INDEX records_of_user"],
    "another index": ["CREATE INDEX more ON records (given)"],
    "a trigger that deletes": [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE number = new.number; END"
    ],
    "a view in place of the records": [
        "ALTER TABLE records RENAME TO hidden", "CREATE VIEW records AS SELECT * FROM hidden WHERE 0"
    ],
    "a view in place of the head": [
        "ALTER TABLE head RENAME TO hidden",
        "CREATE VIEW head AS SELECT ledger, 9.0 AS budget, reports, branches, seal FROM hidden",
    ],
    "a schema that is no SQL": ["UPDATE sqlite_master SET sql = 'CREATE TABLE\n oops' WHERE name = 'head'"],
    "two tables on one page": [
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'branches') "
        "WHERE name = 'records'"
    ],
    "a log in place of the journal": ["PRAGMA journal_mode = WAL"],
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS)
def test_every_edit_is_seen_and_the_file_left_alone(ledger, statements):
    """By whom it concerns at the next call, by `check` in any case; through old and new handles."""
    edit(ledger.path, *statements)
    content = ledger.path.read_bytes()
    for call in (
        lambda: Ledger(ledger.path, KEY, 1.5).spent("ann"),
        lambda: Ledger(ledger.path, KEY, 1.5).report(TABLE, "ann", 0.0),
        lambda: Ledger(ledger.path, KEY, 1.5).check(),
        lambda: ledger.report(TABLE, "ann", 0.0, fresh=True),
        ledger.check,
    ):
        assert "the ledger" in refusal(call)
    assert ledger.path.read_bytes() == content


def test_an_edit_of_one_user_is_seen_by_check_and_costs_others_nothing(ledger):
    """Bob's record lies in another leaf than ann's, under this key and name as under nearly all."""
    edit(ledger.path, "UPDATE records SET epsilon = 0.25 WHERE number = 2")
    assert "a record altered" in refusal(lambda: ledger.spent("bob"))
    assert "a record altered" in refusal(ledger.check)


def rows_of(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def put(path, table, rows):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


@pytest.mark.parametrize(
    "tables", [["records"], ["head"], ["branches"], ["records", "branches"], ["records", "head"], ["branches", "head"]]
)
def test_old_rows_put_back_are_seen_unless_all_of_them_are(ledger, tables):
    """Each was sealed once, under this very key; together they are no state that there ever was."""
    old = {table: rows_of(ledger.path, table) for table in tables}
    ledger.report(TABLE, "ann", 0.0, fresh=True)
    for table, rows in old.items():
        put(ledger.path, table, rows)
    refusal(lambda: Ledger(ledger.path, KEY, 1.5).spent("ann"))
    assert "the ledger" in refusal(ledger.check)


def test_rows_of_another_ledger_of_the_same_key_are_seen(ledger, tmp_path):
    """One at a time, or a table at a time; ann is another there."""
    other = Ledger.create(tmp_path / "other.ledger", KEY, 1.5)
    for value in (0.0, 1.0):
        other.report(TABLE, "ann", value)
    good = {table: rows_of(ledger.path, table) for table in ("records", "branches", "head")}
    for table in good:
        put(ledger.path, table, rows_of(other.path, table))
        refusal(lambda: Ledger(ledger.path, KEY, 1.5).check())
        put(ledger.path, table, good[table])
    assert ledger.check() == 3
    assert ledger.spent("ann") == 1.0


def test_an_old_copy_of_the_whole_file_is_seen_by_who_has_seen_more(ledger, tmp_path):
    """By the object that wrote later, and by the mark; without either it is as good as the file was then."""
    shutil.copy(ledger.path, tmp_path / "copy")
    old = ledger.mark()
    ledger.report(TABLE, "ann", 0.0, fresh=True)
    mark = ledger.mark()
    assert mark != old
    shutil.copy(tmp_path / "copy", ledger.path)
    for call in (
        lambda: ledger.spent("ann"),
        lambda: ledger.report(TABLE, "ann", 0.0),
        lambda: Ledger(ledger.path, KEY, 1.5, mark=mark),
    ):
        assert "must hold report 4 of its mark, got an older or another ledger of 3 reports" in refusal(call)
    assert Ledger(ledger.path, KEY, 1.5, mark=old).spent("ann") == 1.0


def test_another_history_of_the_same_length_is_seen(ledger, tmp_path, monkeypatch):
    """An old copy put back and used since, though its last record says the same: eve's report is lost."""
    monkeypatch.setattr(TabulatedMechanism, "sample", lambda *_: np.zeros(1))
    shutil.copy(ledger.path, tmp_path / "copy")
    for user in ("eve", "bob"):
        ledger.report(TABLE, user, 0.0)
    mark = ledger.mark()
    shutil.copy(tmp_path / "copy", ledger.path)
    again = Ledger(ledger.path, KEY, 1.5)
    for user in ("kim", "bob", "kim"):
        again.report(TABLE, user, 0.0, fresh=True)
    refusal(lambda: Ledger(ledger.path, KEY, 1.5, mark=mark))
    refusal(lambda: ledger.spent("eve"))
    assert Ledger(ledger.path, KEY, 1.5, mark=again.mark()).spent("kim") == 1.0


def test_a_mark_of_an_empty_ledger_tells_it_from_another_empty_one(tmp_path):
    one, other = (Ledger.create(tmp_path / name, KEY, 1.0) for name in ("one", "other"))
    assert Ledger(one.path, KEY, 1.0, mark=one.mark()).check() == 0
    refusal(lambda: Ledger(one.path, KEY, 1.0, mark=other.mark()))


@pytest.mark.parametrize(
    "mark", ["", "3", "3:", "-1:" + "0" * 64, "٣:" + "0" * 64, f"{10**30}:" + "0" * 64, "0:" + "0" * 64 + "\n", 3]
)
def test_a_mark_that_is_none_is_refused(ledger, mark):
    assert "mark" in refusal(lambda: Ledger(ledger.path, KEY, 1.5, mark=mark))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\0" * 5000, b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 9000, b"PK\3\4", b"x" * 100_000],
)
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(ledger, content):
    """A lost ledger must not become a new budget."""
    ledger.path.write_bytes(content)
    for call in (lambda: Ledger(ledger.path, KEY, 1.5), lambda: ledger.report(TABLE, "ann", 0.0)):
        assert "the ledger must be of format optldp-ledger/2, got another file" in refusal(call)
    assert ledger.path.read_bytes() == content


def test_a_schema_that_is_no_text_is_refused(ledger):
    """SQLite's message quotes it, and Python's module cannot decode the message."""
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"CREATE TABLE head", b"CREATE TABL\xcf head"))
    assert "must be as it was left" in refusal(lambda: Ledger(ledger.path, KEY, 1.5))


def test_a_ledger_of_version_0_1_is_refused_with_the_cure(ledger):
    ledger.path.write_text('{"format": "optldp-ledger/1", "key": "", "users": {}}')
    said = refusal(lambda: Ledger(ledger.path, KEY, 1.5))
    assert "got JSON, perhaps of version 0.1" in said
    assert "make a new one with Ledger.create and what is left of the budget" in said


def test_databases_of_others_are_refused(tmp_path):
    """However many tables they have: their schema is not read if it is longer than a ledger's."""
    few, many = tmp_path / "few", tmp_path / "many"
    edit(few, "CREATE TABLE head (x)")
    edit(many, *(f"CREATE TABLE t{i} (x, y, z)" for i in range(500)))
    assert "got another file" in refusal(lambda: Ledger(few, KEY, 1.0))
    assert "a database of many tables" in refusal(lambda: Ledger(many, KEY, 1.0))


def test_a_huge_file_is_refused_without_being_read(ledger):
    """A terabyte that is not there, behind a good beginning and behind a bad one."""
    os.truncate(ledger.path, 2**40)
    assert ledger.spent("ann") == 1.0
    with ledger.path.open("r+b") as file:
        file.write(b"not SQLite")
    refusal(lambda: ledger.spent("ann"))


@pytest.mark.slow
def test_a_long_line_of_copies_is_refused_at_the_first(ledger):
    """A hundred thousand records that nobody sealed, all of one user."""
    edit(
        ledger.path,
        "WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
        "INSERT INTO records SELECT i, user, given, epsilon, report, salt, seal FROM n, records WHERE number = 1",
    )
    assert "a record altered" in refusal(lambda: ledger.spent("ann"))


@pytest.mark.parametrize("length", [100, 4096, 8192, 3 * 4096 + 7])
def test_a_file_cut_short_is_refused(ledger, length):
    os.truncate(ledger.path, length)
    refusal(lambda: (ledger.spent("ann"), ledger.spent("bob"), ledger.check()))


def test_links_and_other_things_in_its_place_are_refused(ledger, tmp_path):
    """A link has another journal's name, and whoever set it may set it anew."""
    link, hard, pipe = tmp_path / "link", tmp_path / "hard", tmp_path / "pipe"
    link.symlink_to(ledger.path)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path):
        assert "must be a file itself" in refusal(lambda path=path: Ledger(path, KEY, 1.5))
    hard.hardlink_to(ledger.path)
    assert "must have one name" in refusal(lambda: ledger.spent("ann"))
    hard.unlink()
    assert ledger.spent("ann") == 1.0


def test_a_journal_that_leads_elsewhere_is_not_written_through(ledger, tmp_path):
    """SQLite would write the old pages into whatever it leads to."""
    other = tmp_path / "diary"
    other.write_text("dear diary")
    journal = tmp_path / "people.ledger-journal"
    journal.symlink_to(other)
    assert "journal must be its own" in refusal(lambda: ledger.report(TABLE, "eve", 0.0))
    journal.unlink()
    (tmp_path / "people.ledger-wal").write_bytes(b"x")
    assert "move that file away" in refusal(lambda: ledger.report(TABLE, "eve", 0.0))
    assert other.read_text() == "dear diary"


def rollback_journal(old, *, names=None):
    """What a crash leaves: all pages as they were before; and the name of a file that SQLite then deletes."""
    pages = [old[start : start + 4096] for start in range(0, len(old), 4096)]
    sums = [7 + sum(page[place] for place in range(4096 - 200, 0, -200)) for page in pages]
    records = [struct.pack(">I", i + 1) + page + struct.pack(">I", sums[i]) for i, page in enumerate(pages)]
    header = MAGIC + struct.pack(">IIIII", len(pages), 7, len(pages), 512, 4096)
    end = struct.pack(">I", 2**30 // 4096 + 1) + names + struct.pack(">II", len(names), sum(names)) if names else b""
    return header.ljust(512, b"\0") + b"".join(records) + end + (MAGIC if names else b"")


MAGIC = bytes.fromhex("d9d505f920a163d7")


def test_a_journal_that_would_delete_a_file_is_not_played_back(ledger, tmp_path):
    diary, journal = tmp_path / "diary", tmp_path / "people.ledger-journal"
    diary.write_text("dear diary")
    journal.write_bytes(rollback_journal(ledger.path.read_bytes(), names=str(diary).encode()))
    assert "one that names other files" in refusal(lambda: ledger.spent("ann"))
    assert diary.read_text() == "dear diary"


def test_an_old_state_put_back_by_a_journal_is_seen_as_a_copy_is(ledger, tmp_path):
    """A good journal is played back, as it must be after a crash; what comes of it is judged like any file."""
    journal = tmp_path / "people.ledger-journal"
    journal.write_bytes(rollback_journal(ledger.path.read_bytes()))
    assert ledger.spent("ann") == 1.0
    assert not journal.exists()
    old = ledger.path.read_bytes()
    ledger.report(TABLE, "ann", 0.0, fresh=True)
    journal.write_bytes(rollback_journal(old))
    assert "got an older or another ledger" in refusal(lambda: ledger.spent("ann"))
    assert not journal.exists()
