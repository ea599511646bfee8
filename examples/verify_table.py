"""For auditors: `python verify_table.py mech.json` proves what an optldp-table/2 file promises (docs/table-format.md).

So it does of the floor form of a table (docs/floor-form.md), the bundle of kind "floor", and of tables of categories
or places (docs/bundle-format.md), those of kind "categorical-table".

Exit code 0: proved; 1: not so, for the reason that one line gives; 2: no file to look at.
"""

import hashlib
import json
import re
import struct
import sys
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, pairwise
from math import frexp, fsum, inf, isfinite, isqrt, nextafter

D, MOST_BYTES, MOST_PARSED, MOST_KNOTS, MOST_STEPS = 2**53, 2**25, 160 * 2**20, 2**15, 2**31
MEMBERS = "checksum denominator epsilon format high knots low numerators prior provenance units within"
FLOOR = "checksum epsilon floor format kind knots places prior provenance ratio starts step units"
CATEGORIES = "categories checksum denominator epsilon format kind numerators provenance"
PURE, PROMISES = {"kind": "pure"}, {"approximate": "delta kind", "metric": "kind", "ratios": "kind log_ratios"}
PROMISES |= {"by-value": "epsilons kind rule", "blocks": "across blocks kind within", "sensitive": "kind sensitive"}
LAWS = {"uniform": "kind", "geometric-tails": "kind ratio step"}


def need(condition, what):
    if not condition:
        raise ValueError(what)


def members(value, names, where):
    fits = type(value) is dict and sorted(value) == sorted(names.split())
    need(fits, f"{where} must be an object with the members {names}")
    return value


def without_repeats(pairs):
    need(len(dict(pairs)) == len(pairs), "keys must not repeat")
    return dict(pairs)


def number(value, what):
    need(type(value) in (int, float) and isfinite(value), f"{what} must be a number")
    return float(value) + 0.0  # -0 is 0


def numbers(value, what):
    need(type(value) is list, f"{what} must be a list")
    return [number(entry, f"every entry of {what}") for entry in value]


def wholes(value, least, most, what) -> list[int]:
    fits = type(value) is list and all(type(entry) is int and least <= entry <= most for entry in value)
    need(fits, f"{what} must be whole numbers from {least} to {most}")
    return value


def ends(value, what):
    need(type(value) is list, f"{what} must be a list")
    infinite = {"-inf": -inf, "inf": inf}
    return [infinite[end] if end in ("-inf", "inf") else number(end, f"every entry of {what}") for end in value]


def encode(value):
    if type(value) is dict:
        sorted_members = sorted(value.items(), key=lambda member: member[0].encode())
        return b"o" + struct.pack("<Q", len(value)) + b"".join(encode(k) + encode(v) for k, v in sorted_members)
    if type(value) is list:
        return b"a" + struct.pack("<Q", len(value)) + b"".join(map(encode, value))
    if type(value) is str:
        return b"s" + struct.pack("<Q", len(value.encode())) + value.encode()
    if value is None or type(value) is bool:
        return {None: b"z", True: b"t", False: b"f"}[value]
    return b"n" + struct.pack("<d", number(value, "whatever is no text"))


def check_outputs(outputs, tailed):
    """Outputs are sorted and every one has reports that are found in it and in no other."""
    points, cells = {low for low, high in outputs if low == high}, [end for end in outputs if end[0] < end[1]]
    need(not any(1e120 < abs(x) < inf for end in outputs for x in end), "finite ends must be within 1e120")
    need(points.isdisjoint((-inf, inf)) and all(a <= b for a, b in outputs), "outputs must have low <= high")
    need(outputs and all(a < b for a, b in pairwise(outputs)), "outputs must be sorted and different, at least one")
    need(all(a[1] <= b[0] for a, b in pairwise(cells)), "cells must not overlap")
    for low, high in cells:
        need(tailed == (high - low == inf) and (low, high) != (-inf, inf), f"no law knows a cell {low} to {high}")
        while low in points and low < high:
            low = nextafter(low, inf)
        need(low < high, f"a cell must hold a double that is no point, got none below {high}")
    left, right = (outputs[0][1] if outputs[0][0] == -inf else -inf), (outputs[-1][0] if outputs[-1][1] == inf else inf)
    beside = all(left < point < right for point in points) and left < right
    need(not tailed or beside, "points must lie between the tails, whose ends must differ")


