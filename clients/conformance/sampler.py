"""A client as a sampler: `python -m clients.conformance.sampler MECHANISM COMMAND ... < values > reports`.

COMMAND is what the driver runs. Each value gets random words of this machine's secure generator, in the place of the
client's own: what is drawn is the client's, where its words come from is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

AT_ONCE = 2_000
"""Values in a line for the client."""

OF_NUMBERS, OF_TAILS = 3, 2 + 64
"""Words that a report of a number takes: knot, output and place, or as many as a geometric number has digits."""

REDRAWN = 8
"""Words beyond those of a category's report, for what is drawn again."""

OF_SEVERAL = 24
"""Words of a report of pairs, attributes or levels of few parts, with some for what is drawn again."""


def main() -> None:
    """Read a JSON value a line, print a report a line."""
    file, *command = sys.argv[1:]
    document = Path(file).read_text("utf-8")
    values = [json.loads(line) for line in sys.stdin]
    lines = "".join(json.dumps(asked) + "\n" for asked in tasks(document, values))
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    sys.stdout.writelines(f"{report}\n" for report in reports(done.stdout.splitlines()))


def tasks(document: str, values: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield what to ask a client for a report of each value.

    Example
    -------
    >>> (task,) = tasks('{"categories": ["cook", "nurse"]}', ["nurse"])
    >>> task["do"], task["draws"][0]["value"], len(task["draws"][0]["words"])
    ('draw', 'nurse', 11)
    """
    many = n_words(json.loads(document))
    for first in range(0, len(values), AT_ONCE):
        draws = [{"value": value, "words": words(many)} for value in values[first : first + AT_ONCE]]
        yield {"do": "draw", "document": document, "draws": draws}


def n_words(mechanism: dict[str, Any]) -> int:
    """Return how many words a report takes."""
    if "categories" in mechanism:
        return len(mechanism["categories"]) + 1 + REDRAWN
    if mechanism.get("format") == "optldp-bundle/1" and mechanism["kind"] != "floor":
        return OF_SEVERAL
    return OF_TAILS if mechanism.get("within", {}).get("kind") == "geometric-tails" else OF_NUMBERS


def words(many: int) -> list[str]:
    """Return words of 64 bits in hexadecimal."""
    drawn = os.urandom(8 * many).hex()
    return [drawn[i : i + 16] for i in range(0, len(drawn), 16)]


def reports(answers: Iterable[str]) -> Iterator[str]:
    """Yield reports as they are published, from a client's answers.

    Raises
    ------
    ValueError
        A client that does not draw.

    Example
    -------
    >>> list(reports(['{"reports": [4, -0.0, "0a80"]}']))
    ['4.0', '0.0', '0a80']
    """
    for line in answers:
        answer = json.loads(line)
        if "reports" not in answer:
            raise ValueError(f"a client must draw a report of each value, got {line[:200]}")
        for report in answer["reports"]:
            yield report if isinstance(report, str) else repr(float(report) + 0.0)


if __name__ == "__main__":
    main()
