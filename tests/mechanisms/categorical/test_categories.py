"""Labels and their numbers: every value is found, and those that are none are counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import Categories, InputError
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.spaces.categories import MAX_CATEGORIES

LABELS = st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=4), min_size=2, unique=True)


@pytest.mark.slow
@given(LABELS, st.data())
def test_codes_are_the_positions_of_the_labels(labels, data):
    """Against a dictionary, in whatever order and however often."""
    values = data.draw(st.lists(st.sampled_from(labels)))
    place = {label: i for i, label in enumerate(labels)}
    codes = Categories(labels).codes(values)
    assert codes.dtype == np.int64
    assert codes.tolist() == [place[value] for value in values]


@pytest.mark.slow
@given(LABELS, st.lists(st.text(st.characters(exclude_characters="\0"), max_size=3), min_size=1))
def test_unknown_values_are_counted_and_the_first_is_named(labels, values):
    """Wherever they would be sorted in; an empty text is unknown too."""
    unknown = [i for i, value in enumerate(values) if value not in labels]
    if not unknown:
        assert Categories(labels).codes(values).size == len(values)
        return
    with pytest.raises(InputError) as caught:
        Categories(labels).codes(values)
    told = f"got {len(unknown)} that are not, the first {values[unknown[0]]!r} in row {unknown[0] + 1}: "
    assert told in str(caught.value)


def test_numbers_are_taken_by_their_text():
    """Of integers, floats, numpy's or Python's."""
    categories = Categories([1, 2, 10])
    assert categories.labels == ("1", "2", "10")
    assert categories.codes(np.array([10, 1])).tolist() == [2, 0]
    assert categories.codes([2, "1"]).tolist() == [1, 0]
    with pytest.raises(InputError, match=r"got 1 that are not, the first '1.0' in row 1"):
        categories.codes([1.0])


def test_objects_and_missing_values_are_no_surprise():
    """None and NaN are texts that nobody declared."""
    categories = Categories(["a", "b"])
    assert categories.codes(np.array(["b", "a"], dtype=object)).tolist() == [1, 0]
    with pytest.raises(InputError, match="got 2 that are not, the first 'None' in row 2"):
        categories.codes(np.array(["a", None, float("nan")], dtype=object))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], f"must be 2 to {MAX_CATEGORIES} categories, got 0"),
        (["a"], "categories, got 1"),
        (range(MAX_CATEGORIES + 1), f"categories, got {MAX_CATEGORIES + 1}"),
        (["a", "b", "a"], "must differ, got 'a' twice"),
        ([1, "1"], "must differ, got '1' twice"),
        (["a", ""], "must not be empty text, got one in row 2"),
        (["a", "a\0"], "must not hold the character NUL"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        Categories(labels)


@pytest.mark.nightly
def test_a_million_labels_of_which_the_last_repeats_are_refused_at_once():
    """Without looking through all the others for each of them."""
    with pytest.raises(InputError, match="got '7' twice"):
        Categories([*range(MAX_CATEGORIES - 1), 7])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 3], r"codes must lie in 0..2, got 0 to 3"),
        ([-1], "got -1 to -1"),
        ([0.0], "one-dimensional integers"),
        ([[0]], "one-dimensional integers"),
        ([True], "of bool"),
    ],
)
def test_codes_that_are_no_positions_are_refused(codes, message):
    categories = Categories("abc")
    with pytest.raises(InputError, match=message):
        categories.checked_codes(codes)
    with pytest.raises(InputError, match=message):
        categorical_grr(categories, 1.0).sample_codes(codes)
    assert categories.checked_codes(np.array([2, 0], dtype=np.uint8)).tolist() == [2, 0]


def test_values_in_rows_are_refused_and_none_at_all_is_fine():
    categories = Categories("abc")
    with pytest.raises(InputError, match=r"one-dimensional, got shape \(1, 1\)"):
        categories.codes([["a"]])
    assert categories.codes([]).shape == (0,)
    assert categorical_grr(categories, 1.0).sample([]).shape == (0,)


def test_categories_are_kept_as_they_are():
    """So that two mechanisms can share them."""
    categories = Categories("abc")
    assert Categories.of(categories) is categories
    assert Categories.of(["a", "b", "c"]) == categories
    assert len(categories) == 3


def test_a_mechanism_refuses_another_kind_of_generator():
    with pytest.raises(InputError, match="rng must be a numpy"):
        categorical_grr("abc", 1.0).sample(["a"], 7)  # pyright: ignore[reportArgumentType] -- the fault