def check_words(units, provenance, prior, n):
    """What concerns no one's privacy must be of the right form all the same."""
    members(provenance, "method parameters version certificate", "provenance")
    need({type(text) for text in (units, provenance["method"], provenance["version"])} == {str}, "names must be texts")
    for record in (provenance["parameters"], {} if provenance["certificate"] is None else provenance["certificate"]):
        need(type(record) is dict, "parameters and certificate must be objects")
        entries = [entry for value in record.values() for entry in (value if type(value) is list else [value])]
        need(not {type(entry) for entry in entries} & {list, dict}, "they must hold plain values or lists of them")
    if prior is not None:
        members(prior, "weights rounding source", "prior")
        weights, rounding = numbers(prior["weights"], "weights"), numbers(prior["rounding"], "rounding")
        need((len(weights), len(rounding)) == (n, n - 1) and min(weights + rounding) >= 0, "a prior must fit the knots")
        need(abs(fsum(weights) - 1) <= 1e-9, "the weights of a prior must sum to 1")
        need(prior["source"] in ("public", "private-report", "sensitive"), "a prior must name its source")


def mean_report(low, high, within):
    """The exact mean of an output: a point, the middle of a cell, or a geometric tail by its binary digits."""
    if isfinite(low) and isfinite(high):
        return (Fraction(low) + Fraction(high)) / 2
    q, steps, i = float(within["ratio"]), 0, 0
    while (odds := round(q / (1 + q) * D)) > 0:  # ends: q < 1, and is squared
        steps, q, i = steps + (odds << i), q * q, i + 1
    beyond = Fraction(steps, D) * Fraction(float(within["step"]))
    return Fraction(low) + beyond if high == inf else Fraction(high) - beyond


def below(epsilon):
    """A whole number L with L / 2^128 <= e^epsilon, by Taylor's series with every term rounded down."""
    (a, b), limit, term, k = epsilon.as_integer_ratio(), 0, 2**128, 0
    while term > 0:
        limit, k = limit + term, k + 1
        term = term * a // (b * k)
    return limit


def check_promise(said, epsilon, knots, rows, steps):
    """Pure: every ratio is within e^epsilon; of pairs: that of two rows, for what they may; approximate: but delta."""
    n, m = len(rows), len(rows[0])
    all_pairs = n * (m if said["kind"] == "approximate" else max(n, m)) * (16 + n) <= steps
    few = said["kind"] in ("pure", "metric") and "distance" not in said
    need(few or all_pairs, f"all pairs of {n} rows of {m} must take 2^31 steps at most, or --allow-large")
    if said["kind"] == "approximate":
        limit, delta = below(epsilon), Fraction(number(said["delta"], "delta"))
        ups, downs = [[a << 128 for a in row] for row in rows], [[limit * b for b in row] for row in rows]
        sums = (sum(a - b for a, b in zip(x, y, strict=True) if a > b) for x in ups for y in downs)
        need(0 < delta < 1 and max(sums) <= delta * D * 2**128, "every divergence must be within delta < 1")
        return
    broken = "every ratio must be within e^epsilon"
    if said["kind"] == "pure":
        limit = below(epsilon)
        need(all(max(column) * 2**128 <= limit * min(column) for column in zip(*rows, strict=True)), broken)
        return
    for apart, pairs in pairs_of(said, epsilon, knots).items():
        limit = below(min(apart, 40))  # e^40 > 2^53 is no limit
        for i, k in pairs:
            need(all(a * 2**128 <= limit * b for a, b in zip(rows[i], rows[k], strict=True)), broken)


