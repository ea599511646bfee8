"""The influence of one report is what replacing one report by every other does, and no more."""

# Arrays are given as lists, which array_like allows; what may be None is known not to be.
# pyright: reportArgumentType=false, reportOptionalOperand=false, reportOptionalSubscript=false, reportOptionalIterable=false, reportGeneralTypeIssues=false

import numpy as np
import pytest
from optldp.estimators import (
    CategoryCounts,
    InputGrid,
    KeyValueCounts,
    PersonalisedCounts,
    ReportCounts,
    Service,
    count,
    estimate_attribute_means,
    estimate_combined_mean,
    estimate_distribution,
    estimate_frequencies,
    estimate_key_means,
    estimate_mean,
    influence,
    personalised_mean,
)
from optldp.mechanisms import (
    AttributeSampling,
    InputError,
    PersonalisedMechanism,
    Provenance,
    TabulatedMechanism,
    duchi,
    laplace,
    make_exact,
    piecewise,
    square_wave,
)
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.sampling.within_cell import GeometricTails

from ..means.test_unbiasing import random_table

RNG = np.random.default_rng(1)


def lattice():
    rows = [[0.7, 0.06, 0.24], [0.24, 0.06, 0.7]]
    return TabulatedMechanism([-1, 1], [-np.inf, 0, 2], [-2, 0, np.inf], rows, 1.1, GeometricTails(1.0, 0.5))


def exact(table):
    return make_exact(table).mechanism


TABLES = {
    "points": exact(duchi(np.linspace(-1, 1, 3), 0.5)),
    "cells": exact(piecewise(np.linspace(5, 9, 5), 1.0)),
    "affine": exact(square_wave(np.linspace(0, 1, 5), 1.0)),
    "mirrored": exact(square_wave(np.linspace(0, 1, 5), 1.0)).affine(-3.0, 1.0),
    "lattice": lattice(),
    "decoder": random_table(11, 4, 7),
}


class TestMeans:
    @staticmethod
    def reports_of(table):
        """The farthest reports that each output has, and some between."""
        ends = np.stack(table.within.farthest(table.low, table.high))
        return np.unique(np.concatenate([ends.ravel(), table.sample(np.full(40, table.knots[1]), RNG)]))

    @pytest.mark.parametrize("name", list(TABLES))
    def test_it_is_the_range_of_the_means_that_one_replaced_report_gives(self, name):
        table = TABLES[name]
        given = table.sample(np.full(60, table.knots[1]), RNG)
        every = self.reports_of(table)
        made = estimate_mean(count(table, given))
        means = [estimate_mean(count(table, np.append(given[1:], y))).value for y in every]
        found = influence(table, made)
        assert np.ptp(means) == pytest.approx(float(found.one_report[0]), rel=1e-9)
        assert found.one_report[0] == pytest.approx(made.one_report, rel=1e-12)
        assert found.reports_per_std_error[0] == pytest.approx(made.std_error / np.ptp(means), rel=1e-9)
        assert influence(table).times_n[0] == pytest.approx(60 * np.ptp(means), rel=1e-9)

    @pytest.mark.parametrize("name", list(TABLES))
    def test_the_extreme_reports_attain_it(self, name):
        table = TABLES[name]
        low, high = influence(table, "mean").extremes
        means = [estimate_mean(count(table, np.full(2, extreme.report))).value for extreme in (low, high)]
        assert means == pytest.approx([low.value, high.value], rel=1e-12)
        assert 0 < high.chance < 1

    def test_a_share_of_poisoners_moves_it_by_its_share_of_the_range(self):
        table = TABLES["points"]
        low, high = influence(table).extremes
        honest = np.full(80, low.report)
        moved = np.append(honest[20:], np.full(20, high.report))
        difference = estimate_mean(count(table, moved)).value - low.value
        assert influence(table).share(0.25)[0] == pytest.approx(difference, rel=1e-9)
        assert influence(table).share(0.0)[0] == 0

    def test_the_chance_of_the_farthest_report_of_a_tail_is_that_of_all_its_digits(self):
        """Ratio 1/2: k = 63 has probability 2^-64 but for the digits' rounding."""
        raw = [
            influence(table, estimate_mean(count(table, table.sample(np.zeros(9), RNG)), raw=True))
            for table in (lattice(), laplace([-1, 1], 1.0))
        ]
        low, high = raw[0].extremes
        assert (low.report, high.report) == (-65.0, 65.0)
        assert high.chance == pytest.approx(0.7 * 2.0**-64, rel=1e-6)
        assert raw[1].extremes[1].chance == pytest.approx(0.5 * np.exp(-64), rel=1e-6)

    def test_winsorising_lowers_it(self):
        reports = lattice().sample(np.zeros(50), RNG)
        plain, moved = (estimate_mean(count(lattice(), reports), winsorise=share, raw=True) for share in (None, 0.02))
        found = influence(lattice(), moved, winsorise=0.02)
        assert found.one_report[0] == pytest.approx(moved.one_report)
        assert found.times_n[0] < influence(lattice(), plain).times_n[0] / 5

    @pytest.mark.parametrize("method", ["ua", "uwa", "population", "decoder"])
    def test_several_services_bound_it_by_all_reports_of_a_user(self, method):
        """Weights that are fixed: every pair of outputs, or one to either service alone, in place of one user's."""
        services = [Service("a", duchi([-1.0, 1.0], 0.2)), Service("b", piecewise([-1.0, 1.0], 1.0))]
        outputs = np.stack([RNG.integers(0, s.mechanism.low.size, 40) for s in services], axis=1)
        options = {} if method == "ua" else {"prior": np.ones(2), "grid": InputGrid.knots([-1.0, 1.0])}

        def mean(rows):
            return estimate_combined_mean(ReportCounts.from_outputs(services, rows), method=method, **options)

        pairs = [(i, j) for i in range(-1, 2) for j in range(-1, services[1].mechanism.low.size)][1:]
        means = [mean(np.vstack([outputs[1:], pair])).value for pair in pairs]
        bound = mean(outputs).one_report
        assert np.ptp(means) <= bound * (1 + 1e-9)
        if method != "uwa":
            assert np.ptp(means) == pytest.approx(bound, rel=1e-9)

    def test_the_mean_of_a_fit_has_none_here(self):
        table = TABLES["points"]
        fit = estimate_distribution(ReportCounts.from_reports(table, table.sample(np.zeros(50), RNG)), method="em")
        assert fit.mean().one_report is None
        with pytest.raises(InputError, match="got method em: see its one_report, or fitted_influence"):
            influence(table, fit.mean())


