"""What was held of an engine, and what was not."""

import time
import traceback
from collections.abc import Callable

from optldp.mechanisms import InputError


class Checks:
    """What was held, and what was not."""

    def __init__(self) -> None:
        self.passed, self.failed = 0, 0

    def that(self, claim: str, check: Callable[[], object]) -> None:
        """Run a check, which says False or raises where the claim is wrong."""
        started = time.perf_counter()
        try:
            held = check() is not False
        except Exception:
            traceback.print_exc()
            held = False
        self.passed, self.failed = self.passed + held, self.failed + (not held)
        print(f"{'holds' if held else 'FAILS'}  {claim} ({time.perf_counter() - started:.0f} s)", flush=True)


def refused(ask: Callable[[], object], says: str) -> bool:
    """Whether one line says this."""
    try:
        ask()
    except InputError as error:
        if says in str(error) and "\n" not in str(error):
            return True
        print(error)
    return False