def pairs_of(said, epsilon, knots):
    """Of a promise of pairs: those of which all others follow, by the log-ratio that each may have, as a fraction."""
    kind, n = said["kind"], len(knots)
    if kind == "metric" and "distance" not in said:
        period = Fraction(number(said["period"], "period")) if "period" in said else None
        need(period is None or 0 < period > knots[-1] - knots[0], "a period must be longer than the knots span")
        steps = [(k, k + 1, knots[k + 1] - knots[k]) for k in range(n - 1)]
        if period is not None:
            steps = [(i, k, min(way, period - way)) for i, k, way in steps]
            steps += [(n - 1, 0, min(period - knots[-1] + knots[0], knots[-1] - knots[0]))]
        return grouped((epsilon * way, pair) for i, k, way in steps for pair in ((i, k), (k, i)))
    if kind in ("metric", "ratios"):
        rows = said["distance" if kind == "metric" else "log_ratios"]
        need(type(rows) is list and len(rows) == n, "a matrix must have a row for each knot")
        matrix = [ends(row, "a matrix") for row in rows]
        beside = [(x, i != k) for i, row in enumerate(matrix) for k, x in enumerate(row)]
        fits = all(len(row) == n for row in matrix) and all(x >= 0 and (x > 0) == off for x, off in beside)
        need(fits, "a matrix must be square, positive, with a diagonal of 0")
        matrix = [[Fraction(x) if isfinite(x) else None for x in row] for row in matrix]
        matrix = [[x if x is None or kind == "ratios" else epsilon * x for x in row] for row in matrix]
    elif kind == "by-value":
        e = [Fraction(each) for each in budgets(said["epsilons"])]
        need(len(e) == n and said["rule"] in ("average", "min"), "there must be a budget for each knot, and a rule")
        matrix = [[(a + b) / 2 if said["rule"] == "average" else min(a, b) for b in e] for a in e]
    elif kind == "blocks":
        blocks, (within, across) = said["blocks"], budgets([said["within"], said["across"]])
        fits = type(blocks) is list and len(blocks) == n and {type(each) for each in blocks} == {int}
        need(fits and len(set(blocks)) > 1, "there must be a block for each knot, two at least")
        matrix = [[Fraction(within if a == b else across) for b in blocks] for a in blocks]
    else:
        flags = said["sensitive"]
        need(type(flags) is list and len(flags) == n, "there must be true or false for each knot")
        fits = {type(each) for each in flags} == {bool} and 0 < sum(flags) < n
        need(fits, "some must be sensitive, and some not")
        matrix = [[epsilon if flag else None] * n for flag in flags]
    pairs = grouped((x, (i, k)) for i, row in enumerate(matrix) for k, x in enumerate(row) if i != k and x is not None)
    need(pairs, "something must be promised of some pair")
    if kind in ("ratios", "by-value", "blocks"):
        need(epsilon == largest(matrix), "epsilon must be the largest log-ratio that is promised")
    return pairs


def grouped(pairs):
    """Pairs by their log-ratios."""
    groups = {}
    for apart, pair in pairs:
        groups.setdefault(apart, []).append(pair)
    return groups


def budgets(value):
    made = numbers(value, "budgets")
    need(all(1e-6 <= each <= 16 for each in made), "every budget must be in [1e-6, 16]")
    return made


def largest(matrix):
    """The largest finite log-ratio once paths are followed, in doubles."""
    closed = [[inf if x is None else float(x) for x in row] for row in matrix]
    closed = [[0.0 if i == k else x for k, x in enumerate(row)] for i, row in enumerate(closed)]
    for k in range(len(closed)):
        closed = [[min(x, row[k] + y) for x, y in zip(row, closed[k], strict=True)] for row in closed]
    return max(x for row in closed for x in row if isfinite(x))


def check_checksum(made):
    digest = hashlib.sha256(encode({k: v for k, v in made.items() if k != "checksum"}))
    need(made["checksum"] == "sha256:" + digest.hexdigest(), "the checksum must fit")


def check_head(made):
    """Checksum, budget, knots and words, which tables and floor forms have in common; return budget and knots."""
    check_checksum(made)
    epsilon, floats = number(made["epsilon"], "epsilon"), numbers(made["knots"], "knots")
    need(1e-6 <= epsilon <= 16, "epsilon must be in [1e-6, 16]")
    need(len(floats) > 1 and all(a < b for a, b in pairwise(floats)), "knots must increase, two at least")
    need(1e-100 < floats[-1] - floats[0] < 1e100, "knots must span 1e-100 to 1e100")
    check_words(made["units"], made["provenance"], made["prior"], len(floats))
    return Fraction(epsilon), [Fraction(knot) for knot in floats]


def bias_of(made, knots, sums, farthest):
    """The largest distance of a knot and its mean report, of the domain; sums are those over 2^53."""
    width = knots[-1] - knots[0]
    bias = max(abs(total / D - knot) for total, knot in zip(sums, knots, strict=True)) / width
    if made["provenance"]["parameters"].get("unbiased") is True:
        small = bias * 10**12 <= 1 or bias <= farthest / 2**50 / width
        need(small, f"an unbiased table must not be off by {float(bias)} of the domain")
    return bias


def promise_of(table, of_numbers=True):
    """What a table promises; of categories pure privacy or something of pairs, for they lie on no line or circle."""
    if "promise" not in table:
        return PURE
    kind = table["promise"]["kind"]
    more = [each for each in ("distance", "period") if kind == "metric" and each in table["promise"]]
    need(len(more) < 2, "a distance must be a matrix or round a circle")
    need(of_numbers or (kind != "approximate" and more != ["period"]), "categories must promise something of pairs")
    return members(table["promise"], " ".join([PROMISES[kind], *more]), "promise")


