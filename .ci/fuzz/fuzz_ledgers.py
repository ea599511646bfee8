"""Change ledgers at random: they may refuse in one line, or answer as before; no budget ever comes back.

python .ci/fuzz/fuzz_ledgers.py --seconds 20                      in every run
python .ci/fuzz/fuzz_ledgers.py --seconds 600                     at night
"""

import argparse
import contextlib
import resource
import sqlite3
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_tables import MEMORY, mutate_bytes, some
from optldp.mechanisms import BudgetError, InputError, duchi, make_exact
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.ledger.file import SETTINGS

IN_MEMORY = Path("/dev/shm")
"""Where there is such a folder, files need not wait for a disk."""

PAGE = 4096

KEY = bytes(range(32))

BUDGET = 2.0

MECHANISMS = {"number": make_exact(duchi([0.0, 1.0], 0.25)).mechanism, "answer": categorical_grr(["0", "1"], 0.5)}

USERS = ["ann", "bob", "eve", "kim"]

COLUMNS = {
    "head": ["ledger", "budget", "reports", "branches", "seal"],
    "branches": ["place", "leaves"],
    "records": ["number", "user", "given", "epsilon", "report", "salt", "seal"],
}

NASTY = [
    "NULL", "0", "1", "-1", "0.0", "1e308", "9e999", "9223372036854775807", "''", "x''", "'x'", "zeroblob(32)",
    "zeroblob(8192)", "zeroblob(16)", "randomblob(32)", "x'00'", "0.1",
]  # fmt: skip

SCHEMA_EDITS = [
    "DROP TABLE branches", "DROP INDEX records_of_user", "CREATE TABLE more (x)", "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END", "PRAGMA user_version = 7",
    "ALTER TABLE records ADD COLUMN x", "UPDATE sqlite_master SET rootpage = 2",
    "UPDATE sqlite_master SET rootpage = 999",
    "UPDATE sqlite_master SET sql = replace(sql, 'BLOB', 'TEXT')", "DELETE FROM sqlite_master WHERE type = 'index'",
    "UPDATE sqlite_master SET sql = char(10) || sql", "PRAGMA journal_mode = WAL", "VACUUM", "REINDEX",
    "PRAGMA application_id = 1",
]  # fmt: skip


@dataclass(frozen=True)
class History:
    """A ledger's file after each of its reports, and what is true at the end."""

    states: list[bytes]
    mark: str
    spent: dict[str, float]
    given: dict[tuple[str, str, int], Any]


def history(folder: Path, rng: np.random.Generator, reports: int) -> History:
    """A ledger of some reports; its last user has nothing left."""
    path = folder / "good.ledger"
    ledger = Ledger.create(path, KEY, BUDGET)
    states, given = [path.read_bytes()], {}
    while len(states) <= reports:
        what = some(rng, USERS[:-1]), some(rng, [*MECHANISMS]), int(rng.integers(2))
        with contextlib.suppress(BudgetError):
            given[what] = ledger.report(MECHANISMS[what[1]], what[0], what[2])
            states.append(path.read_bytes())
            if len(given) == 2 * 2 * len(USERS[:-1]):
                break
    what = USERS[-1], "answer", 1
    for _ in range(4):
        given[what] = ledger.report(MECHANISMS[what[1]], what[0], what[2], fresh=True)
        states.append(path.read_bytes())
    made = History(states, ledger.mark(), {user: ledger.spent(user) for user in USERS}, given)
    path.unlink()
    return made


