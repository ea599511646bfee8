"""Drawable things beside tables, each with the law that is proved of it: categories, pairs, bundles, functions."""

# Cases know which kind of mechanism they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod
from typing import Any

import numpy as np
from optldp.mechanisms import FAMILIES, AttributeSampling, PersonalisedMechanism, TabulatedMechanism, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.categorical.unary_encoding import bernoulli
from optldp.mechanisms.combinators.level_report import LevelReport
from optldp.mechanisms.combinators.rounded_oracle import RoundedOracle
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.key_value.unary import KeyValueUnary
from optldp.mechanisms.over_time import Panel
from optldp.mechanisms.sampling.random_words import draw53, random_words
from optldp.mechanisms.sampling.subsets import random_choices, random_subsets, uniform_below
from optldp.mechanisms.spaces.levels import HeldAtLevels
from optldp.mechanisms.spaces.pairs import SampledPairs, sampled_pairs
from optldp.mechanisms.table.exact_sampling import ordered_bits, rounded

from .drawable_records import feature_cases, way_cases
from .drawable_tables import (
    Case,
    booked_report,
    mixed,
    row_law,
    running,
    table_calls,
    table_case,
    table_cases,
    table_inputs,
    table_law,
    weight_between_knots,
)
from .floor_forms import by_hand
from .key_value_laws import all_reports, pair_law, set_law, three_outputs
from .law_enumeration import Call, D, Idle, Law, Residues, Turns, always

Held = tuple[tuple[int, float], ...]
"""A user's pairs: the number of the key, and the value."""


