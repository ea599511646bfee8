"""How tests run: properties on the same examples each time, one thread each, of many cases some unless all are asked.

HYPOTHESIS_PROFILE=search draws new examples of properties, and more.
"""

import os
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: tests run side by side, one on each core

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(tryfirst=True)  # before -m leaves out what is slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `sampled(n)` each n-th case is quick, from the first on, and all others are slow.

    Of a slow test with several cases every other one is left to the night, which all cases are for.
    """
    seen, slow = Counter[str](), Counter[str]()
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if mark := item.get_closest_marker("sampled"):
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1
        if case and item.get_closest_marker("slow") and not item.get_closest_marker("nightly"):
            if slow[test] % 2:
                item.add_marker(pytest.mark.nightly)
            slow[test] += 1
