"""Samplers with one fault each, of the kinds that real clients have had or could have: what an audit must catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from optldp.mechanisms import (
    AttributeSampling,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    laplace,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.key_value import key_value_response, key_value_unary

KNOTS = np.linspace(-1.0, 1.0, 101)
INNER = float(KNOTS[37])

Draw = Callable[..., object]


@dataclass(frozen=True)
class Fault:
    """A sampler that breaks its claim.

    Attributes
    ----------
    mechanism : table or bundle
    sampler : callable
        Given a simulation's generator, returns the faulty sampler.
    samples : int
        Reports that an audit of it may draw.
    options : dict
        Of the audit.
    learned : bool
        Whether only a classifier can see it.
    """

    mechanism: TabulatedMechanism | Bundle
    sampler: Callable[[np.random.Generator], Draw]
    samples: int = 200_000
    options: dict[str, Any] = field(default_factory=dict)
    learned: bool = False


@cache
def cells(epsilon: float = 1.0) -> TabulatedMechanism:
    """An exact table of 101 knots whose reports lie in cells."""
    return make_exact(piecewise(KNOTS, epsilon)).mechanism


@cache
def points(epsilon: float = 1.0) -> TabulatedMechanism:
    """An exact table of 101 knots with two points."""
    return make_exact(duchi(KNOTS, epsilon)).mechanism


@cache
def tails() -> TabulatedMechanism:
    """An exact table of 101 knots whose outermost outputs are lattices that reach infinity."""
    return make_exact(laplace(KNOTS, 1.0)).mechanism


def honest(mechanism: TabulatedMechanism | Bundle, rng: np.random.Generator) -> Draw:
    """The mechanism's own sampler, as a simulation."""
    from optldp.designer.auditing.subjects.registry import sampler_of

    return sampler_of(mechanism, rng)


def changed(mechanism: TabulatedMechanism, change: Callable[..., np.ndarray]) -> Callable[[np.random.Generator], Draw]:
    """A sampler whose honest reports are changed by a function of the values, the reports and a generator."""

    def sampler(rng: np.random.Generator) -> Draw:
        return lambda x: change(x, mechanism.sample(np.clip(x, *mechanism.domain), rng), rng)

    return sampler


def with_bits(reports: np.ndarray, mask: int, bits: np.ndarray) -> np.ndarray:
    """Reports whose bits under the mask are replaced."""
    raw = np.ascontiguousarray(reports).view(np.int64)
    return ((raw & ~np.int64(mask)) | (bits.astype(np.int64) & mask)).view(np.float64)


def last_bit(x, y, rng):
    return with_bits(y, 1, x > 0)


def last_decimal(x, y, rng):
    """Nine digits after the point, the last of them even for positive values and odd for others."""
    billionths = np.rint(y * 1e9).astype(np.int64)
    return (billionths + ((billionths & 1) != (x <= 0))) / 1e9


def multiple_of_three(x, y, rng):
    """The 64 bits are a multiple of three for positive values, and one more for others."""
    raw = y.view(np.uint64)
    return (raw - raw % np.uint64(3) + (x <= 0).astype(np.uint64)).view(np.float64)


def middle_bits(x, y, rng):
    """Sixteen places of the value in the bits from the 24th on."""
    return with_bits(y, 15 << 24, ((x + 1) * 7.99).astype(np.int64) << 24)


def parity_of_bits(x, y, rng):
    """No single byte tells anything: the last bits of two of them together do."""
    raw = y.view(np.int64)
    wanted = (x > 0) ^ ((raw >> 16) & 1).astype(bool)
    return with_bits(y, 1, wanted)


def bit_in_some_places(x, y, rng):
    """A bit tells the value if two bytes of the report are in their lower halves; elsewhere it is a coin as ever."""
    raw = y.view(np.int64)
    there = ((raw & 255) < 64) & ((raw >> 8 & 255) < 128)
    return np.where(there, with_bits(y, 1 << 23, (x > 0) * (1 << 23)), y)


def single_precision(x, y, rng):
    return np.where(x > 0.5, y.astype(np.float32).astype(float), y)


