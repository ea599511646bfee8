"""Features of a record: formulas are what they say, and a mechanism of them promises the budget of one table."""

import numpy as np
import pytest
from optldp.mechanisms import InputError, duchi, make_exact
from optldp.mechanisms.features import Feature, Features, Quadratic, Ranks, Score, Sides, Signs
from optldp.mechanisms.features.formulas import formula_of
from optldp.mechanisms.files.bundle import bundle_to_document, document_to_mechanism

PRODUCT = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
TABLE = make_exact(duchi([-1.0, 1.0], 1.0)).mechanism
BOX = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}


def test_the_range_of_an_influence_function_is_over_edges_too():
    # Largest on the edge x = 10 sd of the box, where the slope by y is zero, and not at a corner.
    psi = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[-0.25, 0.5], [0.5, -0.25]])
    low, high = psi.extremes([-1, -1], [10, 2])
    grid = np.array([(x, y) for x in np.linspace(-1, 10, 221) for y in np.linspace(-1, 2, 61)])
    assert (low, high) == (pytest.approx(psi.of(grid).min()), pytest.approx(psi.of(grid).max()))
    assert high > psi.of(np.array([(x, y) for x in (-1, 10) for y in (-1, 2)], dtype=float)).max()


@pytest.mark.parametrize(
    "formula",
    [
        PRODUCT,
        Score([0, 0], [1, 2], [0, 1], [0.5, 0.5], 1.0, 1.5),
        Signs([1, -1, 1], [0, 1, 2], 0.5),
        Sides([0, 1, 2], 0.5),
    ],
)
def test_a_formula_is_the_same_once_written(formula):
    again, records = formula_of(formula.to_document()), np.random.default_rng(1).normal(size=(9, 2))
    assert (again.of(records) == formula.of(records)).all()
    assert again.to_document() == formula.to_document()


def test_a_mechanism_of_features_draws_the_same_once_read():
    ranks, kept = {"x": Ranks([-1, 1], [0, 1])}, {"y": (-0.5, 0.5)}
    made = Features(BOX, [Feature("xy", PRODUCT, TABLE, 3), Feature("yx", PRODUCT, TABLE)], 1.0, "", {}, ranks, kept)
    again = document_to_mechanism(bundle_to_document(made))
    assert isinstance(again, Features)
    records = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    one, other = (each.sample(records, np.random.default_rng(2)) for each in (made, again))
    assert (one == other).all()
    assert made.values_of(records, 0) == pytest.approx((records[:, 0] + 1) / 2 * np.clip(records[:, 1], -0.5, 0.5))


def test_labels_of_a_column_are_written_and_must_be_as_many_as_its_range():
    box, signs = {"g": (0, 2), "y": (-1.0, 1.0)}, Signs([1, -1, 1], [0, 0, 0], 0.0)
    made = Features(box, [Feature("size", signs, TABLE)], 1.0, labels={"g": ["a", "b", "c"]})
    again = document_to_mechanism(bundle_to_document(made))
    assert isinstance(again, Features)
    assert again.labels == made.labels
    with pytest.raises(InputError, match="column 'g' of 2 labels must range from 0 to 1"):
        Features(box, [Feature("size", signs, TABLE)], 1.0, labels={"g": ["a", "b"]})


def test_features_are_drawn_by_their_shares():
    made = Features(BOX, [Feature("xy", PRODUCT, TABLE, 3), Feature("yx", PRODUCT, TABLE)], 1.0)
    reports = made.sample(np.zeros((4000, 2)), np.random.default_rng(1))
    assert reports[:, 0].mean() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(
    ("features", "epsilon", "says"),
    [
        ([], 1.0, "1 to 64 features"),
        ([Feature("xy", PRODUCT, TABLE)], 0.5, "must spend at most 0.5"),
        ([Feature("xy", PRODUCT, TABLE, 0)], 1.0, "a whole number from 1"),
        ([Feature("x", Quadratic([0], [1], 0, [1], [[0]]), TABLE)], 1.0, "must be of all 2 columns"),
    ],
)
def test_what_does_not_go_together_is_refused(features, epsilon, says):
    with pytest.raises(InputError, match=says):
        Features(BOX, features, epsilon)
