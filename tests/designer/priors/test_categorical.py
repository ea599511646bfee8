"""Priors over categories: from labels and from files."""

import numpy as np
import pytest
from optldp.designer import CategoricalPrior
from optldp.mechanisms import InputError


@pytest.fixture
def pairs(tmp_path):
    """Write a prior file and return its path."""

    def write(text: str):
        path = tmp_path / "prior.csv"
        path.write_text(text)
        return path

    return write


def test_a_column_gives_its_categories_and_shares(tmp_path):
    """Each category once, in the order of its text; weights are relative frequencies."""
    path = tmp_path / "people.csv"
    path.write_text("job\nsmith\ncook\nsmith\nsmith\n")
    prior = CategoricalPrior.from_column(path, "job")
    assert prior.categories.labels == ("cook", "smith")
    assert np.array_equal(prior.weights, [0.25, 0.75])


def test_pairs_keep_their_order_and_zeros(pairs):
    """A declared category that nobody has stays a category."""
    prior = CategoricalPrior.from_pairs_file(pairs("value,weight\nz,3\na,0\nm,1\n"))
    assert prior.categories.labels == ("z", "a", "m")
    assert np.array_equal(prior.weights, [0.75, 0.0, 0.25])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("value,weight\na,1\n,2\n", "1 missing, the first in row 2"),
        ("value,weight\na,1\nb,\n", "1 missing, the first in row 2"),
        ("value,weight\na,1\nb,two\n", "non-negative numbers, got 'two' in row 2"),
        ("value,weight\na,1\nb,-1\n", "non-negative numbers, got '-1' in row 2"),
        ("value,weight\na,1\nb,inf\n", "non-negative numbers, got 'inf' in row 2"),
        ("value,weight\na,0\nb,0\n", "positive sum"),
        ("value,weight\na,1\na,2\n", "'a' twice"),
        ("value,weight\na,1\n", "2 to"),
        ("label,weight\na,1\nb,1\n", "column 'value'"),
    ],
    ids=["no-value", "no-weight", "text", "negative", "infinite", "all-zero", "repeated", "one", "no-column"],
)
def test_bad_files_are_refused_in_one_line(pairs, text, says):
    """What, where and how much."""
    with pytest.raises(InputError) as refused:
        CategoricalPrior.from_pairs_file(pairs(text))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
