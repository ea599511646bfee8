"""Checks in a browser, run one after another: one that fails is told, and the others go on."""

from collections.abc import Callable, Iterable

Check = tuple[str, Callable[[], None]]


def count(checks: Iterable[Check]) -> tuple[int, int]:
    """Run the checks, say what each came to, and return how many passed and failed."""
    passed, failed = 0, 0
    for name, check in checks:
        try:
            check()
            passed += 1
            print(f"ok {name}")
        except (AssertionError, LookupError, OSError, RuntimeError, ValueError) as error:
            failed += 1
            print(f"FAILED {name}: {error}")
    return passed, failed