def categorical_cases() -> list[Case]:
    """Every mechanism for categories, by labels, by codes, and by its own draw."""
    names = ["a", "b", "c"]
    table, unary, hashing = categorical_grr(names, 1.0), optimised_unary(names, 1.0), local_hashing("abcde", 1.0)
    subsets, geometry = subset_selection("abcd", 0.5), projective_geometry("abcde", 1.0, order=2)

    def unary_law(code: int) -> Law:
        p, q = Fraction(unary.own_one, D), Fraction(unary.other_one, D)
        law: Law = {}
        for bits in product((0, 1), repeat=3):
            chances = [p if k == code else q for k in range(3)]
            shares = [chance if bit else 1 - chance for chance, bit in zip(chances, bits, strict=True)]
            law[(int("".join(map(str, bits)), 2) << 5,)] = shares[0] * shares[1] * shares[2]
        return law

    def hashing_law(code: int) -> Law:
        g, seeds = hashing.n_values, hashing.n_hashes
        law: Law = {}
        for seed in range(seeds):
            chance = Fraction((2**64 - seed + seeds - 1) // seeds, 2**64)
            mine = int(hashing.hashes(np.array([code]), np.array([seed]))[0])
            for value in range(g):
                share = hashing.own_value if value == mine else (D - hashing.own_value) // (g - 1)
                law[(seed * g + value,)] = chance * Fraction(share, D)
        return law

    def subsets_law(code: int) -> Law:
        own, law = Fraction(subsets.own_chosen, D), {}
        for one, other in combinations(range(4), 2):
            share = own / 3 if code in (one, other) else (1 - own) / 3
            law[(2 ** (7 - one) + 2 ** (7 - other),)] = share
        return law

    def geometry_law(code: int) -> Law:
        """Of the seven points of the Fano plane, as three bits: three have evenly many in common with a category."""
        own, even = Fraction(geometry.own_supported, D), [(u & (code + 1)).bit_count() % 2 == 0 for u in range(1, 8)]
        return {(report,): own / 3 if on else (1 - own) / 4 for report, on in enumerate(even)}

    steps = [hashing.own_value + k * hashing.other_value for k in range(hashing.n_values)]
    kinds = [
        (table, [always(running(table.numerators.tolist()))], lambda code: {
            (j,): share for j, share in row_law(table.numerators[code].tolist()).items()
        }),
        (unary, [*bernoulli_calls(unary.other_one, 3), *bernoulli_calls(unary.own_one, 1)], unary_law),
        (hashing, [always(Residues(hashing.n_hashes)), always(Turns.at53(steps))], hashing_law),
        (subsets, [
            always(Turns.at53([subsets.own_chosen])), *(always(Residues(n, redrawn=True)) for n in (3, 2)),
        ], subsets_law),
        (geometry, [
            always(Turns.at53([geometry.own_supported])), *(always(Residues(n, redrawn=True)) for n in (3, 4)),
        ], geometry_law),
    ]  # fmt: skip
    cases = []
    for made, calls, law in kinds:
        labels = made.categories.labels
        ways = {
            "sample": lambda code, m=made, t=labels: m.sample([t[code]]),
            "sample_codes": lambda code, m=made: m.sample_codes([code]),
            "draw": lambda code, m=made: m.draw(np.array([code]), random_words(None)),
            "BookedMechanism.draw": lambda code, m=made, t=labels: booked_report(m, t[code]),
        }
        for way, drawn in ways.items():
            name = way if "." in way else f"{type(made).__name__}.{way}"
            codes, ratio = range(len(labels)), made.largest_ratio
            draw = lambda code, d=drawn: tuple(np.ravel(d(code)).tolist())  # noqa: E731
            title = f"{name} of {type(made).__name__}"
            cases.append(Case(title, (name,), codes, draw, lambda code, c=calls: c, law, made.epsilon, ratio))
        report = LevelReport(len(labels), made)
        places = {tuple(np.ravel(one).tolist()): place for place, one in enumerate(made.all_reports())}

        def level(code: int, r=report) -> Hashable:
            return (int(r.draw(np.array([code]), random_words(None))[0]),)

        def level_law(code: int, law=law, places=places) -> Law:
            return {(places[sent],): chance for sent, chance in law(code).items()}

        title = f"LevelReport.draw of {type(made).__name__}"
        calls_of = lambda code, c=calls: c  # noqa: E731
        ratio = made.largest_ratio
        cases.append(
            Case(title, ("LevelReport.draw",), range(len(labels)), level, calls_of, level_law, made.epsilon, ratio)
        )
    return cases


def bernoulli_calls(numerator: int, size: int) -> list[Call]:
    """Sixteen bits for each of `size` ones or zeros, four to a word, and 48 more where they tie."""
    leading, following = divmod(numerator << 11, 2**48)
    first = Call(lambda coin: Turns((leading, leading + 1)) if coin < size else Idle(), quarters=True)
    return [first, always(Turns((following << 16,)))]


def key_value_cases() -> list[Case]:
    """Both forms, users of no pair, of one and of two, and one between two knots."""
    value = three_outputs(0.9)
    point = make_exact(FAMILIES["duchi"]([0.0, 1.0], 0.9)).mechanism
    response = key_value_response(["a", "b"], value, 1.0, padding=2)
    unary = key_value_unary(["a", "b"], point, 1.0, padding=1)
    cases = []
    for made in (response, unary):
        table, pairs = made.value, {}
        form, is_unary = type(made).__name__, made is unary
        last = shown_calls(made)

        def law(held: Held, m=made, p=pairs) -> Law:
            return law_of_pairs(m, held, p)

        def calls(held: Held, m=made, rest=last) -> list[Call]:
            return [always(sampled_residues(m, held)), rounding_call(m, held), *rest]

        def sample(held: Held, m=made) -> Hashable:
            keys, values = [m.keys.labels[key] for key, _ in held], [x for _, x in held]
            return _told(m.sample(keys or [""], values or [float("nan")]))

        def sample_sets(held: Held, m=made) -> Hashable:
            keys, values = [m.keys.labels[key] for key, _ in held], [x for _, x in held]
            return _told(m.sample_sets(np.zeros(len(held), dtype=int), np.array(keys, dtype=str), values, 1))

        def book(held: Held, m=made) -> Hashable:
            return _told(np.array(booked_report(m, {m.keys.labels[key]: x for key, x in held})))

        def draw(place_and_row: tuple[int, int], m=made) -> Hashable:
            places, rows = np.array([place_and_row[0]]), np.array([place_and_row[1]])
            return _told(m.draw(SampledPairs(places, m.value.knots[rows]), random_words(None)))

        knots, middle = table.knots.tolist(), float(table.knots[0] + 0.3 * (table.knots[1] - table.knots[0]))
        singles = [((0, knots[0]),), ((1, middle),), ((0, knots[-1]),)]
        both = [((0, knots[0]), (1, knots[-1])), ((0, knots[-1]), (1, knots[0]))]
        shared = calls, law, made.epsilon, made.largest_ratio
        cases += [
            Case(f"{form}.sample", (f"{form}.sample",), [(), *singles], sample, *shared),
            Case(f"{form}.sample_sets", (f"{form}.sample_sets",), [(), *both], sample_sets, *shared),
            Case(f"BookedMechanism.draw of {form}", ("BookedMechanism.draw",), [(), *both], book, *shared),
            Case(
                f"{form}.draw",
                (f"{form}.draw",),
                [(0, 0), (1, len(knots) - 1)],
                draw,
                lambda pair, m=made, k=knots, c=last: [rounding_call(m, ((pair[0], k[pair[1]]),)), *c],
                lambda pair, m=made, u=is_unary: dict(zip(_outcomes(m, u), pair_law(m, u, *pair), strict=True)),
            ),
        ]
    return cases


def shown_calls(made: Any) -> list[Call]:
    """What is shown of a place and of the row that its value was rounded to."""
    true, fake = made.value.numerators.tolist(), [made.fake.tolist()]
    if isinstance(made, KeyValueUnary):
        places = [*bernoulli_calls(made.other, 2), always(running(fake)), *bernoulli_calls(made.own, 1)]
        return [*places, always(running(true))]
    places = Turns.at53(made.own + k * made.other for k in range(made.n_places))
    return [always(places), always(running([*true, *fake]))]


def sampled_residues(made: Any, held: Held) -> Residues:
    return Residues(max(len(held), made.padding, 1), dropped=11)


def rounding_call(made: Any, held: Held) -> Call:
    return always(Turns.at53(weight_between_knots(made.value, x)[1] for _, x in held))


def law_of_pairs(made: Any, held: Held, kept: dict[Any, Any]) -> Law:
    """Reports of a set of pairs, values between knots rounded."""
    unary, parts = isinstance(made, KeyValueUnary), []
    for chosen in product(*(_roundings(made.value, x) for _, x in held)):
        share = prod((weight for weight, _ in chosen), start=Fraction(1))
        rows = [(key, row) for (key, _), (_, row) in zip(held, chosen, strict=True)]
        parts.append((share, dict(zip(_outcomes(made, unary), set_law(made, unary, rows, kept), strict=True))))
    return mixed(parts)


def levels_of_pairs_cases() -> list[Case]:
    """Pairs by randomised response at two levels, the level by randomised response, too.

    Unary pairs at two levels take minutes to enumerate; `key_value_cases` has their draws at one.
    """
    cases = []
    tables = [make_exact(FAMILIES["duchi"]([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 0.9)]
    made = PersonalisedMechanism([key_value_response(["a", "b"], t, t.epsilon, padding=1) for t in tables], 0.3)
    response, kept, first = made.level_report.protocol, [{}, {}], made.levels[0]
    assert response is not None
    told = response.numerators

    def law(given: tuple[Held, int]) -> Law:
        held, level = given
        own, levels = law_of_pairs(made.levels[level], held, kept[level]), row_law(told[level].tolist())
        return {(i, report): levels[i] * own[report] for i, report in product(levels, own)}

    def calls(given: tuple[Held, int]) -> list[Call]:
        shown = [call for one in made.levels for call in (rounding_call(one, given[0]), *shown_calls(one))]
        return [always(sampled_residues(made.levels[0], given[0])), *shown, always(running(told.tolist()))]

    def sample(given: tuple[Held, int]) -> Hashable:
        keys, values = [first.keys.labels[key] for key, _ in given[0]], [x for _, x in given[0]]
        sent = made.sample((keys or [""], values or [float("nan")]), [given[1]])
        return int(sent.levels[0]), _told(sent.reports)

    def sample_sets(given: tuple[Held, int]) -> Hashable:
        keys, values = [first.keys.labels[key] for key, _ in given[0]], [x for _, x in given[0]]
        held = first.inputs.of_sets(np.zeros(len(keys), dtype=int), np.array(keys, dtype=str), values, 1)
        sent = made.draw(
            made.inputs.sampled(HeldAtLevels(held, np.array([given[1]])), words := random_words(None)), words
        )
        return int(sent.levels[0]), _told(sent.reports)

    singles: list[Held] = [(), ((0, 0.0),), ((1, 0.3),)]
    sets: list[Held] = [(), ((0, 0.0), (1, 1.0))]
    for way, drawn, inputs in (("sample", sample, singles), ("draw", sample_sets, sets)):
        name, given = f"PersonalisedMechanism.{way}", list(product(inputs, range(2)))
        title = f"{name} of {type(made.levels[0]).__name__}"
        cases.append(Case(title, (name,), given, drawn, calls, law, 0.9, alike=lambda value: value[1]))
    return cases


def _roundings(table: TabulatedMechanism, x: float) -> list[tuple[Fraction, int]]:
    k, weight = weight_between_knots(table, x)
    return [(share, row) for share, row in ((Fraction(D - weight, D), k), (Fraction(weight, D), k + 1)) if share]


def _outcomes(made: Any, unary: bool) -> list[tuple[int, ...]]:
    reports = all_reports(made, unary)
    return reports if unary else [(number,) for number in range(len(reports))]


def _told(reports: np.ndarray) -> Hashable:
    return tuple(np.ravel(reports).tolist())


def bundle_cases() -> list[Case]:
    """Personalised budgets, of categories and of numbers, and several attributes."""
    grrs = PersonalisedMechanism([categorical_grr("abc", epsilon) for epsilon in (0.5, 1.0)], 0.3)
    levels = [make_exact(FAMILIES["duchi"]([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 1.0)]
    duchis = PersonalisedMechanism(levels)
    response = grrs.level_report.protocol
    assert response is not None

    def of_categories(given: tuple[int, int]) -> Law:
        code, level = given
        own = row_law(grrs.levels[level].numerators[code].tolist())
        told = row_law(response.numerators[level].tolist())
        return {(i, report): told[i] * own[report] for i, report in product(told, own)}

    def of_numbers(given: tuple[float, int]) -> Law:
        x, level = given
        law = table_law(levels[level], x)
        return {(level, float(levels[level].low[j])): probability for j, probability in law.items()}

    def sent(made: PersonalisedMechanism, value: Any, level: int) -> Hashable:
        reports = made.sample([value], [level])
        return int(reports.levels[0]), reports.reports[0].item()

    grr_calls = [always(running(level.numerators.tolist())) for level in (*grrs.levels, response)]
    three = AttributeSampling.of(dict.fromkeys("xyz", levels[0]), 2, 1.0)

    def of_attributes(values: tuple[float, ...]) -> Law:
        laws = [{float(levels[0].low[j]): p for j, p in table_law(levels[0], x).items()} for x in values]
        parts: list[tuple[Fraction, Law]] = []
        for chosen in combinations(range(3), 2):
            choices = [list(laws[k].items()) if k in chosen else [(None, Fraction(1))] for k in range(3)]
            law = {
                tuple(report for report, _ in drawn): drawn[0][1] * drawn[1][1] * drawn[2][1]
                for drawn in product(*choices)
            }
            parts.append((Fraction(1, 3), law))
        return mixed(parts)

    def attributes_sent(values: tuple[float, ...]) -> Hashable:
        reports = three.sample({name: [x] for name, x in zip("xyz", values, strict=True)})
        return tuple(None if np.isnan(reports[name][0]) else float(reports[name][0]) for name in "xyz")

    def attributes_drawn(values: tuple[float, ...]) -> Hashable:
        (report,) = three.draw(np.array([values]), random_words(None))
        return tuple(None if np.isnan(each) else float(each) for each in report)

    def attributes_booked(values: tuple[float, ...]) -> Hashable:
        reports = booked_report(three, dict(zip("xyz", values, strict=True)))
        return tuple(None if np.isnan(reports[name]) else reports[name] for name in "xyz")

    oracle = categorical_grr(range(2), 1.0)
    panel = Panel(oracle, 4, 1, 1.0, "0" * 32)
    on_knots = RoundedOracle(levels[0].knots, oracle)

    def of_rounded(x: float) -> Law:
        return mixed([(share, row_law(oracle.numerators[row].tolist())) for share, row in _roundings(levels[0], x)])

    both = PersonalisedMechanism([AttributeSampling.of({"x": t, "y": t}, 1, t.epsilon) for t in levels])

    def of_levels_of_attributes(given: tuple[tuple[float, float], int]) -> Law:
        values, level = given
        table, half = levels[level], Fraction(1, 2)
        alone = [{float(table.low[j]): p for j, p in table_law(table, x).items()} for x in values]
        placed = [
            {(level, (y, None)): p for y, p in alone[0].items()},
            {(level, (None, y)): p for y, p in alone[1].items()},
        ]
        return mixed([(half, law) for law in placed])

    def levels_of_attributes_sent(given: tuple[tuple[float, float], int]) -> Hashable:
        reports = both.sample([given[0]], [given[1]])
        told = tuple(None if np.isnan(report) else float(report) for report in reports.reports[0])
        return int(reports.levels[0]), told

    return [
        Case(
            "RoundedOracle.sample",
            ("RoundedOracle.sample",),
            [0.0, 0.3, 1.0],
            lambda x: int(on_knots.sample([x])[0]),
            lambda x: [table_calls(levels[0], x)[0], always(running(oracle.numerators.tolist()))],
            of_rounded,
            1.0,
        ),
        Case(
            "PersonalisedMechanism.sample",
            ("PersonalisedMechanism.sample",),
            [((0.0, 0.3), 0), ((1.0, 0.3), 0), ((0.0, 0.3), 1), ((0.3, 1.0), 1)],
            levels_of_attributes_sent,
            lambda given: [
                call
                for level in levels
                for call in (
                    always(Residues(2, redrawn=True)),
                    *(each for x in given[0] for each in table_calls(level, x)[:2]),
                )
            ],
            of_levels_of_attributes,
            1.0,
            alike=lambda given: given[1],
        ),
        Case(
            "PersonalisedMechanism.sample, categories",
            ("PersonalisedMechanism.sample",),
            list(product(range(3), range(2))),
            lambda given: sent(grrs, "abc"[given[0]], given[1]),
            lambda given: grr_calls,
            of_categories,
            1.0,
            alike=lambda given: given[1],
        ),
        Case(
            "PersonalisedMechanism.sample, numbers",
            ("PersonalisedMechanism.sample",),
            [(x, level) for level in range(2) for x in (0.0, 0.3, 1.0)],
            lambda given: sent(duchis, *given),
            lambda given: [call for level in levels for call in table_calls(level, given[0])[:2]],
            of_numbers,
            1.0,
            alike=lambda given: given[1],
        ),
        Case(
            "Panel.draw",
            ("Panel.draw",),
            [0, 1],
            lambda code: int(panel.draw(np.array([code]), random_words(None))[0]),
            lambda code: [always(running(oracle.numerators.tolist()))],
            lambda code: row_law(oracle.numerators[code].tolist()),
            1.0,
        ),
        *(
            Case(
                f"{name} of attributes",
                (name,),
                [(0.0, 0.3, 1.0), (1.0, 0.3, 0.0), (1.0, 1.0, 1.0)],
                drawn,
                lambda values: [
                    *(always(Residues(size, redrawn=True)) for size in (3, 2)),
                    *(call for x in values for call in table_calls(levels[0], x)[:2]),
                ],
                of_attributes,
                1.0,
            )
            for name, drawn in (
                ("AttributeSampling.sample", attributes_sent),
                ("BookedMechanism.draw", attributes_booked),
                ("AttributeSampling.draw", attributes_drawn),
            )
        ),
    ]


def function_cases() -> list[Case]:
    """Functions that are handed a source of words."""
    thresholds = [1, 2**37, 2**37 + 1, 2**52 - 1, D - 1]

    def whether(chance: Fraction) -> Law:
        return mixed([(chance, {1: Fraction(1)}), (1 - chance, {0: Fraction(1)})])

    ends = make_exact(FAMILIES["duchi"]([0.0, 0.25, 1.0], 1.0)).mechanism

    return [
        Case(
            "rounded",
            ("rounded",),
            [0.0, 0.1, 0.25, 0.7, 1.0],
            lambda x: int(rounded(ends.knots, ordered_bits(ends.knots), np.array([x]), random_words(None))[0]),
            lambda x: table_calls(ends, x)[:1],
            lambda x: {row: share for share, row in _roundings(ends, x)},
        ),
        Case(
            "draw53",
            ("draw53",),
            thresholds,
            lambda t: int(draw53(random_words(None), 1)[0] < t),
            lambda t: [always(Turns())],  # bisection must find the threshold by itself
            lambda t: whether(Fraction(t, D)),
        ),
        Case(
            "bernoulli",
            ("bernoulli",),
            thresholds,
            lambda t: int(bernoulli(t, 1, random_words(None))[0]),
            lambda t: bernoulli_calls(t, 1),
            lambda t: whether(Fraction(t, D)),
        ),
        Case(
            "uniform_below",
            ("uniform_below",),
            [1, 2, 3, 5, 6, 64],
            lambda n: int(uniform_below(n, 1, random_words(None))[0]),
            lambda n: [always(Residues(n, redrawn=True))],
            lambda n: {k: Fraction(1, n) for k in range(n)},
        ),
        Case(
            "random_choices",
            ("random_choices",),
            [(1, 1), (4, 2), (3, 3)],
            lambda given: tuple(random_choices(1, given[0], given[1], random_words(None))[0].tolist()),
            lambda given: [always(Residues(given[0] - place, redrawn=True)) for place in range(given[1])],
            lambda given: {
                drawn: Fraction(1, len(list(permutations(range(given[0]), given[1]))))
                for drawn in permutations(range(given[0]), given[1])
            },
        ),
        Case(
            "random_subsets",
            ("random_subsets",),
            [(1, 1), (4, 2), (5, 3), (4, 4)],
            lambda given: tuple(np.flatnonzero(random_subsets(1, given[0], given[1], random_words(None))[0]).tolist()),
            lambda given: [always(Residues(given[0] - place, redrawn=True)) for place in range(given[1])],
            lambda given: {
                chosen: Fraction(1, len(list(combinations(range(given[0]), given[1]))))
                for chosen in combinations(range(given[0]), given[1])
            },
        ),
        Case(
            "sampled_pairs",
            ("sampled_pairs",),
            [(1, 0), (3, 1), (2, 4), (0, 3)],
            lambda given: tuple(
                int(part[0]) for part in sampled_pairs(np.zeros(given[0], dtype=int), 1, given[1], random_words(None))
            ),
            lambda given: [always(Residues(max(*given, 1), dropped=11))],
            lambda given: {
                (number if number < given[0] else -1, number): Fraction((D - number + s - 1) // s, D)
                for s in [max(*given, 1)]
                for number in range(s)
            },
        ),
    ]


def floor_cases() -> list[Case]:
    """The floor form by the law of the table that it expands to."""
    form = by_hand()
    table = form.expand()
    ways = {
        "FloorForm.sample": lambda x: form.sample([x]),
        "FloorForm.sample_index": lambda x: form.sample_index([x]),
        "FloorForm.draw": lambda x: form.draw(np.array([x]), random_words(None)),
        "FloorForm.draw_index": lambda x: form.draw_index(np.array([x]), random_words(None)),
    }
    return [table_case(name, table, name, way, table_inputs(table)) for name, way in ways.items()]


def all_cases() -> list[Case]:
    """Every case."""
    return [
        *table_cases(),
        *categorical_cases(),
        *key_value_cases(),
        *levels_of_pairs_cases(),
        *bundle_cases(),
        *floor_cases(),
        *function_cases(),
        *way_cases(),
        *feature_cases(),
    ]
