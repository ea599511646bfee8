"""`count` of an engine's frames that are not read yet."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from optldp.estimators import count

from .checks import Checks, refused
from .data import CASES, NARROW, Data, told_of

Lazily = Callable[[str, Path], Any]
"""The name of a relation and its Parquet file, to a frame that is not read yet."""


def check_frames(checks: Checks, engine: str, data: Data, lazily: Lazily) -> None:
    """`count` of frames that are not read yet."""

    def counted(case: str) -> bool:
        frames = [lazily(name, path) for name, path in data.files[case].items()]
        named = [(f"s{j}", table, frame) for j, (table, frame) in enumerate(zip(CASES[case], frames, strict=True))]
        return told_of(count(named, key=None if case == "one" else "account")) == data.expected[case]

    def of(name: str) -> Any:
        return lazily(name, data.files[name][name])

    for case, tables in CASES.items():
        checks.that(f"{engine}: count of lazy frames, services: {len(tables)}", partial(counted, case))
    checks.that(
        f"{engine}: users with several reports are refused in one line",
        lambda: refused(lambda: count([("web", NARROW, of("twice"))], key="account"), "users with several reports"),
    )
    checks.that(
        f"{engine}: a column of text is refused in one line",
        lambda: refused(lambda: count(NARROW, of("text")), "must hold whole numbers, got type String"),
    )
