"""What a mechanism says that its reports tell is what its law says, of every kind that is registered."""

import itertools
from typing import get_args

import numpy as np
import pytest
from optldp.mechanisms import CategoricalMechanism, TabulatedMechanism
from optldp.mechanisms.files.bundle import bundle_kinds
from optldp.mechanisms.statistics import Outputs, Statistic, Supports

from ..small_channels import SMALL

LISTED = {
    name: made for name, made in SMALL.items() if isinstance(made, CategoricalMechanism) and name != "seeded"
}  # hashes under 2^32 seeds cannot be listed
SUPPORTS = [name for name, made in LISTED.items() if isinstance(made.statistic, Supports)]


def bits(made: Supports, reports: np.ndarray) -> np.ndarray:
    return np.unpackbits(made.support(reports), axis=1, count=made.size).astype(bool)


def test_every_kind_of_categories_declares_one():
    """There is an example of each kind, and its statistic is one of those that estimators know."""
    kinds = {kind for kind in bundle_kinds().values() if issubclass(kind, CategoricalMechanism)}
    assert kinds <= {type(made) for made in SMALL.values()}
    for made in SMALL.values():
        if isinstance(made, CategoricalMechanism | TabulatedMechanism):
            assert isinstance(made.statistic, get_args(Statistic))


@pytest.mark.parametrize("name", [name for name in LISTED if name not in SUPPORTS])
def test_the_law_of_outputs_is_that_of_reports(name):
    made = LISTED[name]
    assert isinstance(made.statistic, Outputs)
    np.testing.assert_array_equal(made.statistic.law, made.pmf(made.all_reports()).T)
    np.testing.assert_array_equal(made.statistic.possible, made.statistic.law.any(axis=0))


def test_the_law_of_a_tables_outputs_is_that_at_its_knots():
    table = SMALL["numbers"]
    assert isinstance(table, TabulatedMechanism)
    np.testing.assert_array_equal(table.statistic.law, table.pmf(table.knots))


@pytest.mark.parametrize("name", SUPPORTS)
def test_what_reports_support_is_all_that_their_law_depends_on(name):
    """Each report's probability is `support_ratio` times as large where it supports the category as elsewhere."""
    made, reports = LISTED[name], LISTED[name].all_reports()
    statistic = made.statistic
    assert isinstance(statistic, Supports)
    supported = bits(statistic, reports)
    law = np.exp(statistic.log_elsewhere(reports))[:, None] * np.where(supported, statistic.support_ratio, 1.0)
    np.testing.assert_allclose(law, made.pmf(reports), rtol=1e-12)
    both = np.einsum("ok,oj->kj", made.pmf(reports), supported)
    np.testing.assert_allclose(np.diag(both), statistic.own_support, rtol=1e-12)
    others = ~np.eye(statistic.size, dtype=bool)
    np.testing.assert_allclose(both[others], statistic.other_support, rtol=1e-12)


@pytest.mark.parametrize("name", SUPPORTS)
def test_what_is_said_of_two_categories_and_of_two_reports_is_so(name):
    """By all reports, and all pairs of them."""
    made, reports = LISTED[name], LISTED[name].all_reports()
    statistic, law = made.statistic, made.pmf(reports)
    assert isinstance(statistic, Supports)
    supported = bits(statistic, reports)
    if statistic.both_supported is not None:
        own, two = statistic.both_supported
        for k, j, i in itertools.permutations(range(statistic.size), 3):
            np.testing.assert_allclose(law[:, k] @ (supported[:, k] & supported[:, j]), own, rtol=1e-12)
            np.testing.assert_allclose(law[:, k] @ (supported[:, j] & supported[:, i]), two, rtol=1e-12)
    apart = (supported[:, None] != supported[None]).sum(axis=2).max()
    assert apart <= statistic.most_apart <= statistic.size
    assert statistic.n_listed in (None, len(reports))
    sizes = set(supported.sum(axis=1).tolist())
    assert statistic.fixed_size is None or sizes == {statistic.fixed_size}
    if statistic.independent:
        p, q = statistic.own_support, statistic.other_support
        product = np.where(supported, q, 1 - q).prod(axis=1)
        np.testing.assert_allclose(law[:, 0], product * np.where(supported[:, 0], p / q, (1 - p) / (1 - q)), rtol=1e-12)
