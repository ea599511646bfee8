"""Drawable things of a user's history or record: ways over time, and features; each with the law that is proved."""

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
from optldp.mechanisms import make_exact
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.families.duchi import duchi
from optldp.mechanisms.features import Feature, Features, Quadratic
from optldp.mechanisms.over_time import Directions, HistoryRows, Memoised, Tree
from optldp.mechanisms.over_time.signs import best_signs
from optldp.mechanisms.sampling.random_words import random_words

from .drawable_tables import Case, mixed, row_law, running, table_calls, table_law
from .law_enumeration import Law, Residues, always

SEED = 12345
HISTORIES = [(0.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 0.5)]


def way_cases() -> list[Case]:
    """Values of rows, trees and memories are drawn as their mechanism draws; a direction of a known seed, by weight."""
    grr, table = categorical_grr(range(2), 1.0), make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    memoised = Memoised(grr, 4, 2, 2.0)
    rows = HistoryRows(table, [[0.5, 0.5]], [1], [1.0], 1.0, "0" * 32)
    directions = Directions(0.0, 1.0, np.eye(3, dtype=int) * 2**20, 57000, 8, 2, (5, 2), 1.0)

    tree = Tree(table, 3, [1, 1, 1, 1], [(2, best_signs(1, 1.0))], 5.0, 1.0, "0" * 32)

    def favoured(history: tuple[float, ...]) -> list[int]:
        held = directions.inputs.admitted(np.array([history]))
        return directions.favours(np.array([SEED], dtype=np.uint64), held)[0].tolist()

    def direction(history: tuple[float, ...]) -> Hashable:
        drawn, seeds = random_words(None), [np.array([SEED], dtype=np.uint64)]
        held = directions.inputs.admitted(np.array([history]))
        return int(directions.draw(held, lambda many: seeds.pop() if seeds else drawn(many))[0, 1])

    def direction_law(history: tuple[float, ...]) -> Law:
        high, low = directions.weights
        order = favoured(history)
        weights = [high] * directions.favoured + [low] * (len(order) - directions.favoured)
        return {number: Fraction(weight, sum(weights)) for number, weight in zip(order, weights, strict=True)}

    def row(x: float) -> Hashable:
        words = random_words(None)
        held = rows.inputs.sampled(rows.inputs.admitted(np.array([x])), words)
        return int(table.output_index(np.array(rows.draw(held, words)))[0])

    def value_of_tree(x: float) -> Hashable:
        mark, report = tree.draw(tree.inputs.admitted(np.array([x])), random_words(None))[0]
        return int(mark), int(table.output_index(np.array([report]))[0])

    return [
        Case(
            "Tree.draw",
            ("Tree.draw",),
            [0.0, 0.3, 1.0],
            value_of_tree,
            lambda x: table_calls(table, x)[:2],
            lambda x: {(0, output): share for output, share in table_law(table, x).items()},
            1.0,
        ),
        Case(
            "Memoised.draw",
            ("Memoised.draw",),
            [0, 1],
            lambda code: int(memoised.draw(np.array([code]), random_words(None))[0]),
            lambda code: [always(running(grr.numerators.tolist()))],
            lambda code: row_law(grr.numerators[code].tolist()),
            1.0,
        ),
        Case(
            "HistoryRows.draw",
            ("HistoryRows.draw",),
            [0.0, 0.3, 1.0],
            row,
            lambda x: table_calls(table, x)[:2],
            lambda x: table_law(table, x),
            1.0,
        ),
        Case(
            "Directions.draw, of a known seed",
            ("Directions.draw",),
            HISTORIES,
            direction,
            lambda history: [always(Residues(directions.total, redrawn=True))],
            direction_law,
            1.0,
            Fraction(5, 2),
        ),
    ]


def feature_cases() -> list[Case]:
    """Which feature is by the shares; its report as its table draws."""
    tables = [make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (1.0, 0.5)]
    itself, opposite = Quadratic([0], [1], 0.0, [1], [[0]]), Quadratic([0], [1], 1.0, [-1], [[0]])
    made = Features({"x": (0.0, 1.0)}, [Feature("x", itself, tables[0], 3), Feature("-x", opposite, tables[1])], 1.0)

    def told(report: np.ndarray) -> Hashable:
        place = int(report[0])
        return place, int(tables[place].output_index(report[1:])[0])

    def law(x: float) -> Law:
        of_each = [table_law(table, value) for table, value in zip(tables, (x, 1 - x), strict=True)]
        placed = [{(place, j): chance for j, chance in one.items()} for place, one in enumerate(of_each)]
        return mixed([(Fraction(3, 4), placed[0]), (Fraction(1, 4), placed[1])])

    ways = {
        "Features.sample": lambda x: told(made.sample([[x]])[0]),
        "Features.draw": lambda x: told(made.draw(made.inputs.admitted([[x]]), random_words(None))[0]),
    }
    return [
        Case(
            name,
            (name,),
            [0.0, 0.25, 1.0],
            drawn,
            lambda x: [
                always(Residues(4, redrawn=True)),
                *table_calls(tables[0], x)[:2],
                *table_calls(tables[1], 1 - x)[:2],
            ],
            law,
            1.0,
        )
        for name, drawn in ways.items()
    ]
