"""Collecting: whatever form, order and place reports come in, the counts are those of the users' outputs."""

import os
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import ReportCounts, Service
from optldp.estimators.counting import staged as staged_reports
from optldp.estimators.counting import users as user_counting
from optldp.estimators.counting.collect import collect
from optldp.mechanisms import TabulatedMechanism, grr, piecewise, square_wave
from optldp.mechanisms.table.output_cells import with_output_cells

KNOTS = [0.0, 1.0, 2.0, 4.0]
TABLES = {"points": grr(KNOTS, 1.0), "cells": square_wave(KNOTS, 0.5), "mixed": piecewise(KNOTS, 2.0)}
NAMES = tuple(TABLES)


def report(mechanism: TabulatedMechanism, output: int) -> float:
    """A report that is this output: the point, or the middle of the cell."""
    return float((mechanism.low[output] + mechanism.high[output]) / 2)


def sources(answers: dict[str, dict[int, int]], order: np.random.Generator, label=lambda user: user) -> list:
    """One source for each service, its rows shuffled, from the output of each of its users."""
    made = []
    for name, outputs in answers.items():
        users = order.permutation(list(outputs)).astype(int)
        reports = [report(TABLES[name], outputs[user]) for user in users]
        made.append((name, TABLES[name], {"user": np.array([label(u) for u in users]), "report": np.array(reports)}))
    return made


def brute_force(answers: dict[str, dict[int, int]]) -> Counter:
    """How many users gave which answers, found with one dictionary per user."""
    of_user: dict[int, dict[int, int]] = {}
    for j, outputs in enumerate(answers.values()):
        for user, output in outputs.items():
            of_user.setdefault(user, {})[j] = output
    return Counter((tuple(sorted(given)), tuple(given[j] for j in sorted(given))) for given in of_user.values())


def as_counter(counts: ReportCounts) -> Counter:
    found = Counter()
    for group in counts.groups:
        for row, number in zip(group.outputs.tolist(), group.counts.tolist(), strict=True):
            found[group.services, tuple(row)] += number
    return found


def assert_identical(one: ReportCounts, other: ReportCounts) -> None:
    """Equal to the last detail: services, order of groups and rows, types."""
    assert [s.name for s in one.services] == [s.name for s in other.services]
    assert one.mechanisms == other.mechanisms
    assert [group.services for group in one.groups] == [group.services for group in other.groups]
    for a, b in zip(one.groups, other.groups, strict=True):
        assert (a.outputs.dtype, a.counts.dtype) == (b.outputs.dtype, b.counts.dtype) == (np.int32, np.int64)
        assert np.array_equal(a.outputs, b.outputs)
        assert np.array_equal(a.counts, b.counts)


def answers_of(users: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, dict[int, int]]]:
    """Ragged participation: each service has reports of some of the users."""
    return st.fixed_dictionaries(
        {
            name: st.dictionaries(users, st.integers(0, TABLES[name].low.size - 1), min_size=1, max_size=12)
            for name in NAMES
        }
    ).map(lambda answers: {name: answers[name] for name in NAMES})


def collected(answers: dict[str, dict[int, int]], seed: int = 0, **options) -> ReportCounts:
    return collect(sources(answers, np.random.default_rng(seed)), key="user", allow_disjoint=True, **options)


def outputs_matrix(rng: np.random.Generator, n_users: int) -> np.ndarray:
    """Outputs of many users, each of whom skips each service with probability a third, but not all."""
    sizes = [table.low.size for table in TABLES.values()]
    matrix = np.column_stack([rng.integers(0, size, n_users) for size in sizes])
    matrix[rng.random(matrix.shape) < 1 / 3] = -1
    return matrix[(matrix >= 0).any(axis=1)]


def counts_of(matrix: np.ndarray) -> ReportCounts:
    return ReportCounts.from_outputs([Service(name, TABLES[name]) for name in NAMES], matrix)


def frames(matrix: np.ndarray, rng: np.random.Generator) -> list[pd.DataFrame]:
    """A data frame of user and report for each service, rows shuffled."""
    made = []
    for name, column in zip(NAMES, matrix.T, strict=True):
        users = rng.permutation(np.flatnonzero(column >= 0))
        table = TABLES[name]
        made.append(pd.DataFrame({"user": users, "report": ((table.low + table.high) / 2)[column[users]]}))
    return made