def unused_output():
    rows = np.array([[6, 1, 0, 1], [1, 6, 0, 1], [1, 1, 0, 6]], dtype=np.int64) * 2**50
    return CategoricalTable(["a", "b", "c"], 2.0, Provenance("made"), rows)


MADE = [
    categorical_grr("abcd", 1.0),
    unused_output(),
    basic_rappor("abcd", 1.0),
    optimised_unary("abc", 2.0),
    local_hashing("abcd", 1.0),
    subset_selection("abcdef", 0.5),
    local_hashing("abcdefghij", 1.0, n_values=2),
    local_hashing("abcdefghi", 1.0, n_values=3),
]


class TestFrequencies:
    @pytest.mark.parametrize("made", MADE, ids=lambda made: f"{made.provenance.method}{len(made.categories)}")
    def test_it_is_what_replacing_one_report_by_each_other_one_does(self, made):
        given = made.sample_codes(np.arange(30) % len(made.categories), RNG)
        every = made.all_reports()
        every = every[made.pmf(every).max(axis=1) > 0]
        tried = [
            estimate_frequencies(CategoryCounts.from_reports(made, np.append(given[1:], report[None], axis=0)))
            for report in every
        ]
        found = influence(made, tried[0])
        moved = np.array([one.value for one in tried])
        np.testing.assert_allclose(np.ptp(moved, axis=0), found.one_report, rtol=1e-9)
        total = np.abs(moved[:, None] - moved).sum(axis=2).max() * 30
        assert total <= found.total * (1 + 1e-9)
        if made.provenance.method in ("grr", "rappor", "oue", "subset"):
            assert total == pytest.approx(found.total)
        np.testing.assert_array_equal(influence(made).times_n, found.times_n)
        np.testing.assert_array_equal(found.std_error, tried[0].std_error)

    def test_other_methods_have_none_here(self):
        made = categorical_grr("ab", 1.0)
        fit = estimate_frequencies(CategoryCounts.from_reports(made, [0, 1, 1]), method="mle")
        with pytest.raises(InputError, match="known for method unbiased, got mle"):
            influence(made, fit)
        with pytest.raises(InputError, match="known for 'unbiased' or its estimate here, got 'norm-sub'"):
            influence(made, "norm-sub")


