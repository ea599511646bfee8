"""How tests run: properties on the same examples each time, reports drawn by the same words, one thread each.

HYPOTHESIS_PROFILE=night has five times as many of these examples. HYPOTHESIS_PROFILE=search draws new ones, and more,
and reports from the system's entropy.
"""

import os
import random
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from unittest.mock import patch
from zlib import crc32

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: tests run side by side, one on each core

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("night", derandomize=True, deadline=None, max_examples=200)
settings.register_profile("search", deadline=None, max_examples=500)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "same")
settings.load_profile(PROFILE)


@contextmanager
def drawn_by(seed: str) -> Iterator[None]:
    """Clients draw their reports from this stream instead of the system's: what a test finds, it finds at each run.

    `secrets` and `random.SystemRandom` draw from it as well, so the salt of a panel and the secrets of users: `random`
    keeps a name of its own for the system's stream.
    """
    drawn = os.urandom if PROFILE == "search" else random.Random(seed).randbytes
    with patch.object(os, "urandom", drawn), patch.object(random, "_urandom", drawn):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with drawn_by(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef) -> Generator[None, object, object]:
    """What tests share is drawn alike whichever of them is first."""
    with drawn_by(f"{fixturedef.baseid}::{fixturedef.argname}"):
        return (yield)


SHARES = ((2, 2), (5, 3), (8, 4), (24, 6))
"""Of a quick test with more cases than the first number of a pair, one in so many as the second runs by day."""

SHARES_OF_SINGULAR = ((8, 2), (24, 3))
"""The same where `SINGULAR` says so, and elsewhere the cases of which the first runs by day in any case."""

SINGULAR = (
    "tests/conformance/",
    "tests/mechanisms/",
    "tests/designer/auditing/",
    "tests/designer/test_combinations_of_problems.py",
    "tests/test_documentation.py",
)
"""Where each case is another mechanism's promise, another fault or page: of a slow test each third runs by day."""


def share(cases: int, shares: tuple[tuple[int, int], ...]) -> int:
    """Return of how many cases one runs by day."""
    return max((one for more, one in shares if cases > more), default=1)


@pytest.hookimpl(tryfirst=True)  # before -m leaves out what is slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `sampled(n)` each n-th case is quick, from the first on, and all others are slow.

    Of a slow test with several cases the first and then each ninth run by day, or each third where `SINGULAR` says so,
    and all others at night; of a quick test with many cases as many as `SHARES` says. A checksum of the name
    decides, not the place: cases that are products of two lists would lose a whole value of one of them.
    """
    seen, slow, quick = Counter[str](), Counter[str](), Counter[str]()
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if mark := item.get_closest_marker("sampled"):
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1
        if not case or item.get_closest_marker("nightly"):
            continue
        if item.get_closest_marker("slow"):
            if slow[test] % (3 if test.startswith(SINGULAR) else 9):
                item.add_marker(pytest.mark.nightly)
            slow[test] += 1
        elif not mark:
            drawn, shares = crc32(item.nodeid.encode()), SHARES_OF_SINGULAR if test.startswith(SINGULAR) else SHARES
            if drawn % share(cases[test], SHARES_OF_SINGULAR) or (quick[test] and drawn % share(cases[test], shares)):
                item.add_marker(pytest.mark.nightly)
            else:
                quick[test] += 1