class TestCounts:
    @pytest.mark.nightly
    @settings(max_examples=20)
    @given(answers_of(st.integers(0, 15)))
    def test_they_are_those_of_a_dictionary_for_each_user(self, answers):
        """Any participation: users of all services, of some, of one."""
        assert as_counter(collected(answers)) == brute_force(answers)

    @pytest.mark.nightly
    @settings(max_examples=12)
    @given(answers_of(st.integers(0, 15)), answers_of(st.integers(16, 31)))
    def test_of_disjoint_users_they_add_up_to_those_of_all(self, some, others):
        """Shards can be counted where they lie."""
        together = {name: some[name] | others[name] for name in NAMES}
        assert_identical(collected(some) + collected(others), collected(together))

    @pytest.mark.nightly
    @settings(max_examples=12)
    @given(answers_of(st.integers(0, 15)), st.integers(1, 1000))
    def test_order_of_rows_and_labels_of_users_do_not_matter(self, answers, seed):
        """Users may be called anything, in any order."""
        relabelled = sources(answers, np.random.default_rng(seed), label=lambda user: f"user '{(7 * user) % 31}")
        assert_identical(collect(relabelled, key="user", allow_disjoint=True), collected(answers))

    def test_they_are_identical_to_counting_a_matrix_of_outputs(self):
        """The order of groups and rows too, for thousands of users."""
        rng = np.random.default_rng(1)
        matrix = outputs_matrix(rng, 5000)
        made = [(n, TABLES[n], frame) for n, frame in zip(NAMES, frames(matrix, rng), strict=True)]
        assert_identical(collect(made, key="user"), counts_of(matrix))

    def test_one_source_without_a_key_is_counted_row_by_row(self):
        """Each row is a user."""
        reports = TABLES["mixed"].sample(np.linspace(0, 4, 3000), np.random.default_rng(2))
        expected = ReportCounts.from_reports(TABLES["mixed"], reports, name="service 1")
        assert_identical(collect([(TABLES["mixed"], reports)]), expected)
        assert_identical(collect([(TABLES["mixed"], {"report": reports})]), expected)

    def test_arrays_without_a_key_are_aligned_and_nan_is_no_report(self):
        """A user without any report is nobody."""
        matrix = outputs_matrix(np.random.default_rng(3), 3000)
        arrays = []
        for name, column in zip(NAMES, matrix.T, strict=True):
            middle = np.append((TABLES[name].low + TABLES[name].high) / 2, np.nan)
            arrays.append((name, TABLES[name], np.append(middle[column], np.nan)))
        assert_identical(collect(arrays), counts_of(matrix))

    @pytest.mark.slow
    def test_blocks_are_put_back_beside_their_keys(self, monkeypatch):
        """Many blocks, the last one partial: the same counts as one block."""
        rng = np.random.default_rng(4)
        matrix = outputs_matrix(rng, 4000)
        made = [(n, TABLES[n], frame) for n, frame in zip(NAMES, frames(matrix, rng), strict=True)]
        vector = TABLES["cells"].sample(np.full(1000, 1.5), rng)
        whole = collect([(TABLES["cells"], vector)])
        for module in (staged_reports, user_counting):
            monkeypatch.setattr(module, "BLOCK", 333)
        assert_identical(collect(made, key="user"), counts_of(matrix))
        assert_identical(collect([(TABLES["cells"], vector)]), whole)
        assert_identical(collect([(TABLES["cells"], {"report": vector})]), whole)

    @pytest.mark.nightly
    def test_codes_that_need_several_words_are_counted_alike(self):
        """Twelve services of 255 outputs take 96 bits."""
        rng = np.random.default_rng(5)
        table = with_output_cells(TABLES["cells"], np.linspace(TABLES["cells"].low[0], TABLES["cells"].high[-1], 256))
        matrix = rng.integers(-1, 3, (500, 12))
        matrix[matrix >= 0] += 100 * rng.integers(0, 3, (matrix >= 0).sum())
        matrix = matrix[(matrix >= 0).any(axis=1)]
        names = [f"s{j}" for j in range(12)]
        made = []
        for name, column in zip(names, matrix.T, strict=True):
            users = np.flatnonzero(column >= 0)
            made.append((name, table, {"user": users, "report": ((table.low + table.high) / 2)[column[users]]}))
        expected = ReportCounts.from_outputs([Service(name, table) for name in names], matrix)
        assert_identical(collect(made, key="user"), expected)


