"""For auditors: `python verify_features.py two.json` proves what one report of several columns promises.

Which feature is drawn depends on no value, and a feature is a number of the record: so each table is proved alone, by
verify_table.py, which lies beside this, and none may spend more than the budget (docs/bundle-format.md). Like that
program it shares no code with optldp.

Exit code 0: proved; 1: not so, for the reason that one line gives; 2: no file to look at.
"""

# `need` refuses what is no list; the types do not know that.
# pyright: reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false

import hashlib
import runpy
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

table = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("verify_table.py"))))
need, number, wholes = table.need, table.number, table.wholes

MEMBERS = "checksum columns epsilon features format kind mechanisms target told"
FORMULAS = {
    "quadratic": "centres constant formula linear name scales share square",
    "score": "centres clip coefficients formula name reach scales share weights",
    "sides": "centres formula name reach share",
    "signs": "centres formula name reach share signs",
}
"""What the document of a feature has, by its formula: numbers alone, and none of them code."""

CAUGHT = ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError


def prove(made: Any, steps: int) -> Fraction:
    """Return the largest ratio of any table, or raise what is wrong; every number is exact."""
    need((made.get("format"), made.get("kind")) == ("optldp-bundle/1", "features"), "kind must be features")
    table.members(made, MEMBERS, "a mechanism of features")
    table.check_checksum(made)
    epsilon = Fraction(number(made["epsilon"], "epsilon"))
    need(1e-6 <= epsilon <= 16, "epsilon must be in [1e-6, 16]")
    features, tables = made["features"], made["mechanisms"]
    need(type(features) is list and type(tables) is list, "features and mechanisms must be lists")
    need(0 < len(features) == len(tables) <= 64, "there must be 1 to 64 features, and a table of each")
    for each in features:
        table.members(each, FORMULAS[each["formula"]], "a feature")
    need(sum(wholes([each["share"] for each in features], 1, 2**31, "shares")) < 2**31, "shares must be below 2^31")
    for low, high in ((each["low"], each["high"]) for each in made["columns"]):
        need(number(low, "low") < number(high, "high"), "the range of a column must rise")
    return max(_of_one(dict(one), epsilon, steps) for one in tables)


def _of_one(one, epsilon, steps):
    """The ratio of a table, which is signed with its mechanism and not by itself."""
    need("promise" not in one and "checksum" not in one, "a table must be of pure privacy, signed with its mechanism")
    need(Fraction(number(one["epsilon"], "epsilon")) <= epsilon, "no table may spend more than epsilon")
    one["checksum"] = "sha256:" + hashlib.sha256(table.encode(one)).hexdigest()
    ratio, _ = table.prove(one, steps)
    need(ratio is not None, "every ratio must be finite")
    return ratio


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            content = file.read(table.MOST_BYTES + 1)
    except (IndexError, OSError) as missing:
        print(f"UNREADABLE: {missing!r}: give the path of a mechanism"[:300], file=sys.stderr)
        sys.exit(2)
    try:
        steps = sys.maxsize if "--allow-large" in sys.argv[2:] else table.MOST_STEPS
        print(f"proved of any two records: largest ratio {prove(table.read(content), steps)}")
    except CAUGHT as fault:
        sys.exit(f"NOT PROVED: {fault!r}"[:300])
