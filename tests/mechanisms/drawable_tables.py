"""Tables, and all that draws from one, each with the law that is proved of it, written out in fractions.

What is new in `optldp.mechanisms` and draws needs a case here; `test_sampled_laws.py` finds it and fails without one.
"""

# Cases know which kind of mechanism they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import os
import tempfile
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from optldp.designer import Prior
from optldp.designer.methods.lattice import lattice_mechanism
from optldp.mechanisms import FAMILIES, Sampler, TabulatedMechanism, make_exact
from optldp.mechanisms.channel import Channel
from optldp.mechanisms.documents.table import document_to_table
from optldp.mechanisms.ledger import Ledger, new_ledger_key
from optldp.mechanisms.ledger.booked import booked
from optldp.mechanisms.pseudorandom import KeyedReports, Secret
from optldp.mechanisms.pseudorandom.words import ReportWords
from optldp.mechanisms.sampling.random_words import random_words
from optldp.mechanisms.table.exact_sampling import ExactLaw

from .exact_documents import GOOD
from .law_enumeration import Call, D, Idle, Law, Turns, always

IDLE = always(Idle())


@dataclass(frozen=True)
class Case:
    """One sampler: how to draw once, what its words decide, and what must come out.

    `covers` names classes' methods and functions; `draw` and `expected` take an input, and so does `calls`, the
    requests for words in turn. Of inputs that are `alike` the laws must be within e^epsilon of one another, and the
    largest ratio at most `proved`.
    """

    name: str
    covers: tuple[str, ...]
    inputs: Sequence[Any]
    draw: Callable[[Any], Hashable]
    calls: Callable[[Any], Sequence[Call]]
    expected: Callable[[Any], Law]
    epsilon: float | None = None
    proved: Fraction | None = None
    alike: Callable[[Any], Hashable] = lambda value: None


def mixed(parts: Sequence[tuple[Fraction, Law]]) -> Law:
    """The mixture of laws with these weights, without outcomes of probability zero."""
    total: Law = {}
    for weight, law in parts:
        for outcome, probability in law.items():
            if weight * probability:
                total[outcome] = total.get(outcome, Fraction(0)) + weight * probability
    return total


def weight_between_knots(table: TabulatedMechanism, x: float) -> tuple[int, int]:
    """The left knot of a value, and the right one's share over 2^53, within 2^-51 of what is linear in the value."""
    knots = table.knots.tolist()
    k = min(max(i for i, knot in enumerate(knots) if knot <= x), len(knots) - 2)
    weight = round((x - knots[k]) / (knots[k + 1] - knots[k]) * D)
    linear = (Fraction(x) - Fraction(knots[k])) / (Fraction(knots[k + 1]) - Fraction(knots[k]))
    assert abs(Fraction(weight, D) - linear) < Fraction(1, 2**51)
    return k, weight


def row_law(numerators: Sequence[int]) -> Law:
    return {j: Fraction(one, D) for j, one in enumerate(numerators) if one}


def table_law(table: TabulatedMechanism, x: float) -> Law:
    """Output numbers at a value: two rows of numerators, mixed."""
    k, weight = weight_between_knots(table, x)
    rows = table.numerators.tolist()
    return mixed([(Fraction(D - weight, D), row_law(rows[k])), (Fraction(weight, D), row_law(rows[k + 1]))])


def running(rows: Sequence[Sequence[int]]) -> Turns:
    """Where running sums of these rows are passed."""
    return Turns.at53(np.cumsum(np.array(rows), axis=1).ravel().tolist())


def table_calls(table: TabulatedMechanism, x: float) -> list[Call]:
    """The row, the output, and then what the output does not depend on."""
    return [always(Turns.at53([weight_between_knots(table, x)[1]])), always(running(table.numerators.tolist())), IDLE]


def table_inputs(table: TabulatedMechanism) -> list[float]:
    """Knots and their neighbours, values between, the least one above zero."""
    knots, (low, high) = table.knots, table.domain
    beside = [*np.nextafter(knots, -np.inf), *np.nextafter(knots, np.inf)]
    between = [low + 0.37 * (high - low), (knots[0] + knots[1]) / 2, 5e-324, -5e-324, -0.0]
    return sorted({float(x) for x in [*knots, *beside, *between] if low <= x <= high})


