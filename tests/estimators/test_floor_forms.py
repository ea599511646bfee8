"""Estimators take the reports of a floor form as those of the table that it expands to."""

import numpy as np
import pytest
from optldp.estimators import ReportCounts, count, estimate_mean, influence
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.compact_tables import floor_form

FORM = floor_form(duchi([0.0, 5.0, 10.0], 1.0))
REPORTS = FORM.sample(np.full(1000, 3.0), np.random.default_rng(4))


def test_reports_of_it_are_counted_and_averaged():
    """As those of its table; with options that tables have."""
    plain = count(FORM, REPORTS)
    for counts in (plain, count(FORM, {"report": REPORTS}), count(FORM.expand(), REPORTS)):
        assert counts.reports_of(0).tolist() == np.bincount(FORM.output_index(REPORTS)).tolist()
    assert estimate_mean(plain).value == pytest.approx(REPORTS.mean())
    with pytest.raises(InputError, match="outputs of this table"):
        count(FORM, [3.0])


def test_services_may_be_floor_forms():
    """Beside tables, and with names or without."""
    table = duchi([0.0, 10.0], 2.0)
    others = table.sample(np.full(1000, 3.0), np.random.default_rng(5))
    mixed = count([("web", FORM, REPORTS), (table, others)])
    plain = count([("web", FORM.expand(), REPORTS), (table, others)])
    assert [group.counts.tolist() for group in mixed.groups] == [group.counts.tolist() for group in plain.groups]


def test_influence_of_a_report_is_that_of_its_table():
    """Winsorised or not."""
    for winsorise in (None, 0.01):
        mine, theirs = (influence(made, winsorise=winsorise) for made in (FORM, FORM.expand()))
        assert mine.times_n == theirs.times_n


def test_counts_of_another_engine_may_be_of_a_floor_form():
    """As of the table that it expands to."""
    rows = {"output": np.array([1, 0]), "n": np.array([6, 4])}
    mine, theirs = (ReportCounts.from_counts(made, rows) for made in (FORM, FORM.expand()))
    assert mine.reports_of(0).tolist() == theirs.reports_of(0).tolist()
