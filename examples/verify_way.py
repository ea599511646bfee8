"""For auditors: `python verify_way.py way.json` proves what a way of asking again promises (docs/asking-again.md).

Of a panel, rows or remembered draws it proves the mechanism of one report by verify_table.py, which lies beside it, and
that all reports together spend no more than is promised; of directions, and of a tree's signs, that their weights keep
the ratio. Like that program it shares no code with optldp.

Exit code 0: proved; 1: not so, for the reason that one line gives; 2: no file to look at.
"""

import hashlib
import runpy
import sys
from fractions import Fraction
from math import comb
from pathlib import Path
from types import SimpleNamespace

table = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("verify_table.py"))))
need, number, wholes = table.need, table.number, table.wholes

MEMBERS = {
    "panel": "checksum epsilon format kind mechanism periods reports salt shares span",
    "rows": "checksum epsilon format kind mechanism rows salt shares stays variances",
    "memoised": "checksum epsilon format kind mechanism periods values",
    "directions": "checksum directions epsilon favoured format high kind length low root units weights",
    "tree": "branches checksum epsilon format kind periods salt shares table variance",
}
REPORTS = {"panel": "reports", "memoised": "values"}
"""What says how many reports a user draws in a life or a span; of others it is one."""

OF_WHAT = {
    "panel": "any two histories",
    "rows": "any two histories",
    "memoised": "two histories that change and come back at the same times, which is no promise of a life",
    "directions": "any two histories",
    "tree": "any two histories",
}
CAUGHT = ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError


def prove(way, steps):
    """Return what the promise is of and the largest ratio, or raise what is wrong; every number is exact."""
    need(way.get("format") == "optldp-bundle/1" and way.get("kind") in MEMBERS, f"kind must be one of {list(MEMBERS)}")
    table.members(way, MEMBERS[way["kind"]], "a way")
    table.check_checksum(way)
    epsilon, said = Fraction(number(way["epsilon"], "epsilon")), OF_WHAT[way["kind"]]
    need(1e-6 <= epsilon <= 16, "epsilon must be in [1e-6, 16]")
    if way["kind"] == "directions":
        return said, of_directions(way, epsilon)
    (times,) = wholes([way[REPORTS[way["kind"]]] if way["kind"] in REPORTS else 1], 1, 10**5, "reports")
    one = dict(way["table" if way["kind"] == "tree" else "mechanism"])
    need("promise" not in one and "checksum" not in one, "a report must be of pure privacy, signed with its way")
    need(times * Fraction(number(one["epsilon"], "epsilon")) <= epsilon, "all reports must spend at most epsilon")
    one["checksum"] = "sha256:" + hashlib.sha256(table.encode(one)).hexdigest()
    ratio, _ = table.prove(one, steps)
    if way.get("span") is not None:
        wholes([way["span"]], 1, way["periods"], "the span")
        said = f"histories that differ in {way['span']} periods in a row"
    return said, max(ratio**times, *of_signs(way, epsilon)) if way["kind"] == "tree" else ratio**times


def of_directions(way, epsilon):
    """The ratio of the weights: as many directions have the larger one for every history, so their sum is the same."""
    high, low = wholes(way["weights"], 1, table.D, "weights")
    many, favoured = wholes([way["directions"], way["favoured"]], 1, 1024, "numbers of directions")
    need(favoured < many and favoured * high + (many - favoured) * low <= table.D, "weights must sum to 2^53 at most")
    need(low <= high and high << 128 <= table.below(epsilon) * low, "the ratio of weights must be within e^epsilon")
    return Fraction(high, low)


def of_signs(way, epsilon):
    """The ratio of each branch's weights: fair signs and drawn ones together have one of both, or one between."""
    need(len(way["branches"]) <= 1024, "there must be at most 1024 branches")
    for branch in way["branches"]:
        need(len(branch) == 5, "a branch must be five whole numbers")
        _, many, least, high, low = wholes(branch, 1, table.D, "branches")
        need(least <= many <= 32, "a branch must have at most 32 signs, and ask at most all of them to be plus")
        favoured = sum(comb(many, plus) for plus in range(least, many + 1))
        need(favoured * high + (2**many - favoured) * low <= table.D, "weights must sum to 2^53 at most")
        need(low <= high and high << 128 <= table.below(epsilon) * low, "the ratio of weights must be within e^epsilon")
        yield Fraction(high, low)


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            content = file.read(table.MOST_BYTES + 1)
    except (IndexError, OSError) as missing:
        print(f"UNREADABLE: {missing!r}: give the path of a way"[:300], file=sys.stderr)
        sys.exit(2)
    try:
        said, ratio = prove(table.read(content), table.MOST_STEPS)
        print(f"proved of {said}: largest ratio {ratio}")
    except CAUGHT as fault:
        sys.exit(f"NOT PROVED: {fault!r}"[:300])
