"""Many at one ledger: threads, processes and forks book what they report; a killed one books nothing or all of it."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from optldp.mechanisms import BudgetError, InputError, TabulatedMechanism, make_exact, piecewise
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.ledger.book import LedgerBook

KEY = bytes(range(32))
TABLE = make_exact(piecewise([0.0, 1.0], 0.5)).mechanism  # no two reports alike
MANY = 8

BEGINNING = """
import os, signal, sys, threading, time
from optldp.mechanisms import *
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.ledger.book import LedgerBook
table = make_exact(piecewise([0.0, 1.0], 0.5)).mechanism
ledger = Ledger(sys.argv[1], bytes(range(32)), 1.0)
"""


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "people.ledger", KEY, 1.0)


def program(text, ledger):
    """A process of its own; its fork or its death concerns nobody here."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # newer Pythons warn of forks beside other threads
    command = [sys.executable, "-W", "error", "-c", BEGINNING + text, str(ledger.path)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, text=True, env=environment, **pipes)


def outputs(*processes):
    ended = [process.communicate(timeout=120) for process in processes]
    assert [(process.returncode, said) for process, (_, said) in zip(processes, ended, strict=True)] == [(0, "")] * len(
        processes
    )
    return [out.split() for out, _ in ended]


def attempt(ledger, barrier):
    barrier.wait()
    try:
        return ledger.report(TABLE, "ann", 0.0, fresh=True)
    except BudgetError:
        return None


@pytest.mark.parametrize("shared", [True, False])
def test_of_many_threads_as_many_report_as_the_budget_allows(ledger, shared):
    """Two of eight, on one object or on one each."""
    barrier = Barrier(MANY)
    ledgers = [ledger if shared else Ledger(ledger.path, KEY, 1.0) for _ in range(MANY)]
    with ThreadPoolExecutor(MANY) as pool:
        reports = list(pool.map(attempt, ledgers, [barrier] * MANY))
    given = {report for report in reports if report is not None}
    assert len(given) == 2 == MANY - reports.count(None)
    assert ledger.spent("ann") == 1.0
    assert ledger.report(TABLE, "ann", 0.0) in given
    assert ledger.check() == 2


def test_of_many_threads_with_one_value_all_get_one_report(ledger):
    with ThreadPoolExecutor(MANY) as pool:
        reports = list(pool.map(lambda _: ledger.report(TABLE, "ann", 0.0), range(MANY)))
    assert len(set(reports)) == 1
    assert ledger.spent("ann") == 0.5


@pytest.mark.slow
def test_of_many_processes_as_many_report_as_the_budget_allows(ledger):
    """Two in all, and every user of their own one each."""
    text = """
print("ready", flush=True)
sys.stdin.readline()
for user in ("ann", "ann", sys.argv[1] + str(os.getpid())):
    try:
        print(ledger.report(table, user, 0.0, fresh=True))
    except BudgetError:
        pass
"""
    processes = [program(text, ledger) for _ in range(4)]
    assert [process.stdout.readline() for process in processes if process.stdout] == ["ready\n"] * 4
    for process in processes:
        if process.stdin:
            process.stdin.close()  # all at once
            process.stdin = None
    reports = [report for given in outputs(*processes) for report in given]
    assert len(set(reports)) == len(reports) == 2 + 4
    assert ledger.spent("ann") == 1.0
    assert ledger.check() == 6


@pytest.mark.slow
def test_a_ledger_handed_to_a_pool_of_processes_is_the_same_ledger(ledger):
    """Spawned workers get path, key and budget, and no connection; forked ones have all but a connection anyway."""
    text = """
from functools import partial
from multiprocessing import get_context
for method in ("spawn", "fork"):
    with get_context(method).Pool(2) as pool:
        jobs = [(table, f"user {i % 2}", 0.0) for i in range(6)]
        print(*pool.starmap(partial(ledger.report, fresh=False), jobs))
"""
    (reports,) = outputs(program(text, ledger))
    assert len(set(reports)) == 2
    assert reports == reports[:2] * 6
    assert ledger.check() == 2


@pytest.mark.slow
def test_forks_in_the_midst_of_reports_book_what_they_report(ledger):
    """A thread of the parent reports without a break while children are forked, who report too."""
    text = """
def on_and_on():
    while not stop.is_set():
        try:
            ledger.report(table, "parent", 0.0, fresh=True)
        except BudgetError:
            ledger.report(table, f"parent {time.monotonic_ns()}", 0.0)
        os.write(1, b"parent\\n")  # whole: print may write the line's end by itself, after a child's line

stop = threading.Event()
thread = threading.Thread(target=on_and_on)
thread.start()
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: they are the point
children = []
for child in range(6):
    time.sleep(0.01)
    pid = os.fork()
    if not pid:
        try:
            report = ledger.report(table, f"child {child}", 0.0)
            try:
                ledger.report(table, "all children", 0.0, fresh=True)
                os.write(1, b"shared\\n")
            except BudgetError:
                pass
            os.write(1, f"{report!r}\\n".encode())
        finally:
            os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
stop.set()
thread.join()
"""
    (lines,) = outputs(program(text, ledger))
    assert lines.count("shared") == 2
    assert {float(line) for line in lines if line not in ("shared", "parent")} == {
        ledger.report(TABLE, f"child {child}", 0.0) for child in range(6)
    }
    assert ledger.check() == lines.count("parent") + 2 + 6
    assert ledger.spent("all children") == 1.0