def identity_between_knots(x, y, rng):
    """A client that perturbs values of the table, and forgets those that are not in it."""
    return np.where(np.isin(x, KNOTS), y, x)


def rare_identity_between_knots(x, y, rng):
    return np.where(~np.isin(x, KNOTS) & (rng.random(x.size) < 0.02), x, y)


def inner_knot(x, y, rng):
    """At one knot of 101, a report in thirty lies at the largest report there is."""
    return np.where((x == INNER) & (rng.random(x.size) < 1 / 30), float(cells().high[-1]), y)


def inner_knot_bit(x, y, rng):
    return np.where(x == INNER, with_bits(y, 1, np.ones(x.size)), y)


def rare_atoms(x, y, rng):
    """A double of probability 1e-4 at the largest value alone; it is a report like others."""
    table = cells(0.1)
    return np.where((x == 1.0) & (rng.random(x.size) < 1e-4), (table.low[1] + table.high[1]) / 2, y)


def rare_foreign(x, y, rng):
    """Reports that no table makes, one in a thousand, at the smallest value alone."""
    return np.where((x == -1.0) & (rng.random(x.size) < 1e-3), 0.123, y)


def rejected(x, y, rng):
    """Rejection sampling that gives up, one time in 500, and sends the value."""
    return np.where(rng.random(x.size) < 2e-3, x, y)


def uneven_place(x, y, rng):
    """In its cell a report of a positive value lies further down than it should."""
    table = cells()
    output = table.output_index(y)
    low, width = table.low[output], (table.high - table.low)[output]
    return np.where(x > 0, low + width * ((y - low) / width) ** 4, y)


def missing_at_zero(x, y, rng):
    return np.where(x == 0, np.nan, y)


def infinite_above(x, y, rng):
    return np.where((x > 0.9) & (rng.random(x.size) < 0.01), np.inf, y)


def sign_of_zero(x, y, rng):
    return np.where((x < 0) & (y == 0), -0.0, y)


def clip_tells(x, y, rng):
    """Values outside the domain come back at its end, and their reports one unit further out."""
    return np.where(np.abs(x) > 1, np.nextafter(y, np.inf), y)


def end_tells(x, y, rng):
    return np.where(np.abs(x) >= 1, np.nextafter(y, np.inf), y)


def cut_tails(rng):
    """Noise beyond a distance is drawn again, so that some reports tell what the value is not."""
    table = tails()
    reach = np.quantile(np.abs(table.sample(np.ones(10**5), rng) - 1), 0.98)

    def cut(x):
        reports = table.sample(x, rng)
        while (far := np.abs(reports - x) > reach).any():
            reports[far] = table.sample(x[far], rng)
        return reports

    return cut


def previous_value(rng):
    """One report in five tells the value before."""

    def draw(x):
        before = np.concatenate([x[:1], x[:-1]])
        exact = rng.random(x.size) < 0.2
        return np.where(exact, np.where(before > 0, points().high.max(), points().low.min()), points().sample(x, rng))

    return draw


def used_again(table: TabulatedMechanism, first: int) -> Callable[[np.random.Generator], Draw]:
    """Every second user, from this one on, has the random words of the one before."""

    def sampler(rng):
        def draw(x):
            def words(size):
                drawn = rng.integers(0, 2**64 - 1, size, dtype=np.uint64, endpoint=True)
                drawn[first + 1 :: 2] = drawn[first:-1:2]
                return drawn

            return table.exact_law.draw(x, words)

        return draw

    return sampler


def last_bit_of_the_one_before(rng):
    """The last bit of a report is that of the one before, turned over if the value is positive."""

    def draw(x):
        bits = np.cumsum(np.concatenate([rng.integers(0, 2, 1), (x > 0)[1:]])) & 1
        return with_bits(cells().sample(x, rng), 1, bits)

    return draw


def seeded_per_call(rng):
    return lambda x: cells().sample(x, np.random.default_rng(42))


def same_noise_per_call(rng):
    """Written out: a report is the right point if a random number is small, and the numbers start anew."""
    table = points()

    def draw(x):
        right = np.interp(x, table.knots, table.probabilities[:, 1])
        return table.low[(np.random.default_rng(42).random(x.size) < right).astype(int)]

    return draw


