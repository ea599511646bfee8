"""Linear queries of categories: what every kind of report tells, with the error that reports have."""

import numpy as np
import pytest
from optldp.estimators import CategoryCounts
from optldp.estimators.frequencies import estimate_category_queries
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection

LABELS = ["a", "b", "c", "d", "e"]
FREQUENCIES = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
QUERIES = np.vstack([np.tri(5)[:4], [1.0, -1.0, 0.5, 0.0, 2.0]])


@pytest.mark.parametrize("target", ["population", "users"])
@pytest.mark.parametrize("kind", [categorical_grr, optimised_unary, subset_selection, local_hashing])
def test_answers_scatter_as_their_errors_say(kind, target):
    """60 samples of 2,000 people: the mean square of 300 errors over their standard errors is about 1."""
    rng, made, off = np.random.default_rng(8), kind(LABELS, 1.0), []
    codes = rng.choice(5, (60, 2000), p=FREQUENCIES)
    for mine in codes:
        truth = FREQUENCIES if target == "population" else np.bincount(mine, minlength=5) / 2000
        counts = CategoryCounts.from_reports(made, made.sample(np.array(LABELS)[mine], rng))
        found = estimate_category_queries(counts, QUERIES, target=target)
        off.append((found.value - QUERIES @ truth) / found.std_error)
    assert np.mean(np.square(off)) == pytest.approx(1, abs=0.4)
    assert np.abs(np.mean(off, axis=0)).max() < 0.6


def test_what_cannot_be_answered_is_refused():
    counts = CategoryCounts.from_reports(
        optimised_unary(LABELS, 1.0), optimised_unary(LABELS, 1.0).sample(["a", "b"], np.random.default_rng(1))
    )
    with pytest.raises(InputError, match="a column for each of 5 values"):
        estimate_category_queries(counts, np.tri(4))
    with pytest.raises(InputError, match="a prior is for tables"):
        estimate_category_queries(counts, np.tri(5), prior=FREQUENCIES)