@pytest.mark.slow
def test_a_fork_waits_for_the_report_that_is_being_written(ledger):
    """Else the child would take over locks that it does not have."""
    text = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
drawing, draw = threading.Event(), TabulatedMechanism.draw

def slowly(*arguments):
    drawing.set()
    time.sleep(0.3)
    print("drawn", flush=True)
    return draw(*arguments)

TabulatedMechanism.draw = slowly
thread = threading.Thread(target=ledger.report, args=(table, "ann", 0.0))
thread.start()
drawing.wait()
pid = os.fork()
if not pid:
    os.write(1, f"forked {ledger.spent('ann')}\\n".encode())
    os._exit(0)
os.waitpid(pid, 0)
thread.join()
"""
    (lines,) = outputs(program(text, ledger))
    assert lines == ["drawn", "forked", "0.5"]


DYING = {
    "drawn": """
def sample(*arguments):
    print(original(*arguments)[0], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

original, TabulatedMechanism.draw = TabulatedMechanism.draw, sample
""",
    "written": """
def append(*arguments):
    original(*arguments)
    print(arguments[-1].decode(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

original, LedgerBook.append = LedgerBook.append, append
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("dying", DYING.values(), ids=DYING)
def test_a_process_killed_before_the_commit_has_booked_nothing(ledger, dying):
    """Its report was drawn, or written too, but nobody has got it; the next one is another."""
    before = ledger.report(TABLE, "ann", 0.0)
    process = program(dying + 'ledger.report(table, "ann", 1.0)', ledger)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert ledger.spent("ann") == 0.5
    assert ledger.report(TABLE, "ann", 0.0) == before
    assert ledger.report(TABLE, "ann", 1.0) != float(out)
    assert ledger.check() == 2


@pytest.mark.slow
def test_every_report_of_processes_killed_at_any_time_is_booked(ledger):
    """Whatever was printed is what the ledger repeats; at most the one under way may be booked besides."""
    text = """
for user in range(int(sys.stdin.readline()), 10**6):
    print(user, ledger.report(table, str(user), 0.0), flush=True)
"""
    printed = {}
    for start in range(0, 6000, 1000):
        process = program(text, ledger)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{start}\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(1 + start // 1000)]
        process.kill()
        lines += process.communicate()[0].splitlines()
        printed.update(line.split() for line in lines if len(line.split()) == 2)
    assert len(printed) >= 21
    assert all(ledger.report(TABLE, user, 0.0) == float(report) for user, report in printed.items())
    assert len(printed) <= ledger.check() <= len(printed) + 6


@pytest.mark.parametrize("where", [(TabulatedMechanism, "draw"), (LedgerBook, "append")])
def test_ctrl_c_before_the_commit_books_nothing(ledger, monkeypatch, where):
    """And the ledger can be used at once: no lock stays."""
    original = getattr(*where)

    def interrupted(*arguments):
        original(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(*where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.report(TABLE, "ann", 0.0)
    assert ledger.spent("ann") == 0.0
    ledger.report(TABLE, "ann", 0.0)
    assert ledger.check() == 1


@pytest.mark.slow
def test_no_report_leaves_a_commit_that_fails(ledger):
    """The disk is full, in effect: files of this process must not grow; what was there stays."""
    first = ledger.report(TABLE, "ann", 0.0)
    text = """
import resource
size = os.path.getsize(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size - 4096, size - 4096))
for user in ("ann", "bob"):
    try:
        print("reported", ledger.report(table, user, 1.0))
    except InputError as error:
        os.write(1, f"{len(str(error).splitlines())} {'nothing was reported' in str(error)}\\n".encode())
"""
    (lines,) = outputs(program(text, ledger))
    assert lines == ["1", "True"] * 2
    assert ledger.check() == 1
    assert ledger.report(TABLE, "ann", 0.0) == first


@pytest.mark.slow
def test_a_ledger_that_others_keep_to_themselves_is_named(ledger, monkeypatch):
    """After waiting, which is made short here, not for ever."""
    monkeypatch.setattr("optldp.mechanisms.ledger.file.WAIT_SECONDS", 0.05)
    text = """
import sqlite3
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
time.sleep(60)
"""
    process = program(text, ledger)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(InputError, match=r"must be free, got others at it for 0.05 s: try again"):
        ledger.report(TABLE, "ann", 0.0)
    process.kill()
    process.communicate()
    ledger.report(TABLE, "ann", 0.0)
    assert ledger.spent("ann") == 0.5