def table_case(
    name: str, table: TabulatedMechanism, covers: str, way: Callable[[float], Any], inputs: Sequence[float]
) -> Case:
    """One way to draw a report of a table: its output, and whether any of its places is found elsewhere."""
    by_index = covers.endswith("_index")

    def draw(x: float) -> Hashable:
        return int(way(x)[0] if by_index else table.output_index(way(x))[0])

    ratios = [(max(column), min(column)) for column in table.numerators.T.tolist() if any(column)]
    return Case(
        name,
        (covers,),
        inputs,
        draw,
        lambda x: table_calls(table, x),
        lambda x: table_law(table, x),
        table.epsilon,
        max(Fraction(most, least) for most, least in ratios),
    )


def tables() -> dict[str, TabulatedMechanism]:
    """All families in whole numbers, AAA's lattice, and the documents of hostile domains."""
    knots = [-1.0, 0.3, 1.0]
    found = {
        name: make_exact(family(knots, 1.3), **({"spacing": 1.0} if name in ("laplace", "ptt2") else {})).mechanism
        for name, family in FAMILIES.items()
    }
    prior = Prior.on_knots(np.array([-1.0, 0.0, 1.0]), [1, 2, 1], source="public")
    found["aaa"] = make_exact(lattice_mechanism(prior, 1.0, window=3)).mechanism
    plain = {name: made for name, made in GOOD.items() if name not in found and len(made["low"]) <= 12}
    return found | {name: document_to_table(made) for name, made in plain.items()}


def table_cases() -> list[Case]:
    made = []
    for name, table in tables().items():
        way = lambda x, t=table: t.sample([x])  # noqa: E731 -- as short as it is
        made.append(table_case(name, table, "TabulatedMechanism.sample", way, table_inputs(table)))
        way = lambda x, t=table: t.sample_index([x])  # noqa: E731
        made.append(table_case(f"{name}, index", table, "TabulatedMechanism.sample_index", way, table_inputs(table)))
    table = tables()["duchi"]
    law = ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)
    sampler = Sampler(table)
    ways = {
        "Sampler.sample": lambda x: sampler.sample([x]),
        "Sampler.sample_index": lambda x: sampler.sample_index([x]),
        "ExactLaw.draw_index": lambda x: law.draw_index(np.array([x]), random_words(None)),
        "ExactLaw.draw": lambda x: law.draw(np.array([x]), random_words(None)),
        "Ledger.report": lambda x: _from_new_ledger(sampler, x),
        "BookedMechanism.draw": lambda x: booked_report(table, x),
        "TabulatedMechanism.draw": lambda x: table.draw(np.array([x]), random_words(None)),
        "TabulatedMechanism.draw_index": lambda x: table.draw_index(np.array([x]), random_words(None)),
    }
    inputs = [-1.0, 0.1, 1.0]
    ways |= {f"KeyedReports.{way}": keyed(table, way) for way in ("sample", "sample_index")}
    cases = [table_case(name, table, name, way, inputs) for name, way in ways.items()]
    cases = [replace(case, calls=digest_calls(case)) if "Keyed" in case.name else case for case in cases]
    return [*made, *cases, rows_case(table, law)]


def keyed(table: TabulatedMechanism, way: str) -> Callable[[float], Any]:
    """A draw by keyed words whose digests are random: what is left is how words become reports."""
    made = getattr(KeyedReports(table, Secret(bytes(range(32)))), way)

    def drawn(x: float) -> Any:
        with patch.object(ReportWords, "digest", lambda *parts: os.urandom(32)):
            return made(["ann"], [x])

    return drawn


def digest_calls(case: Case) -> Callable[[Any], list[Call]]:
    """A digest is four words, of which a request takes the first, the next one the second."""

    def calls(x: Any) -> list[Call]:
        row, output, *_ = case.calls(x)
        return [Call(lambda coin: (row.how(0), output.how(0), Idle(), Idle())[coin])]

    return calls


def _from_new_ledger(sampler: Sampler, x: float) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        return [Ledger.create(Path(folder, "ledger"), KEY, 2.0).report(sampler, "ann", x)]


def booked_report(mechanism: Channel, value: Any) -> Any:
    """A report by the form in which a ledger books its mechanism."""
    form = booked(mechanism)
    return form.read(form.draw(form.content(value)))


KEY = new_ledger_key()


def rows_case(table: TabulatedMechanism, law: ExactLaw) -> Case:
    """Rounding to a knot alone."""

    def expected(x: float) -> Law:
        k, weight = weight_between_knots(table, x)
        return mixed([(Fraction(D - weight, D), {k: Fraction(1)}), (Fraction(weight, D), {k + 1: Fraction(1)})])

    return Case(
        "ExactLaw.rows",
        ("ExactLaw.rows",),
        table_inputs(table),
        lambda x: int(law.rows(np.array([x]), random_words(None))[0]),
        lambda x: table_calls(table, x)[:1],
        expected,
    )