def short_period(rng):
    """The same thousand numbers again and again."""
    pool = np.random.default_rng(7).integers(0, 2**64 - 1, (3, 1000), dtype=np.uint64)

    def draw(x):
        calls = iter(range(10**9))
        return cells().exact_law.draw(x, lambda size: np.resize(pool[next(calls) % 3], size))

    return draw


def hashed_seed(rng):
    """The seed of the hash is the same for a quarter of a category's reports."""
    oracle = local_hashing([str(i) for i in range(40)], 1.0)

    def draw(labels):
        reports = oracle.sample(labels, rng)
        own = labels.astype(int) % oracle.n_hashes
        mine = rng.random(labels.size) < 0.25
        return np.where(mine, own * oracle.n_values + reports % oracle.n_values, reports)

    return draw


def stuck_bit(rng):
    oracle = basic_rappor(list("abcdefghijkl"), 1.0)

    def draw(labels):
        reports = oracle.sample(labels, rng)
        reports[labels == "d", 0] |= 1 << 4  # its own bit is always one
        return reports

    return draw


def beyond_the_bits(rng):
    oracle = optimised_unary(list("abcdefghijkl"), 1.0)

    def draw(labels):
        reports = oracle.sample(labels, rng)
        reports[labels == "k", 1] |= (rng.random(np.count_nonzero(labels == "k")) < 0.02).astype(np.uint8)
        return reports

    return draw


def never_an_answer(rng):
    oracle = categorical_grr(list("abcdefgh"), 1.0)

    def draw(labels):
        reports = oracle.sample(labels, rng)
        return np.where((labels == "c") & (reports == 5), 6, reports)

    return draw


def sharp_level():
    levels = [categorical_grr(list("abcd"), epsilon) for epsilon in (0.5, 1.0)]
    return PersonalisedMechanism(levels, 0.8)


def level_leak(rng):
    """At the second level, every tenth report is the value."""
    mechanism = sharp_level()

    def draw(values, levels):
        sent = mechanism.sample(values, levels, rng)
        plain = (levels == 1) & (rng.random(levels.size) < 0.1)
        return PersonalisedReports(sent.levels, np.where(plain, mechanism.inputs.values.admitted(values), sent.reports))

    return draw


def level_by_value(rng):
    """Who holds the last category reports another level more often."""
    mechanism = sharp_level()

    def draw(values, levels):
        sent = mechanism.sample(values, levels, rng)
        return PersonalisedReports(np.where(values == "d", 0, sent.levels), sent.reports)

    return draw


@cache
def pairs(form):
    return form(["a", "b", "c", "d"], duchi([0.0, 10.0], 1.0), 1.0)


def pair_always_shown(rng):
    """A user's own keys are drawn again if they are not shown."""
    mechanism = pairs(key_value_unary)

    def draw(users, keys, values, n):
        first, second = (mechanism.sample_sets(users, keys, values, n, rng) for _ in range(2))
        own = np.zeros(first.shape, dtype=bool)
        own[users, mechanism.keys.codes(keys)] = True
        return np.where(own & (first == 0), second, first)

    return draw


def pair_without_value(rng):
    """The output of a real key is the value's, whatever the table says."""
    mechanism = pairs(key_value_response)

    def draw(users, keys, values, n):
        reports = mechanism.sample_sets(users, keys, values, n, rng)
        high = np.zeros(n, dtype=bool)
        high[users[values > 5]] = True
        return reports // 2 * 2 + high

    return draw


@cache
def attributes():
    tables = {name: make_exact(duchi(np.linspace(0, top, 5), 0.5)).mechanism for name, top in (("age", 90), ("pay", 9))}
    return AttributeSampling.of(tables | {"hours": make_exact(piecewise([0, 40, 80], 0.5)).mechanism}, 2, 1.0)


def attribute_by_value(rng):
    """Who is old never reports the pay."""

    def draw(values):
        reports = attributes().sample(values, rng)
        reports["pay"][values["age"] > 80] = np.nan
        return reports

    return draw


def attributes_in_full(rng):
    """All three attributes are reported, each at its own budget: one and a half in all."""
    whole = AttributeSampling(attributes().attributes, attributes().mechanisms, 3, 1.5)
    return lambda values: whole.sample(values, rng)