def prove(table, steps=MOST_STEPS):
    """Return the largest ratio (None: infinite) and the bias, or raise what is wrong; every number is exact."""
    if table["format"] == "optldp-bundle/1":
        return prove_categories(table, steps) if table["kind"] == "categorical-table" else prove_floor(table)
    members(table, MEMBERS + " promise" * ("promise" in table), "a table")
    said = promise_of(table)
    need((table["format"], repr(table["denominator"])) == ("optldp-table/2", str(D)), "the format must be /2 over 2^53")
    epsilon, knots = check_head(table)
    most = max(len(knots), len(table["low"]))
    need(most <= MOST_KNOTS, f"a table must have at most {MOST_KNOTS} knots and outputs, got {most}")
    within, kind = table["within"], str(table["within"]["kind"])
    need(kind in LAWS, "the law within outputs must be the same for all rows")
    if members(within, LAWS[kind], "within") and kind == "geometric-tails":
        need(0 < number(within["step"], "step") <= 1e120, "step must be positive and at most 1e120")
        need(0 < number(within["ratio"], "ratio") < 1, "ratio must lie strictly between 0 and 1")
    outputs = list(zip(ends(table["low"], "low"), ends(table["high"], "high"), strict=True))
    check_outputs(outputs, kind == "geometric-tails")
    rows = table["numerators"]
    need(type(rows) is list and len(rows) == len(knots), "there must be a row for each knot")
    rows = [wholes(row, 0, D, f"row {i}") for i, row in enumerate(rows)]
    for i, row in enumerate(rows):
        need(len(row) == len(outputs), f"row {i} must have {len(outputs)} numbers")
        need(sum(row) == D, f"row {i} must sum to 2^53")
    means = [mean_report(*end, within) for end in outputs]
    check_promise(said, epsilon, knots, rows, steps)
    sums = (sum(mean * entry for mean, entry in zip(means, row, strict=True)) for row in rows)
    bias = bias_of(table, knots, sums, max(map(abs, means)))
    bounds = [(max(column), min(column)) for column in zip(*rows, strict=True) if max(column)]
    return None if any(least == 0 for _, least in bounds) else max(Fraction(*bound) for bound in bounds), bias


