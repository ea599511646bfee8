"""For auditors: `python verify_table.py mech.json` proves an optldp-table/2 file eps-LDP; exit code 1: it is not so."""

import hashlib
import json
import struct
import sys
from fractions import Fraction
from itertools import pairwise

D, INFINITY = 2**53, float("inf")
MEMBERS = "checksum denominator epsilon format high knots low numerators prior provenance units within"


def need(condition, what):
    if not condition:
        raise ValueError(what)


def encode(value):
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode())
        return b"o" + struct.pack("<Q", len(members)) + b"".join(encode(k) + encode(v) for k, v in members)
    if isinstance(value, list):
        return b"a" + struct.pack("<Q", len(value)) + b"".join(map(encode, value))
    if isinstance(value, str):
        return b"s" + struct.pack("<Q", len(value.encode())) + value.encode()
    if value is None or isinstance(value, bool):
        return {None: b"z", True: b"t", False: b"f"}[value]
    return b"n" + struct.pack("<d", value + 0.0)


def mean_report(low, high, within):
    """The exact mean of an output: a point, the middle of a cell, or a geometric tail by its binary digits."""
    if low > -INFINITY and high < INFINITY:
        return (Fraction(low) + Fraction(high)) / 2
    need(within["kind"] == "geometric-tails", "an infinite output needs geometric tails")
    q, steps, i = float(within["ratio"]), 0, 0
    while (odds := round(q / (1 + q) * D)) > 0:
        steps, q, i = steps + (odds << i), q * q, i + 1
    beyond = Fraction(steps, D) * Fraction(within["step"])
    return Fraction(low) + beyond if high == INFINITY else Fraction(high) - beyond


def prove(table):
    need(" ".join(sorted(table)) == MEMBERS, f"the members must be {MEMBERS}")
    need((table["format"], repr(table["denominator"])) == ("optldp-table/2", str(D)), "the format must be /2 over 2^53")
    digest = hashlib.sha256(encode({k: v for k, v in table.items() if k != "checksum"}))
    need(table["checksum"] == "sha256:" + digest.hexdigest(), "the checksum must fit")
    need(1e-6 <= table["epsilon"] <= 16, "epsilon must be in [1e-6, 16]")
    rows, within, knots = table["numerators"], table["within"], [Fraction(x) for x in table["knots"]]
    need(within["kind"] in ("uniform", "geometric-tails"), "the law within outputs must be the same for all rows")
    ends = list(zip(map(float, table["low"]), map(float, table["high"]), strict=True))
    need(not any(1e120 < abs(x) < INFINITY for end in ends for x in end), "ends must be within 1e120")
    need(all(a <= b for a, b in ends) and all(a < b for a, b in pairwise(ends)), "outputs must be sorted and different")
    need(all(a[1] <= b[0] for a, b in pairwise(end for end in ends if end[0] < end[1])), "cells must not overlap")
    need(len(knots) == len(rows) > 1 and all(a < b for a, b in pairwise(knots)), "knots must increase, one for a row")
    for i, row in enumerate(rows):
        whole = all(type(entry) is int and 0 <= entry <= D for entry in row)
        need(whole and len(row) == len(ends) and sum(row) == D, f"row {i} must be {len(ends)} numbers that sum to 2^53")
    (a, b), limit, term, k = float(table["epsilon"]).as_integer_ratio(), 0, 2**128, 0
    while term > 0:  # limit / 2^128 <= e^epsilon: Taylor's series, every term rounded down
        limit, k = limit + term, k + 1
        term = term * a // (b * k)
    bounds = [(max(column), min(column)) for column in zip(*rows, strict=True)]
    need(all(most * 2**128 <= limit * least for most, least in bounds), "every ratio must be within e^epsilon")
    means = [mean_report(*end, within) for end in ends]
    errors = (abs(sum(map(Fraction.__mul__, means, row)) / D - x) for row, x in zip(rows, knots, strict=True))
    bias = max(errors) / (knots[-1] - knots[0])
    if table["provenance"]["parameters"].get("unbiased") is True:
        need(bias * 10**12 <= 1, f"an unbiased table must not be off by {float(bias)} of the domain")
    return max(Fraction(most, least) for most, least in bounds if most), bias


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print("proved: largest ratio {}, bias {} of the domain".format(*prove(json.load(file))))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as fault:
        sys.exit(f"NOT PROVED: {fault!r}")