class TestPairs:
    @pytest.mark.parametrize("make", [key_value_unary, key_value_response])
    @pytest.mark.parametrize("padding", [1, 3])
    def test_frequencies_and_means_move_as_it_says(self, make, padding):
        """Frequencies exactly; means to first order, so that ten times the users leave a tenth of the difference."""
        made = make(["a", "b"], exact(duchi([0.0, 10.0], 3.0)), 3.0, padding=padding)
        keys, values = np.array(["a"] * 6 + ["b"] * 4), np.array([2.0, 9.0] * 5)
        off = []
        for many in (2000, 20_000):
            given = made.sample(np.tile(keys, many // 10), np.tile(values, many // 10), np.random.default_rng(3))
            base = estimate_key_means(KeyValueCounts.from_reports(made, given))
            assert ((base.frequencies.value > 1 / many) & (base.frequencies.value < 1)).all()
            assert ((base.value > 0) & (base.value < 10)).all()
            found, first = influence(made, "frequencies"), influence(made, base)
            if make is key_value_unary:
                every = np.array([[i, j] for i in range(3) for j in range(3)])
            else:
                every = np.arange((2 + padding) * 2)
            moved = [
                estimate_key_means(KeyValueCounts.from_reports(made, np.append(given[1:], one[None], axis=0)))
                for one in every
            ]
            np.testing.assert_allclose(
                np.ptp([one.frequencies.value for one in moved], axis=0) * many, found.times_n, rtol=1e-6
            )
            actual = np.ptp([one.value for one in moved], axis=0)
            off.append(np.abs(actual / first.one_report - 1).max())
            assert first.first_order
        assert off[0] < 0.05
        assert off[1] < 0.005


class TestAttributes:
    def test_one_report_moves_a_mean_by_no_more_and_by_nearly_as_much(self):
        """The replaced user may drop the attribute, take it up, or keep it."""
        tables = [exact(duchi([-1.0, 1.0], 1.0)), exact(square_wave([0.0, 5.0, 10.0], 1.0))]
        made = AttributeSampling(["a", "b"], tables, 1, 1.0)
        ends = [float(t.low[0]) for t in tables], [float(t.high[-1]) for t in tables]
        column = np.repeat([[ends[0][0], np.nan], [np.nan, ends[0][1]]], [9, 11], axis=0)
        base = estimate_attribute_means(count(made, column))
        found = influence(made, base)
        rows = [[e[0], np.nan] for e in ends] + [[np.nan, e[1]] for e in ends]
        moves = []
        for old in (0, 9):
            for row in rows:
                changed = column.copy()
                changed[old] = row
                moved = estimate_attribute_means(count(made, changed))
                moves.append([moved[name].value - base[name].value for name in made.attributes])
        np.testing.assert_allclose(np.abs(moves).max(axis=0), found.one_report, rtol=1e-9)
        assert found.n == 20
        assert [base[name].one_report for name in made.attributes] == pytest.approx(found.one_report.tolist())
        even = influence(made)
        ranges = [np.ptp([extreme.value for extreme in influence(table).extremes]) for table in tables]
        np.testing.assert_allclose(even.times_n, 2 * np.array(ranges), rtol=1e-12)
        np.testing.assert_allclose(even.share(1.0), ranges)


class TestLevels:
    def test_one_report_of_any_level_moves_the_mean_by_no_more_and_by_as_much(self):
        made = PersonalisedMechanism([exact(duchi([0.0, 1.0], e)) for e in (0.5, 2.0)])
        levels = np.repeat([0, 1], [40, 20])
        ends = [[float(t.low[0]), float(t.high[-1])] for t in made.levels]
        reports = np.array([ends[level][i % 2] for i, level in enumerate(levels)])
        mean = personalised_mean(PersonalisedCounts.from_reports(made, PersonalisedReports(levels, reports)))
        moves = []
        for old in (0, 1, 40, 41):
            for level in (0, 1):
                for report in ends[level]:
                    now, said = levels.copy(), reports.copy()
                    now[old], said[old] = level, report
                    found = personalised_mean(PersonalisedCounts.from_reports(made, PersonalisedReports(now, said)))
                    moves.append(abs(found.value - mean.value))
        assert max(moves) == pytest.approx(mean.one_report, rel=1e-9)

    def test_without_an_estimate_there_is_none(self):
        made = PersonalisedMechanism([exact(duchi([0.0, 1.0], e)) for e in (0.5, 2.0)], 0.5)
        with pytest.raises(InputError, match="depends on how many users chose which"):
            influence(made)


class TestRefusals:
    def test_what_cannot_be_told_is_refused_in_one_line(self):
        table = exact(duchi([0.0, 1.0], 1.0))
        made = categorical_grr("ab", 1.0)
        for match, call in (
            ("the number of reports must be known", lambda: influence(table).one_report),
            ("standard errors must be known", lambda: influence(table).reports_per_std_error),
            ("must lie in .0, 1., got 1.5", lambda: influence(table).share(1.5)),
            ("winsorise is for tables of numbers", lambda: influence(made, winsorise=0.1)),
            ("known for 'mean' or its estimate here, got 'median'", lambda: influence(table, "median")),
            ("known for tables, categories, pairs and attributes, got 'x'", lambda: influence("x")),
            ("known for 'means' or its estimate here, got 'dict'", lambda: influence(attributes(), {})),
            ("known for 'means' or its estimate here, got 'mean'", lambda: influence(attributes(), "mean")),
        ):
            with pytest.raises(InputError, match=match) as caught:
                call()
            assert "\n" not in str(caught.value)


def attributes():
    return AttributeSampling(["a", "b"], [exact(duchi([0.0, 1.0], 1.0))] * 2, 1, 1.0)
