"""Guide tables: the answers of a search by halving, for every number there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import FAMILIES, make_exact
from optldp.mechanisms.integers.numerators import DENOMINATOR
from optldp.mechanisms.sampling import guide
from optldp.mechanisms.sampling.drawing import invert_rows
from optldp.mechanisms.sampling.guide import places_among, row_places
from optldp.mechanisms.table.exact_sampling import ordered_bits

SCALES = (1e-300, 1e-9, 1.0, 1e9, 1e300)


def around(edges: np.ndarray) -> np.ndarray:
    """Values at, just below and just above each edge, far outside and between, more of them than there are buckets."""
    near = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [-np.inf, np.inf, -0.0, 0.0]]
    values = np.concatenate([*near, np.linspace(edges[0], edges[-1], 7)])
    return np.tile(values, 1 + guide.BUCKETS_AN_EDGE)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@given(steps=st.lists(st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 7.0]), min_size=1, max_size=40), seed=st.integers(0, 99))
def test_a_place_is_that_of_a_search_by_halving(scale, steps, seed):
    """Edges that repeat, crowd in one bucket or leave most of them empty."""
    edges = np.cumsum([np.random.default_rng(seed).normal(), *steps]) * scale
    values = around(edges)
    assert np.array_equal(places_among(edges, values), np.searchsorted(edges, values, side="right"))


def test_keys_decide_where_doubles_and_buckets_do_not():
    """Minus zero and the least numbers beside it, by their bits."""
    edges = np.array([-1.0, -5e-324, 0.0, 5e-324, 1.0])
    values = around(edges)
    values = values[np.isfinite(values)]
    keys = ordered_bits(edges), ordered_bits(values)
    assert np.array_equal(places_among(edges, values, keys=keys), np.searchsorted(keys[0], keys[1], side="right"))


def test_a_missing_value_has_some_place():
    """And raises no warning, which would be an error here."""
    places = places_among(np.array([0.0, 1.0]), np.full(20, np.nan))
    assert ((places >= 0) & (places <= 2)).all()


@pytest.mark.parametrize(
    "numerators",
    [
        [[4096]],
        [[1, 4095], [4095, 1]],
        [[0, 1, 0, 4095, 0], [2048, 0, 2048, 0, 0]],
        [[1] * 9 + [4087], [4087] + [1] * 9],  # ten edges in a bucket, at either end
        np.full((3, 64), 64).tolist(),
    ],
)
def test_all_numbers_together_have_the_numerators(numerators):
    """Every number of 12 bits for every row, once each: a law with nothing left out."""
    masses = np.array(numerators)
    rows, numbers = np.repeat(np.arange(len(masses)), 4096), np.tile(np.arange(4096), len(masses))
    places = row_places(np.cumsum(masses, axis=1), rows, numbers)
    assert places is not None
    found = np.zeros_like(masses)
    np.add.at(found, (rows, places), 1)
    assert np.array_equal(found, masses)
    assert (np.diff(places.reshape(len(masses), -1), axis=1) >= 0).all()


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_numbers_of_53_bits_have_the_places_that_they_always_had(name):
    """At both sides of every edge and of every bucket: in between, no comparison comes out differently."""
    table = make_exact(FAMILIES[name](np.linspace(-1, 1, 5), 1.0)).mechanism
    cumulative = np.cumsum(np.rint(table.probabilities * DENOMINATOR).astype(np.int64), axis=1)
    borders = np.arange(1, 2**14, dtype=np.int64) << 39
    numbers = np.concatenate([cumulative.ravel(), borders])
    numbers = np.unique(np.concatenate([numbers - 1, numbers, [0, DENOMINATOR - 1]]))
    numbers = numbers[(numbers >= 0) & (numbers < DENOMINATOR)]
    rows = np.repeat(np.arange(5), numbers.size)
    places = row_places(cumulative, rows, np.tile(numbers, 5))
    assert places is not None
    expected = [np.searchsorted(row, numbers, side="right") for row in cumulative]
    assert np.array_equal(places, np.concatenate(expected))


def test_few_numbers_and_uneven_rows_are_left_to_halving():
    """A table that is drawn from once is not worth a guide, and one whose rows end differently has none."""
    even, uneven = np.array([[1, 4], [2, 4]]), np.array([[1, 4], [2, 8]])
    rows = np.zeros(100, dtype=np.int64)
    assert row_places(even, rows[:1], rows[:1]) is None
    assert row_places(uneven, rows, rows) is None
    assert row_places(even, rows, rows) is not None


def test_users_get_the_same_outputs_with_a_guide_and_without(monkeypatch):
    """The numbers are dealt in the same order, so that a seed's reports are what they were."""
    rng = np.random.default_rng(1)
    cumulative = np.cumsum(rng.multinomial(2**30, rng.dirichlet(np.ones(50), 7)), axis=1).astype(np.int64)
    rows, numbers = rng.integers(0, 7, 20_000), rng.integers(0, 2**30, 20_000)
    guided = invert_rows(cumulative, rows, numbers)
    monkeypatch.setattr(guide, "MOST_BUCKETS", 1)
    assert np.array_equal(guided, invert_rows(cumulative, rows, numbers))
