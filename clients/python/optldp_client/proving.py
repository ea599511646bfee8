"""From checked values to a proof: outputs, rows, ratios and means, in whole numbers and exact fractions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import frexp, fsum, inf, isfinite, nextafter
from operator import mul
from typing import Any, overload

from .drawing import DENOMINATOR, Table, Tails
from .reading import (
    as_ends,
    as_list,
    as_number,
    as_numbers,
    as_object,
    as_text,
    as_wholes,
    need,
    parse,
    require_checksum,
)

SCALE = 2**128
MOST_SIDE = 2**15
MOST_ENTRIES = 2**25
AROUND = ("format", "units", "epsilon", "knots", "provenance", "prior", "checksum")
TABLE = (*AROUND, "low", "high", "denominator", "numerators", "within")
FLOOR = (*AROUND, "kind", "ratio", "step", "places", "floor", "starts")


def read_table(text: str) -> Table:
    """Return the table in the text of a file, an exact table or a floor form, once it is proved private.

    Raises
    ------
    TableError
        The text is no such file, was altered, or is not proved to keep its epsilon; one line.
    """
    document = as_object("the file", parse(text))
    if document.get("format") == "optldp-table/2":
        return exact_table(document)
    floor = document.get("format") == "optldp-bundle/1" and document.get("kind") == "floor"
    need(floor, 'a file must be of the format "optldp-table/2", or a bundle of kind "floor"')
    return _floor_form(as_object("the floor form", document, FLOOR))


def exact_table(document: dict[str, Any]) -> Table:
    """Return the exact table in a document once it is proved private; TableError for what is not."""
    need("promise" not in document, "a table must promise pure epsilon-LDP, got another promise")
    as_object("the table", document, TABLE)
    require_denominator(document["denominator"])
    epsilon, knots, unbiased = _around(document)
    low, high = as_ends("low", document["low"]), as_ends("high", document["high"])
    _require_outputs(low, high)
    n, m = len(knots), len(low)
    need(max(n, m) <= MOST_SIDE and n * m <= MOST_ENTRIES, "a table must have fewer knots and outputs")
    tails = _law(document["within"], low, high)
    refuges = {} if tails else _refuges(low, high)
    rows = [as_wholes(f"row {i}", row, 0, DENOMINATOR) for i, row in enumerate(as_list("rows", document["numerators"]))]
    need(len(rows) == n, f"numerators must have a row for each of {n} knots, got {len(rows)}")
    for i, row in enumerate(rows):
        need(len(row) == m, f"row {i} must have a number for each of {m} outputs, got {len(row)}")
        need(sum(row) == DENOMINATOR, f"row {i} must sum to 2^53 exactly")
    limit = exponential_below(epsilon)
    for j, column in enumerate(zip(*rows, strict=True)):
        fits = max(column) * SCALE <= limit * min(column)
        need(fits, f"every ratio must be proved at most e^{epsilon}, got more at output {j}")
    if unbiased:
        means = [_mean(*ends, tails) for ends in zip(low, high, strict=True)]
        sums = (sum(map(mul, means, row), Fraction(0)) for row in rows)
        _require_unbiased(knots, sums, max(map(abs, means)))
    sums = [list(accumulate(row)) for row in rows]
    return _made(document, epsilon, knots, (low, high), sums, refuges, tails)


def _made(
    document: dict[str, Any],
    epsilon: float,
    knots: list[float],
    outputs: tuple[list[float], list[float]],
    sums: Sequence[Sequence[int]],
    refuges: dict[float, float],
    tails: Tails | None,
) -> Table:
    low, high = map(tuple, outputs)
    top = tuple(nextafter(end, -inf) if start < end else end for start, end in zip(low, high, strict=True))
    cells = tails is None and low != high
    return Table(
        document["units"], epsilon, tuple(knots), low, high, document["checksum"], sums, top, refuges, tails, cells
    )  # fmt: skip


def _around(document: dict[str, Any]) -> tuple[float, list[float], bool]:
    """Check what tables and floor forms share; return epsilon, knots, and whether reports claim to be unbiased."""
    require_checksum(document)
    epsilon, knots = checked_epsilon(document["epsilon"]), as_numbers("knots", document["knots"])
    rising = len(knots) > 1 and all(a < b for a, b in pairwise(knots))
    need(rising, "knots must be strictly increasing, at least 2")
    need(1e-100 < knots[-1] - knots[0] < 1e100, "knots must span 1e-100 to 1e100")
    as_text("units", document["units"])
    parameters = checked_provenance(document["provenance"])
    if document["prior"] is not None:
        _require_prior(document["prior"], len(knots))
    return epsilon, knots, parameters.get("unbiased") is True


def require_denominator(value: Any) -> None:
    """Refuse any other denominator than 2^53, written as a whole number."""
    need(type(value) is int and value == DENOMINATOR, f"denominator must be {DENOMINATOR}")


def checked_epsilon(value: Any) -> float:
    """Return a budget, which is from 1e-6 to 16."""
    epsilon = as_number("epsilon", value)
    need(1e-6 <= epsilon <= 16, "epsilon must be in [1e-6, 16]")
    return epsilon


def checked_provenance(value: Any) -> dict[str, Any]:
    """Check how a mechanism came about; return the parameters of its method."""
    origin = as_object("provenance", value, ("method", "parameters", "version", "certificate"))
    as_text("method", origin["method"])
    as_text("version", origin["version"])
    if origin["certificate"] is not None:
        _record("certificate", origin["certificate"])
    return _record("parameters", origin["parameters"])


def _record(name: str, value: Any) -> dict[str, Any]:
    record = as_object(name, value)
    entries = [entry for value in record.values() for entry in (value if isinstance(value, list) else [value])]
    need(
        not any(isinstance(entry, list | dict) for entry in entries), f"{name} must hold plain values or lists of them"
    )
    return record


def _require_prior(value: Any, n: int) -> None:
    prior = as_object("prior", value, ("weights", "rounding", "source"))
    weights, rounding = as_numbers("weights", prior["weights"]), as_numbers("rounding", prior["rounding"])
    fits = (len(weights), len(rounding)) == (n, n - 1) and min(weights + rounding) >= 0
    need(fits, f"a prior must have {n} weights and {n - 1} rounding terms, none negative")
    need(abs(fsum(weights) - 1) <= 1e-9, "the weights of a prior must sum to 1")
    need(prior["source"] in ("public", "private-report", "sensitive"), "a prior must name its source")


def _require_outputs(low: list[float], high: list[float]) -> None:
    need(len(low) == len(high) > 0, "outputs must have as many low as high ends, at least 1")
    outputs, reach = list(zip(low, high, strict=True)), -inf
    need(all(a < b for a, b in pairwise(outputs)), "outputs must be sorted and different")
    for j, (start, end) in enumerate(outputs):
        need(start < end or (start == end and isfinite(start)), f"every output must have low <= high, got another: {j}")
        need(all(abs(x) <= 1e120 or not isfinite(x) for x in (start, end)), "finite ends must be within 1e120")
        need(start == end or start >= reach, f"cells must not overlap the cell before them, got one: output {j}")
        reach = end if start < end else reach


def _law(value: Any, low: list[float], high: list[float]) -> Tails | None:
    within = as_object("within", value)
    if within.get("kind") == "uniform":
        as_object("within", within, ("kind",))
        need(all(map(isfinite, low + high)), "a uniform law needs finite ends")
        return None
    need(within.get("kind") == "geometric-tails", "the law within outputs must be the same for all rows")
    as_object("within", within, ("kind", "step", "ratio"))
    step, ratio = as_number("step", within["step"]), as_number("ratio", within["ratio"])
    need(0 < step <= 1e120, "step must be in (0, 1e120]")
    need(0 < ratio < 1, "ratio must be between 0 and 1")
    left = high[0] if low[0] == -inf else -inf
    right = low[high.index(inf)] if inf in high else inf
    for start, end in zip(low, high, strict=True):
        point, tail = start == end, (start == -inf) != (end == inf)
        need(point or tail, "beside geometric tails there must be only points")
        need(not point or left < start < right, "points must lie between the geometric tails")
    need(left != right, "two geometric tails must have ends of their own")
    return Tails(step, tuple(_digit_odds(ratio)))


def _digit_odds(ratio: float) -> Iterable[int]:
    while (odds := round(ratio / (1 + ratio) * DENOMINATOR)) > 0:
        yield odds
        ratio *= ratio


def _refuges(low: list[float], high: list[float]) -> dict[float, float]:
    """Where a report of a cell goes that equals a point inside it: up to the next double that is none, else down."""
    points = [start for start, end in zip(low, high, strict=True) if start == end]
    above, below, refuges = {}, {}, {}
    for point in points:
        below[point] = below.get(before := nextafter(point, -inf), before)
    for point in reversed(points):
        above[point] = above.get(after := nextafter(point, inf), after)
    for start, end in zip(low, high, strict=True):
        if start < end:
            for point in points[
                bisect_right(points, nextafter(start, -inf)) : bisect_right(points, nextafter(end, -inf))
            ]:
                up, down = above[point], below[point]
                need(up < end or down >= start, "a cell must hold a double that is no point")
                refuges[point] = up if up < end else down
    return refuges


def exponential_below(epsilon: float) -> int:
    """Return a whole number p with p / 2^128 <= e^epsilon: Taylor's series, every term rounded down.

    Example
    -------
    >>> exponential_below(1.1)
    1022264725251957049509428564144370727881
    """
    (a, b), total, term, k = epsilon.as_integer_ratio(), 0, SCALE, 0
    while term > 0:
        total, k = total + term, k + 1
        term = term * a // (b * k)
    return total


def _mean(low: float, high: float, tails: Tails | None) -> Fraction:
    if tails is None or low == high:
        return (Fraction(low) + Fraction(high)) / 2
    beyond = Fraction(sum(odds << i for i, odds in enumerate(tails.odds)), DENOMINATOR) * Fraction(tails.step)
    return Fraction(low) + beyond if high == inf else Fraction(high) - beyond


def _require_unbiased(knots: list[float], sums: Iterable[Fraction], farthest: Fraction) -> None:
    """Check means, given as sums over 2^53, against knots: to 1e-12 of the domain, or 2^-50 of the largest report."""
    width = Fraction(knots[-1]) - Fraction(knots[0])
    for i, (total, knot) in enumerate(zip(sums, map(Fraction, knots), strict=True)):
        off = abs(total / DENOMINATOR - knot)
        fits = off * 10**12 <= width or off * 2**50 <= farthest
        need(fits, f"a table that claims to be unbiased must be so to 1e-12 of its domain, got more at knot {i}")


class _Running(Sequence[int]):
    """Running sums of a row of a floor form, up to and with each output, none of which is kept."""

    def __init__(self, floors: list[int], edges: list[int], start: int, width: int) -> None:
        self.floors, self.edges, self.start, self.width = floors, edges, start, width

    def __len__(self) -> int:
        return len(self.floors)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            return [self[j] for j in range(len(self))[place]]
        return self.floors[place] + min(max(self.edges[place] - self.start, 0), self.width)


def _floor_form(document: dict[str, Any]) -> Table:
    """Prove a floor form: a floor, and a window of a line on which outputs have their extras side by side."""
    epsilon, knots, unbiased = _around(document)
    digits, step = as_text("ratio", document["ratio"]), as_number("step", document["step"])
    need(re.fullmatch("[1-9][0-9]{0,48}", digits) is not None, "ratio must be the digits of a whole number")
    ratio = int(digits)
    need(SCALE < ratio <= exponential_below(epsilon), f"the ratio must be proved at most e^{epsilon}, and above 1")
    need(frexp(step)[0] == 0.5 and 2.0**-1000 <= step <= 2.0**400, "step must be a power of two, 2^-1000 to 2^400")
    places = as_wholes("places", document["places"], -DENOMINATOR, DENOMINATOR)
    floor = as_wholes("floor", document["floor"], 1, DENOMINATOR)
    starts = as_wholes("starts", document["starts"], 0, 2**62)
    need(len(places) == len(floor) > 0 and len(starts) == len(knots), "outputs and knots must have a number each")
    need(max(len(places), len(knots)) <= MOST_SIDE, "a floor form must have fewer knots and outputs")
    reports = [place * step for place in places]
    _require_outputs(reports, reports)
    extras = [t * (ratio - SCALE) // SCALE for t in floor]
    edges, width = list(accumulate(extras)), DENOMINATOR - sum(floor)
    need(0 <= width <= edges[-1] <= 2**62, "floors must leave a window, and extras must fill it")
    for start in starts:
        need(float(start) == start <= edges[-1] - width, "starts must be doubles that leave room for a window")
    if unbiased:
        until = _moment(edges, extras, places)
        base = sum(t * place for t, place in zip(floor, places, strict=True))
        sums = (Fraction(step) * (base + until(start + width) - until(start)) for start in starts)
        _require_unbiased(knots, sums, max(-places[0], places[-1]) * Fraction(step))
    floors = list(accumulate(floor))
    rows = [_Running(floors, edges, start, width) for start in starts]
    return _made(document, epsilon, knots, (reports, reports), rows, {}, None)


def _moment(edges: list[int], extras: list[int], places: list[int]) -> Callable[[int], int]:
    """Return the function of a point on the line of extras: the sum of places up to it."""
    ends = list(accumulate((extra * place for extra, place in zip(extras, places, strict=True)), initial=0))
    begins = [0, *edges]

    def until(point: int) -> int:
        j = min(bisect_right(begins, point), len(places)) - 1
        return ends[j] + (point - begins[j]) * places[j]

    return until
