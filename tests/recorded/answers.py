"""Recorded answers: python -m tests.recorded.answers says what changed, and with --write keeps what is answered now.

A change that is meant is written by whoever means it, in the same commit, and told in the changelog. Numbers are the
same to 1e-9 but for those that processors differ in by their order of additions: iterations that stop at a tolerance,
errors of what is hardly determined. How far these may be off is measured while writing, with the linear algebra of
several processors; on the machine that wrote, `--same-processor` allows for nothing.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from optldp.designer.command_line import app
from typer.testing import CliRunner

from .commands import commands, others, prepare

KEPT = Path(__file__).with_name("answers.json")

CLOSE = 1e-9
"""How near to what was recorded a number must be, relative to the larger of both."""

LEAST = 1e-5
"""Numbers below are compared as if they were so large."""

_NO_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"}

PROCESSORS: Mapping[str, Mapping[str, str]] = {
    **{name: {"OPENBLAS_CORETYPE": name} for name in ("Nehalem", "Sandybridge", "Haswell", "SkylakeX")},
    "Haswell without AVX512": {"OPENBLAS_CORETYPE": "Haswell"} | _NO_AVX512,
    "Sandybridge of SSE alone": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "NPY_DISABLE_CPU_FEATURES": f"{_NO_AVX512['NPY_DISABLE_CPU_FEATURES']} X86_V3",
    },
}
"""Whose arithmetic OpenBLAS and numpy are made to use where answers are written."""

ROOM = 100.0
"""Times as far as they are apart may answers be from another processor still."""

REFUSED = "refused"

BY_CHANCE = ("seconds", "version")
"""What differs between runs and releases."""


def answers(folder: Path, share: int = 1) -> dict[str, Any]:
    """Run every command in a folder, or one of so many, and return what each answers: JSON, or that it is refused."""
    back = Path.cwd()
    os.chdir(folder)
    try:
        found: dict[str, Any] = {}
        for words in prepare(folder):
            _run(words)
            report = Path(words[-1])
            found[f"reports {report.stem}"] = hashlib.sha256(report.read_bytes()).hexdigest()
        others(folder)
        chosen = {name: words for name, words in commands().items() if crc32(name.encode()) % share == 0}
        return found | {name: _run((*words, "--json")) for name, words in chosen.items()}
    finally:
        os.chdir(back)


def _run(words: tuple[str, ...]) -> Any:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    if done.exit_code:
        return REFUSED  # in words that may become better
    return _without_chance(json.loads(done.stdout)) if words[-1] == "--json" else None


def _without_chance(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _without_chance(each) for name, each in told.items() if name not in BY_CHANCE}
    return [_without_chance(each) for each in told] if isinstance(told, list) else told


def differences(kept: Any, found: Any, apart: Mapping[str, float], at: str = "") -> Iterator[tuple[str, float, str]]:
    """Yield each place where an answer is another than the one that is kept, how far it is off, and a line about it.

    Parameters
    ----------
    kept, found : JSON values
    apart : mapping of str to float
        Places, and how far numbers there may be off for what processors do; elsewhere `CLOSE`.
    at : str
        The place of these, without the numbers of elements.
    """
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in dict.fromkeys((*kept, *found)):
            if name not in kept or name not in found:
                yield f"{at}/{name}", math.inf, f"{at}/{name}: {'new' if name not in kept else 'gone'}"
            else:
                yield from differences(kept[name], found[name], apart, f"{at}/{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for one, other in zip(kept, found, strict=True):
            yield from differences(one, other, apart, at)
    elif (off := _off(kept, found)) > apart.get(at, CLOSE):
        yield at, off, f"{at}: was {kept!r:.80}, is {found!r:.80}"


def _off(kept: Any, found: Any) -> float:
    """Return how far two values are apart, relative to the larger; without bound if they are no numbers."""
    numbers = all(isinstance(one, float | int) and not isinstance(one, bool) for one in (kept, found))
    if kept == found:
        return 0.0
    return abs(kept - found) / max(abs(kept), abs(found), LEAST) if numbers else math.inf


def recorded() -> tuple[dict[str, Any], dict[str, float]]:
    """Return the answers that are kept, and how far numbers may be off where processors make a difference."""
    kept = json.loads(KEPT.read_text("utf-8"))
    return kept["answers"], kept["apart"]


def _answered() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return answers(Path(folder))


def _write() -> None:
    """Keep what is answered here, and how far what other processors answer is from it."""
    found, apart = _answered(), dict[str, float]()
    for processor, environment in PROCESSORS.items():
        words = [sys.executable, "-m", __spec__.name, "--print"]
        done = subprocess.run(words, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True)
        for at, off, line in differences(found, json.loads(done.stdout), {}):
            if not math.isfinite(off):
                raise SystemExit(f"not the same in kind on {processor}: {line}")
            apart[at] = max(apart.get(at, 0.0), ROOM * off)
    kept = {"answers": found, "apart": {at: float(f"{off:.1g}") for at, off in apart.items()}}
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


def main(asked: list[str]) -> int:
    """Compare, write, or print for the writing process."""
    if asked == ["--write"]:
        _write()
        return 0
    found = _answered()
    if asked == ["--print"]:
        print(json.dumps(found))
        return 0
    kept, apart = recorded()
    lines = [line for _, _, line in differences(kept, found, {} if asked == ["--same-processor"] else apart)]
    print("\n".join(lines) or "all answers are as recorded")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