class TestOptions:
    def test_keep_first_keeps_the_first_in_the_order_of_rows(self):
        """Even where later rows have smaller outputs, and across blocks of rows."""
        table, rng = TABLES["points"], np.random.default_rng(9)
        users, outputs = rng.integers(0, 300, 5000), rng.integers(0, 4, 5000)
        source = {"user": users, "report": table.low[outputs]}
        first = {}
        for user, output in zip(users.tolist(), outputs.tolist(), strict=True):
            first.setdefault(user, output)
        counts = collect([("a", table, source), ("b", table, source)], key="user", keep_first=True)
        assert as_counter(counts) == Counter(((0, 1), (output, output)) for output in first.values())

    @pytest.mark.slow
    def test_dropped_rows_are_nobodys(self, tmp_path):
        """An empty cell, NA and NaN; the first report that is there is the first."""
        path = tmp_path / "a.csv"
        path.write_text("user,report\n1,\n1,4\n2,NA\n3,nan\n4,0\n")
        expected = {((0,), (3,)): 1, ((0,), (0,)): 1}
        source = [(TABLES["points"], path)]
        assert as_counter(collect(source, key="user", drop_missing=True, keep_first=True)) == expected
        assert as_counter(collect(source, drop_missing=True)) == expected
        assert as_counter(collect([(TABLES["points"], np.array([np.nan, 4, 0]))], drop_missing=True)) == expected

    def test_services_may_be_disjoint_when_asked(self):
        """Two groups, one for each service."""
        made = sources({"points": {1: 0}, "cells": {2: 1}}, np.random.default_rng(0))
        counts = collect(made, key="user", allow_disjoint=True)
        assert [group.services for group in counts.groups] == [(0,), (1,)]

    def test_services_may_be_linked_through_others(self):
        """Nobody reports to the first and the last, but somebody to each and the middle one."""
        made = sources({"points": {1: 0}, "cells": {1: 0, 2: 1}, "mixed": {2: 1}}, np.random.default_rng(0))
        assert collect(made, key="user").n_users == 2

    def test_progress_rises_to_one(self):
        """Every source is named, and the last call says that all is done."""
        calls = []
        made = sources({"points": {1: 0, 2: 1}, "cells": {1: 0}}, np.random.default_rng(0))
        collect(made, key="user", progress=lambda what, share: calls.append((what, share)))
        shares = [share for _, share in calls]
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)
        assert {what for what, _ in calls} == {
            "reading service 'points'",
            "reading service 'cells'",
            "counting users",
        }

    @pytest.mark.parametrize("failing", ["reading service 'cells'", "counting users"])
    def test_ctrl_c_leaves_nothing_in_the_temporary_folder(self, tmp_path, failing):
        """Whenever it comes, the folder of the work database is removed."""
        seen = []

        def interrupt(what: str, share: float) -> None:
            seen.extend(os.listdir(tmp_path))
            if what == failing:
                raise KeyboardInterrupt

        made = sources({"points": {1: 0, 2: 1}, "cells": {1: 0}}, np.random.default_rng(0))
        with pytest.raises(KeyboardInterrupt):
            collect(made, key="user", temp_directory=tmp_path, progress=interrupt)
        assert seen
        assert os.listdir(tmp_path) == []

    @pytest.mark.nightly
    def test_a_little_memory_is_enough(self, tmp_path):
        """Two million users are counted within 80 MB of duckdb's memory; the rest is on disk."""
        rng, table = np.random.default_rng(10), TABLES["points"]
        users = rng.permutation(2_000_000)
        source = {"user": users, "report": table.low[users % 4]}
        counts = collect(
            [("a", table, source), ("b", table, source)], key="user", memory_limit="80MB", temp_directory=tmp_path
        )
        assert as_counter(counts) == {((0, 1), (output, output)): 500_000 for output in range(4)}
