"""Laws of key-value reports, written out pair by pair and report by report: what mechanisms are compared with."""

from fractions import Fraction
from itertools import product

from optldp.mechanisms import TabulatedMechanism, make_exact

D = 2**53


def rows_of(table):
    """The rows of an exact table as fractions."""
    return [[Fraction(one, D) for one in row] for row in table.numerators.tolist()]


def three_outputs(epsilon=0.9):
    """An exact table of three knots with outputs of different weight and ratios."""
    matrix = [[0.6, 0.25, 0.15], [0.45, 0.25, 0.3], [0.3, 0.4, 0.3]]
    return make_exact(TabulatedMechanism.from_points([0.0, 1.0, 3.0], [-1.0, 2.0, 5.0], matrix, epsilon)).mechanism


def all_sets(n_keys, n_rows):
    """Every set of pairs (key, row of the value table), the empty one first."""
    for choice in product(range(-1, n_rows), repeat=n_keys):
        yield [(key, row) for key, row in enumerate(choice) if row >= 0]


def all_reports(mechanism, unary):
    """Every report: a tuple with 0 or 1 + output for each key, or a place and an output."""
    m, n_keys = mechanism.value.low.size, len(mechanism.keys)
    if unary:
        return list(product(range(m + 1), repeat=n_keys))
    return list(product(range(n_keys + mechanism.padding), range(m)))


def pair_law(mechanism, unary, place, row):
    """Probability of every report when this place, a dummy from K on, with this row was sampled."""
    own, other = Fraction(mechanism.own, D), Fraction(mechanism.other, D)
    value, fake = rows_of(mechanism.value), [Fraction(one, D) for one in mechanism.fake.tolist()]
    n_keys = len(mechanism.keys)
    law = []
    for report in all_reports(mechanism, unary):
        if unary:
            probability = Fraction(1)
            for key, symbol in enumerate(report):
                shown, outputs = (own, value[row]) if key == place else (other, fake)
                probability *= shown * outputs[symbol - 1] if symbol else 1 - shown
        elif report[0] == place:
            probability = own * (value[row] if place < n_keys else fake)[report[1]]
        else:
            probability = other * fake[report[1]]
        law.append(probability)
    return law


def set_law(mechanism, unary, pairs, laws):
    """Probability of every report of a user who holds these pairs; `laws` keeps those of places and rows."""
    size = max(len(pairs), mechanism.padding, 1)
    chosen = [*pairs, *((len(mechanism.keys) + number, 0) for number in range(len(pairs), size))]
    total = [Fraction(0)] * len(all_reports(mechanism, unary))
    for place, row in chosen:
        if (place, row) not in laws:
            laws[place, row] = pair_law(mechanism, unary, place, row)
        total = [a + b / size for a, b in zip(total, laws[place, row], strict=True)]
    return total
