"""What whole numbers prove of promises, against fractions of all pairs of rows and all sets of outputs."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, permutations

import numpy as np
import pytest
from optldp.mechanisms import Approximate, Metric, TableError, TabulatedMechanism, prove, verify
from optldp.mechanisms.exactness import require_proved
from optldp.mechanisms.exactness.verification import require_private
from optldp.mechanisms.integers.columns import largest_divergence, times_below
from optldp.mechanisms.integers.exponential import exponential_below

D = 2**53


def random_rows(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Numerators of n rows; some outputs impossible in some rows."""
    cuts = np.sort(rng.integers(0, D + 1, (n, m - 1)), axis=1)
    cuts[rng.random(cuts.shape) < 0.2] = D
    return np.diff(np.sort(cuts, axis=1), axis=1, prepend=0, append=D)


def table_of(numerators: np.ndarray, promise, knots=None) -> TabulatedMechanism:
    """The exact table of these numerators over 2^53."""
    n, m = numerators.shape
    places = np.arange(m, dtype=float)
    knots = np.arange(n, dtype=float) if knots is None else np.asarray(knots)
    probabilities = numerators / float(D)
    return TabulatedMechanism(knots, places, places, probabilities, promise.epsilon, exact=True, promise=promise)


@pytest.mark.parametrize("seed", range(20))
def test_the_divergence_is_the_most_that_any_set_of_outputs_shows(seed):
    """max over sets S and pairs of Pr(S | i) - L Pr(S | k), by enumeration of all sets."""
    rng = np.random.default_rng(seed)
    rows, limit = random_rows(rng, 3, 5), exponential_below(float(rng.choice([1e-6, 0.3, 1.0, 5.0])))
    found, i, k = largest_divergence(rows, limit)
    sets = list(chain.from_iterable(combinations(range(5), size) for size in range(6)))

    def gained(a: int, b: int) -> Fraction:
        return max(Fraction(int(rows[a, list(s)].sum())) - limit * int(rows[b, list(s)].sum()) for s in sets) / D

    assert found == max(gained(a, b) for a, b in permutations(range(3), 2))
    assert found in (0, gained(i, k))


@pytest.mark.parametrize("seed", range(20))
def test_a_delta_is_proved_just_if_it_is_as_large_as_the_divergence(seed):
    """To the last bit of the double; a forged table whose delta is too small is refused."""
    rng = np.random.default_rng(100 + seed)
    rows = random_rows(rng, 4, 6)
    exact = largest_divergence(rows, exponential_below(0.5))[0]
    enough = float(exact) if Fraction(float(exact)) >= exact else float(np.nextafter(float(exact), 1))
    honest = table_of(rows, Approximate(0.5, enough))
    assert prove(honest).ok
    assert verify(honest).ok
    assert prove(honest).divergence == exact
    assert abs(verify(honest).kept - float(exact)) < 1e-15
    forged = replace(honest, promise=Approximate(0.5, float(np.nextafter(enough, 0))))
    assert not verify(forged).ok
    with pytest.raises(TableError, match=r"^delta must be at least the divergence at epsilon 0.5"):
        require_proved(forged)


def test_a_divergence_between_knots_is_none_larger():
    """Mixtures of rows, by fractions: the divergence is convex in both."""
    rng = np.random.default_rng(7)
    rows, limit = random_rows(rng, 3, 6), exponential_below(0.4)
    law = [[Fraction(int(v), D) for v in row] for row in rows]
    weights = [Fraction(w, 7) for w in range(8)]
    mixed = [[(1 - w) * a + w * b for a, b in zip(law[k], law[k + 1], strict=True)] for k in (0, 1) for w in weights]
    most = max(sum(max(Fraction(0), a - limit * b) for a, b in zip(p, q, strict=True)) for p in mixed for q in mixed)
    assert most == largest_divergence(rows, limit)[0]


def metric_rows(knots: list[float], epsilon: float, shift: int = 0) -> np.ndarray:
    """Numerators whose logarithms are nearly epsilon |x - y| steep, `shift` units off in one place."""
    places = np.linspace(knots[0], knots[-1], 5)
    shape = np.exp(-0.999 * epsilon * np.abs(np.subtract.outer(knots, places)) / 2)
    rows = np.floor(shape / shape.sum(axis=1, keepdims=True) * D).astype(np.int64)
    rows[:, 2] += D - rows.sum(axis=1)
    rows[0, 0] += shift
    rows[0, 1] -= shift
    return rows


@pytest.mark.parametrize("knots", [[0.0, 1.0, 2.0, 3.0], [-1.0, 0.25, 7.0]])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_neighbouring_knots_prove_the_metric_promise_of_all_pairs(knots, epsilon):
    """All pairs by fractions of the two rows and of a bound of e^(epsilon times their distance)."""
    rows = metric_rows(knots, epsilon)
    assert verify(table_of(rows, Metric(epsilon), knots)).ok
    for i, k in permutations(range(len(knots)), 2):
        limit = exponential_below(Fraction(epsilon) * abs(Fraction(knots[i]) - Fraction(knots[k])))
        assert all(int(a) <= limit * int(b) for a, b in zip(rows[i], rows[k], strict=True))


def test_a_metric_promise_is_broken_by_one_pair_of_neighbours():
    """The pair and the output are named, and what is kept is the largest log-ratio for its distance."""
    rows = np.array([[D // 4, D - D // 4], [D // 2, D // 2], [D // 2, D // 2]])
    table = table_of(rows, Metric(1.0), [0.0, 0.5, 1.0])
    found = verify(table)
    assert not found.ok
    assert found.kept == pytest.approx(np.log(2) / 0.5)
    assert found.failures[0].startswith("the log-ratio must be at most 0.5, got 0.693")
    assert "at output 0 between knots 1 and 0" in found.failures[0]
    assert verify(replace(table, epsilon=1.5, promise=Metric(1.5))).ok
    assert not verify(table_of(np.array([[0, D], [1, D - 1]]), Metric(16.0))).ok


def test_doubles_are_judged_by_the_same_promises_and_never_proved():
    """A table in doubles is at best not proved, and broken where doubles see it."""
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    kinds = {
        Approximate(0.5, 0.4): True,
        Approximate(0.5, 0.3): False,
        Metric(1.1): True,
        Metric(1.0): False,
    }
    for promise, kept in kinds.items():
        table = TabulatedMechanism.from_points([0, 1], [0, 1], matrix, promise.epsilon, promise=promise)
        assert not verify(table).ok
        assert (not verify(table).failures) == kept
        if not kept:
            with pytest.raises(TableError, match="must be at most"):
                require_private(table)
    assert verify(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 2.0), epsilon=Approximate(1.0, 0.1)).kept == (
        pytest.approx(0.75 - np.e * 0.25)
    )


def test_a_table_that_takes_values_between_knots_keeps_no_metric_promise():
    """At its knots it might; a mixture of two rows is steeper than both."""
    rows = metric_rows([0.0, 1.0], 1.0)
    pure = replace(table_of(rows, Metric(1.0)), promise=None)
    assert prove(pure, epsilon=Metric(1.0)).failures == (
        "a table must promise epsilon 1 per unit itself to keep it, as it then takes no values between knots",
    )


def test_products_are_rounded_down_as_fractions_are():
    """Of numbers up to 2^53, by a bound just above one and a large one."""
    numbers = np.array([0, 1, 3, D - 1, D])
    for limit in (Fraction(D + 1, D), Fraction(5, 3), exponential_below(16.0)):
        assert times_below(numbers, limit).tolist() == [min(int(limit * int(v)), D) for v in numbers]