def mixed_pages(histories: list[History], rng: np.random.Generator) -> bytes:
    """Pages of older states, of other ledgers, or of other places in the file."""
    data = bytearray(histories[0].states[-1])
    for _ in range(int(rng.integers(1, 8))):
        source = some(rng, some(rng, histories).states) if rng.random() < 0.8 else bytes(data)
        place = int(rng.integers(len(data) // PAGE))
        other = place if rng.random() < 0.7 else int(rng.integers(len(source) // PAGE))
        page = source[other * PAGE : (other + 1) * PAGE]
        data[place * PAGE : place * PAGE + len(page)] = page
    return bytes(data)


def edited_rows(path: Path, rng: np.random.Generator) -> None:
    """Statements of somebody without the key."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA writable_schema = ON")
        for _ in range(int(rng.integers(1, 4))):
            with contextlib.suppress(sqlite3.Error):
                connection.execute(statement(rng))


def statement(rng: np.random.Generator) -> str:
    table = some(rng, [*COLUMNS])
    column, key = some(rng, COLUMNS[table]), COLUMNS[table][0]
    one, other = (f"(SELECT {key} FROM {table} ORDER BY random() LIMIT 1)" for _ in range(2))
    kind = rng.random()
    if kind < 0.15:
        return some(rng, SCHEMA_EDITS)
    if kind < 0.35:
        return f"DELETE FROM {table} WHERE {key} = {one}"
    if kind < 0.45:
        rest = ", ".join(COLUMNS[table][1:])
        return (
            f"INSERT OR REPLACE INTO {table} SELECT {some(rng, [*NASTY, one])}, {rest} FROM {table} WHERE {key} = {one}"
        )
    if kind < 0.7:
        return f"UPDATE {table} SET {column} = {some(rng, NASTY)} WHERE {key} = {one}"
    return f"UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE {key} = {other}) WHERE {key} = {one}"


def journal(old: bytes, pages: int, rng: np.random.Generator) -> bytes:
    """A rollback journal that puts pages of an old state back, as a crash would leave it; or nearly one."""
    nonce, all_pages = 12345, len(old) // PAGE
    chosen = [page for page in range(all_pages) if rng.random() < some(rng, [0.1, 0.5, 1.0])]
    records = b""
    for page in chosen:
        content = old[page * PAGE : (page + 1) * PAGE]
        total = nonce + sum(content[place] for place in range(PAGE - 200, 0, -200))
        records += struct.pack(">I", page + 1) + content + struct.pack(">I", total & 0xFFFFFFFF)
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + struct.pack(">IIIII", len(chosen), nonce, some(rng, [all_pages, pages, 1]), 512, PAGE)
    content = header.ljust(512, b"\0") + records
    return mutate_bytes(content, rng) if rng.random() < 0.4 else content


def mutant(path: Path, histories: list[History], rng: np.random.Generator) -> bool:
    """Write a changed ledger, and return whether an old state may have come back as a whole."""
    beside = Path(f"{path}-journal")
    for old in (path, beside, Path(f"{path}-wal"), Path(f"{path}-shm")):
        old.unlink(missing_ok=True)
    good, kind = histories[0].states[-1], rng.random()
    if kind < 0.3:
        path.write_bytes(mutate_bytes(good, rng))
        return False
    if kind < 0.5:
        path.write_bytes(mixed_pages(histories, rng))
        return True
    path.write_bytes(good)
    if kind < 0.85:
        edited_rows(path, rng)
        return False
    old = some(rng, some(rng, histories).states)
    if kind < 0.9:
        path.write_bytes(old)
    else:
        beside.write_bytes(journal(old, len(good) // PAGE, rng))
    return True


def answer(call: Callable[[], Any]) -> Any:
    """What a call returns; None if it refuses, in one line."""
    try:
        return call()
    except (InputError, BudgetError) as error:
        if "\n" in str(error):
            raise AssertionError(f"a refusal must be one line, got {error!s}") from None
        return None


def judge(path: Path, truth: History, mark: str | None, rng: np.random.Generator) -> bool:
    """Whether all was as before; raises for an answer that is neither that nor a refusal."""
    ledger = answer(lambda: Ledger(path, KEY, BUDGET, mark=mark))
    if ledger is None:
        return False
    whole, spent = True, dict(truth.spent)
    for what in rng.permutation(np.array([*truth.given], dtype=object)):
        user, name, value = what
        found = answer(lambda: ledger.report(MECHANISMS[name], user, value))  # noqa: B023 -- called at once
        if found is not None and found != truth.given[user, name, value]:
            raise AssertionError(f"{user}'s report on {value} was {truth.given[user, name, value]}, now {found}")
        whole = whole and found is not None
    for user in rng.permutation(USERS):
        fresh = answer(lambda: ledger.report(MECHANISMS["answer"], user, 0, fresh=True))  # noqa: B023 -- called at once
        spent[user] += 0.0 if fresh is None else 0.5
        found = answer(lambda: ledger.spent(user))  # noqa: B023 -- called at once
        if spent[user] > BUDGET or (found is not None and found != spent[user]):
            raise AssertionError(f"{user} has spent {spent[user]}, the ledger says {found}")
        whole = whole and found is not None
    return whole and answer(ledger.check) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz ledgers.")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--ledgers", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    rng, started = np.random.default_rng(seed), time.monotonic()
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    SETTINGS["synchronous"] = "OFF"  # what is fuzzed is reading
    tried = whole = 0
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        histories = [history(Path(folder), rng, reports) for reports in (6, 3)]
        path = Path(folder, "changed.ledger")
        while tried < options.ledgers and time.monotonic() - started < options.seconds:
            old_state = mutant(path, histories, rng)
            content, tried = path.read_bytes(), tried + 1
            try:
                mark = histories[0].mark if old_state or rng.random() < 0.5 else None
                whole += judge(path, histories[0], mark, rng)
            except BaseException as error:
                Path("fuzz-failure.ledger").write_bytes(content)
                print(
                    f"fuzz: seed {seed}, ledger {tried}: {type(error).__name__}: {error}; kept as fuzz-failure.ledger"
                )
                raise
    print(f"fuzz: {tried} ledgers, {whole} as before, {tried - whole} refused, 0 failed; seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
