"""Versions of one mechanism for categories: averages of what each tells."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.frequencies.versions import join_frequencies
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import optimised_unary

FEW, MANY = [120, 50, 30], [500, 300, 200]


def estimated(made, many):
    return estimate_frequencies(CategoryCounts.from_reports(made, np.repeat(np.arange(3), many)))


def test_two_versions_of_one_law_are_its_reports_together():
    grr = categorical_grr("abc", 1.0)
    together, joined = estimated(grr, np.add(FEW, MANY)), join_frequencies([estimated(grr, FEW), estimated(grr, MANY)])
    assert joined.n == 1200
    np.testing.assert_allclose(joined.value, together.value, rtol=1e-12)
    np.testing.assert_allclose(joined.std_error, together.std_error, rtol=0.01)  # scatter between them is left out
    assert joined.covariance is not None
    np.testing.assert_allclose(np.diag(joined.covariance), joined.std_error**2, rtol=1e-12)


def test_alike_users_of_another_law_only_make_an_estimate_sharper():
    """The weights are those of least total variance, so it is below that of each part and of any other weights."""
    rng = np.random.default_rng(1)
    values = np.repeat(np.arange(3), MANY)
    parts = [
        estimate_frequencies(CategoryCounts.from_reports(made, made.sample(list(np.array(list("abc"))[values]), rng)))
        for made in (categorical_grr("abc", 2.0), optimised_unary("abc", 0.5))
    ]
    least = (join_frequencies(parts, alike=True).std_error ** 2).sum()
    assert least < min((part.std_error**2).sum() for part in parts)
    assert least < (join_frequencies(parts).std_error ** 2).sum()


def test_other_categories_methods_and_targets_are_refused():
    one = estimated(categorical_grr("abc", 1.0), MANY)
    wrong = {
        "same categories in one order": estimated(categorical_grr("acb", 2.0), MANY),
        "got 3 and 4": estimated(categorical_grr("abcd", 2.0), MANY),
        "method unbiased": replace(one, method="mle"),
        "one target": replace(one, target="users"),
    }
    for says, other in wrong.items():
        with pytest.raises(InputError, match=says):
            join_frequencies([one, other])


def test_the_same_users_twice_are_drawn_once_and_their_noise_averages_out():
    made, many = categorical_grr("abc", 1.0), np.array(MANY)
    one, noise = (
        estimated(made, many),
        estimate_frequencies(CategoryCounts.from_reports(made, np.repeat(np.arange(3), many)), target="users"),
    )
    joined = join_frequencies([one, one], common=np.full((2, 2), many.sum()), users=int(many.sum()))
    held = np.clip(one.value, 0, None) / np.clip(one.value, 0, None).sum()
    assert joined.n == many.sum()
    expected = one.std_error**2 / 2 + held * (1 - held) / many.sum() / 2
    np.testing.assert_allclose(joined.std_error**2, expected, rtol=1e-12)
    np.testing.assert_allclose(expected, noise.std_error**2 / 2 + held * (1 - held) / many.sum(), rtol=0.01)
    assert joined.covariance is not None
    np.testing.assert_allclose(np.diag(joined.covariance), joined.std_error**2, rtol=1e-12)
    apart = join_frequencies([noise, noise])
    np.testing.assert_allclose(
        join_frequencies([noise, noise], common=np.full((2, 2), 1000)).std_error, apart.std_error
    )


@pytest.mark.nightly
@pytest.mark.parametrize("changed", [0.0, 1.0])
def test_the_same_users_covary_by_their_values_and_no_more(changed):
    """Standard errors are those of simulated joins where values last, and not less where all of them changed."""
    rng, first, second = np.random.default_rng(3), categorical_grr("abc", 2.0), categorical_grr("abc", 4.0)
    common, found = np.array([[0, 150], [150, 0]]), []
    for _ in range(400):
        values = rng.choice(3, 350, p=[0.6, 0.3, 0.1])
        later = np.where(rng.random(350) < changed, rng.choice(3, 350, p=[0.6, 0.3, 0.1]), values)
        reports = (
            first.sample(list(np.array(list("abc"))[values[:200]]), rng),
            second.sample(list(np.array(list("abc"))[later[50:]]), rng),
        )
        parts = [
            estimate_frequencies(CategoryCounts.from_reports(made, each))
            for made, each in zip((first, second), reports, strict=True)
        ]
        joined = join_frequencies(parts, alike=True, common=common, users=350)
        found.append([joined.value, joined.std_error**2, join_frequencies(parts, alike=True).std_error ** 2])
    values, told, apart = np.array(found).transpose(1, 0, 2)
    ratio = values.var(axis=0, ddof=1) / told.mean(axis=0)  # standard error 0.07 each
    assert (ratio < 1.2).all()
    assert changed or (ratio > 0.8).all()
    assert (told > apart).all()