def prove_floor(form):
    """The same of a floor form, of which a stated ratio is the bound: rows are a floor and what a window adds to it.

    The window of a row is an interval [start, start + width] of the line on which outputs have their extras side by
    side: so rows sum to 2^53, and entries lie between floor and floor + extra, wherever it starts (docs/floor-form.md).
    """
    members(form, FLOOR, "a floor form")
    need(form["kind"] == "floor", "the bundle must be a floor form")
    epsilon, knots = check_head(form)
    need(re.fullmatch("[1-9][0-9]{0,48}", form["ratio"]), "ratio must be the digits of a whole number")
    ratio, step = int(form["ratio"]), number(form["step"], "step")
    need(2**128 < ratio <= below(epsilon), "every ratio must be within e^epsilon, and above one")
    need(frexp(step)[0] == 0.5 and 2.0**-1000 <= step <= 2.0**400, "step must be a power of two")
    places, floor = wholes(form["places"], -D, D, "places"), wholes(form["floor"], 1, D, "floors")
    starts = wholes(form["starts"], 0, 2**62, "starts")
    need(len(places) == len(floor) > 0 and len(starts) == len(knots), "outputs and knots must have a number each")
    need(max(len(knots), len(places)) <= MOST_KNOTS, f"there must be at most {MOST_KNOTS} knots and outputs")
    need(all(a < b for a, b in pairwise(places)), "outputs must be sorted and different")
    farthest = max(-places[0], places[-1]) * Fraction(step)
    need(farthest <= Fraction(1e120), "outputs must be within 1e120")
    extras = [t * (ratio - 2**128) // 2**128 for t in floor]
    edges, width = [0, *accumulate(extras)], D - sum(floor)
    need(0 <= width <= edges[-1] <= 2**62, "floors must leave a window, and extras must fill it")
    need(all(float(s) == s <= edges[-1] - width for s in starts), "starts must be doubles that leave room for a window")
    base = sum(t * k for t, k in zip(floor, places, strict=True))
    sums = [0, *accumulate(e * k for e, k in zip(extras, places, strict=True))]

    def until(place):
        j = min(bisect_right(edges, place), len(extras)) - 1
        return sums[j] + (place - edges[j]) * places[j]

    totals = (Fraction(step) * (base + until(start + width) - until(start)) for start in starts)
    return Fraction(ratio, 2**128), bias_of(form, knots, totals, farthest)


def prove_categories(table, steps):
    """The same of a table of categories, which have no bias: pure, of pairs, or by the distance of places."""
    more = [each for each in ("outputs", "promise") if each in table]
    members(table, " ".join([CATEGORIES, *more]), "a table of categories")
    check_checksum(table)
    epsilon, labels, rows = Fraction(number(table["epsilon"], "epsilon")), table["categories"], table["numerators"]
    need(repr(table["denominator"]) == str(D) and 1e-6 <= epsilon <= 16, "epsilon must be in [1e-6, 16], over 2^53")
    check_words("", table["provenance"], None, 0)
    need(type(labels) is list and {type(label) for label in labels} == {str}, "categories must be texts")
    need(1 < len(labels) == len(set(labels)) <= MOST_KNOTS, "categories must differ, two at least")
    need(type(rows) is list and len(rows) == len(labels), "there must be a row for each category")
    rows = [wholes(row, 0, D, f"row {i}") for i, row in enumerate(rows)]
    need(all(len(row) == len(rows[0]) and sum(row) == D for row in rows), "rows must be as long, of sum 2^53")
    if "outputs" in table:
        need(len(places(table["outputs"])) == len(rows[0]), "there must be an output for each column")
    said = promise_of(table, of_numbers=False)
    if said == {"kind": "metric"}:
        need("outputs" in table, "privacy by distance is of places")
        need(len(rows) ** 2 * len(rows[0]) <= steps, "all pairs must take 2^31 steps at most, or --allow-large")
        at = places(labels)
        for squared, pairs in grouped(
            ((a - x) ** 2 + (b - y) ** 2, (i, k))
            for i, (a, b) in enumerate(at)
            for k, (x, y) in enumerate(at)
            if i != k
        ).items():
            limit = below(min(epsilon * root_below(squared), 40))
            for i, k in pairs:
                fits = all(a << 128 <= limit * b for a, b in zip(rows[i], rows[k], strict=True))
                need(fits, "every ratio must be within e^(epsilon d)")
    else:
        check_promise(said, epsilon, labels, rows, steps)
    bounds = [(max(column), min(column)) for column in zip(*rows, strict=True) if max(column)]
    return None if any(least == 0 for _, least in bounds) else max(Fraction(*bound) for bound in bounds), Fraction(0)


def places(labels):
    """The exact places of texts such as 0.5,-2, which are doubles."""
    need(type(labels) is list and {type(label) for label in labels} == {str}, "places must be texts")
    found = [tuple(map(float, label.split(","))) for label in labels]
    need(all(len(at) == 2 and all(map(isfinite, at)) for at in found), "places must be two numbers each")
    need(len(set(found)) == len(found), "places must differ")
    return [(Fraction(x), Fraction(y)) for x, y in found]


def root_below(square):
    """A fraction that is at most the root of a fraction, within 2^-64 of it as a share."""
    scale = 4 ** (64 + square.denominator.bit_length())
    return Fraction(isqrt(scale * square.numerator // square.denominator), isqrt(scale))


def read(content):
    """The JSON value of a file's bytes, strictly: UTF-8, no key twice, no NaN."""
    need(len(content) <= MOST_BYTES, f"a table must be at most {MOST_BYTES} bytes")
    taken = 40 * content.count(b",") + 500 * content.count(b"[") + 2000 * (content.count(b"{") + content.count(b":"))
    need(len(content) + taken <= MOST_PARSED, "a table must not be of so many parts")
    need(not re.search(rb"[0-9]{4001}", content), "a number must have at most 4000 digits in a row")
    text = content.decode(errors="replace")
    need(text.encode() == content, "a table must be text in UTF-8")
    return json.loads(text, object_pairs_hook=without_repeats)  # NaN and infinities are read, and refused by `number`


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (IndexError, OSError) as missing:
        print(f"UNREADABLE: {missing!r}: give the path of a table"[:300], file=sys.stderr)
        sys.exit(2)
    try:
        table = read(content)
        ratio, bias = prove(table, sys.maxsize if "--allow-large" in sys.argv[2:] else MOST_STEPS)
        short = {k: v for k, v in table.get("promise", {}).items() if type(v) is not list}
        weaker = f" of {short}, which is no eps-LDP" if "promise" in table else ""
        print(f"proved{weaker}: largest ratio {ratio}, bias {bias} of the domain")
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as fault:
        sys.exit(f"NOT PROVED: {fault!r}"[:300])