def zero_table():
    """Three points, zero among them."""
    matrix = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]
    table = TabulatedMechanism.from_points([-1.0, 1.0], [-1.0, 0.0, 1.0], matrix, 1.0)
    return make_exact(table).mechanism


MILLION = 1_000_000

FAULTS: dict[str, Fault] = {
    "the last bit tells the value": Fault(cells(), changed(cells(), last_bit)),
    "the last decimal digit tells the value": Fault(cells(), changed(cells(), last_decimal)),
    "the remainder of the bits by three tells the value": Fault(cells(), changed(cells(), multiple_of_three)),
    "bits in the middle tell the value": Fault(cells(), changed(cells(), middle_bits)),
    "two bits tell the value together": Fault(cells(), changed(cells(), parity_of_bits)),
    "a bit that tells the value in some places": Fault(cells(), changed(cells(), bit_in_some_places), learned=True),
    "single precision for some values": Fault(cells(), changed(cells(), single_precision)),
    "values between knots as they are": Fault(cells(), changed(cells(), identity_between_knots)),
    "some values between knots as they are": Fault(cells(), changed(cells(), rare_identity_between_knots), MILLION),
    "values between knots as they are, points": Fault(points(), changed(points(), identity_between_knots)),
    "one inner knot of 101": Fault(cells(), changed(cells(), inner_knot), MILLION),
    "the last bit at one inner knot of 101": Fault(cells(), changed(cells(), inner_knot_bit), MILLION),
    "atoms of probability 1e-4": Fault(cells(0.1), changed(cells(0.1), rare_atoms), MILLION),
    "reports of probability 1e-3 that are none": Fault(points(), changed(points(), rare_foreign), MILLION),
    "rejection that gives up": Fault(cells(), changed(cells(), rejected), MILLION),
    "an uneven place in the cell": Fault(cells(), changed(cells(), uneven_place)),
    "NaN for one value": Fault(cells(), changed(cells(), missing_at_zero)),
    "infinity for some values": Fault(cells(), changed(cells(), infinite_above), MILLION),
    "the sign of zero": Fault(zero_table(), changed(zero_table(), sign_of_zero)),
    "values outside leave a mark": Fault(points(), changed(points(), clip_tells), options={"outside": True}),
    "the ends leave a mark": Fault(points(), changed(points(), end_tells)),
    "tails are cut": Fault(tails(), cut_tails, MILLION),
    "a claim 10% too small": Fault(cells(), lambda rng: honest(cells(), rng), MILLION, {"epsilon": 0.9}),
    "the value before": Fault(points(), previous_value, MILLION),
    "a random word used again for the next user": Fault(points(), used_again(points(), 0)),
    "a random word used again for the next user, from the second on": Fault(points(), used_again(points(), 1)),
    "a random word used again for the next user, cells": Fault(cells(), used_again(cells(), 1)),
    "the last bit of the report before": Fault(cells(), last_bit_of_the_one_before),
    "a generator that starts anew in every call": Fault(cells(), seeded_per_call),
    "the same numbers in every call": Fault(points(), same_noise_per_call),
    "a generator of a short period": Fault(cells(), short_period),
    "a hash's seed that depends on the category": Fault(local_hashing([str(i) for i in range(40)], 1.0), hashed_seed),
    "a bit that is stuck": Fault(basic_rappor(list("abcdefghijkl"), 1.0), stuck_bit),
    "bits beyond the last category": Fault(optimised_unary(list("abcdefghijkl"), 1.0), beyond_the_bits),
    "an answer that one category never gives": Fault(categorical_grr(list("abcdefgh"), 1.0), never_an_answer),
    "one level leaks": Fault(sharp_level(), level_leak),
    "the level depends on the value": Fault(sharp_level(), level_by_value),
    "a key that is shown too often": Fault(pairs(key_value_unary), pair_always_shown),
    "a pair whose value is not randomised": Fault(pairs(key_value_response), pair_without_value),
    "attributes that depend on the values": Fault(attributes(), attribute_by_value),
    "all attributes at once": Fault(attributes(), attributes_in_full, MILLION),
}
