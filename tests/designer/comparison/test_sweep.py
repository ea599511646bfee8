"""Sweeps: the same table however and wherever it is computed, and a row for whatever goes wrong."""

# What stands in for a design in a test is found where it is used, in another module than its own.
# pyright: reportPrivateImportUsage=false, reportOptionalOperand=false

import itertools
import threading
import time
from dataclasses import replace

import dask
import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from joblib.parallel import ThreadingBackend
from optldp.designer import METHODS, Prior, compare, design, sweep
from optldp.designer.comparison import judging
from optldp.mechanisms import InputError, SolverError
from threadpoolctl import threadpool_info

from ..sweep_cases import EPSILONS, FAR_AWAY, FEW, KNOTS, PRIORS, watched_optima, whole_table


class ListsOnly(ThreadingBackend):
    """A backend that, like Ray's, cannot hand out results before all are there."""

    @property
    def supports_return_generator(self) -> bool:
        return False


joblib.register_parallel_backend("lists-only", ListsOnly)


@pytest.fixture(scope="module")
def table():
    """Every case with every method."""
    return whole_table()


def refusal(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        sweep(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestRows:
    """What a row says, and in which order rows stand."""

    @pytest.mark.nightly
    def test_there_is_a_row_for_every_prior_budget_and_method_in_order(self, table):
        expected = itertools.product(sorted(PRIORS), sorted(EPSILONS), ["expected"], METHODS)
        assert [row.key for row in table.rows] == list(expected)

    @pytest.mark.nightly
    def test_a_row_says_what_compare_and_design_say(self, table):
        rows = {row.key: row for row in table.rows}
        for name, prior in PRIORS.items():
            for told in compare(prior, EPSILONS):
                assert rows[name, told.epsilon, "expected", told.method] == replace(told, prior=name)
        for method in FEW:
            made, row = design(PRIORS["flat"], 2.0, method=method, exact=False), rows["flat", 2.0, "expected", method]
            assert (row.value, row.bound) == (made.value, made.bound)
            assert (row.relative_gap, row.status, row.error) == (made.gap, made.status, "")
            assert row.seconds > 0

    def test_options_reach_the_solver(self):
        rows = sweep({"skewed": PRIORS["skewed"]}, [1.0], ["optimal", "duchi"], uniform_share=0.2, tolerance=1e-2).rows
        for row in rows:
            made = design(PRIORS["skewed"], 1.0, method=row.method, uniform_share=0.2, tolerance=1e-2, exact=False)
            assert (row.expected_variance, row.relative_gap) == (made.expected_variance, made.gap)

    @pytest.mark.nightly
    def test_the_table_does_not_depend_on_the_order_of_the_arguments(self, table):
        shuffled = dict(reversed(PRIORS.items()))
        assert sweep(shuffled, [0.5, 2.0, 0.5], [*reversed(METHODS), "duchi"]) == table

    @pytest.mark.nightly
    def test_the_optimum_is_solved_once_per_prior_and_budget(self, monkeypatch):
        solved = watched_optima(monkeypatch)
        sweep(PRIORS, [*EPSILONS, 0.5])
        assert sorted(solved) == sorted(
            (prior.knots.size, epsilon) for prior in PRIORS.values() for epsilon in EPSILONS
        )

    @pytest.mark.nightly
    def test_progress_counts_every_row_once(self):
        told = []
        table = sweep(PRIORS, EPSILONS, FEW, progress=lambda *event: told.append(event))
        assert [(done, total) for done, total, _ in told] == [(k + 1, 18) for k in range(18)]
        assert {row.key for _, _, row in told} == {row.key for row in table.rows}

    @pytest.mark.nightly
    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_the_written_table_is_the_rows_with_empty_cells_where_a_case_failed(self, tmp_path, extension):
        table = sweep({'far, "away"': FAR_AWAY}, [1e-6], ["optimal", "duchi", "square-wave"])
        table.write(tmp_path / f"table.{extension}")
        read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[extension](tmp_path / f"table.{extension}")
        assert list(read.columns) == list(table.columns())
        for written, row in zip(read.to_dict("records"), table.rows, strict=True):
            assert tuple(written[name] for name in ("prior", "epsilon", "objective", "method")) == row.key
            assert written["status"] == row.status
            if row.status == "failed":
                assert written["error"] == row.error
                assert np.isnan(written["expected_variance"])
            else:
                assert written["expected_variance"] == pytest.approx(row.expected_variance, rel=1e-15)
                assert written["bound"] == pytest.approx(row.bound, rel=1e-15)


class TestFailures:
    """A case that cannot be solved is a row."""

    @pytest.mark.slow
    def test_a_method_that_cannot_be_built_says_why_and_stops_no_other(self):
        table = sweep({"far": FAR_AWAY}, [1e-6, 1.0], ["optimal", "duchi", "square-wave"], n_jobs=2)
        assert [row.key for row in table.failures] == [("far", 1e-6, "expected", "square-wave")]
        assert "subtract an offset" in table.failures[0].error
        assert table.failures[0].expected_variance is None
        assert all(row.expected_variance > 0 for row in table.rows if row not in table.failures)

    @pytest.mark.nightly
    def test_without_an_optimum_every_method_of_the_case_fails_and_no_other_case(self, monkeypatch, table):
        real = judging.solve_methods

        def failing(prior, epsilon, methods, **options):
            if epsilon == 0.5:
                raise SolverError("the path is lost")
            return real(prior, epsilon, methods, **options)

        monkeypatch.setattr(judging, "solve_methods", failing)
        found = sweep(PRIORS, EPSILONS, FEW)
        assert {row.key for row in found.failures} == set(itertools.product(PRIORS, [0.5], ["expected"], FEW))
        assert {row.error for row in found.failures} == {"no optimum: the path is lost"}
        kept = [row for row in found.rows if row.epsilon == 2.0]
        assert kept == [row for row in table.rows if row.epsilon == 2.0 and row.method in FEW]

    @pytest.mark.nightly
    def test_a_row_that_failed_is_kept_and_not_tried_again(self, tmp_path, monkeypatch):
        file = tmp_path / "sweep.jsonl"
        first = sweep({"far": FAR_AWAY}, [1e-6], ["duchi", "square-wave"], results=file)
        monkeypatch.setattr(judging, "solve_methods", None)
        assert sweep({"far": FAR_AWAY}, [1e-6], ["duchi", "square-wave"], results=file) == first


class TestWorkers:
    """Processes, threads and clusters give the same table."""

    @pytest.mark.nightly
    def test_processes_do(self, table):
        found = sweep(PRIORS, EPSILONS, FEW, n_jobs=2)
        assert found.rows == tuple(row for row in table.rows if row.method in FEW)

    @pytest.mark.nightly
    @pytest.mark.parametrize("backend", ["threading", "sequential", "lists-only"])
    def test_whatever_backend_the_caller_names_does(self, table, backend):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            assert sweep(PRIORS, EPSILONS) == table

    @pytest.mark.nightly
    def test_a_dask_cluster_does_and_takes_up_where_another_backend_stopped(self, table, tmp_path):
        file = tmp_path / "sweep.jsonl"
        sweep(PRIORS, EPSILONS[:1], FEW, results=file)
        # Its profiler looks at the frames of all threads; once in many runs these then waited for each other for ever.
        with dask.config.set({"distributed.worker.profile.enabled": False}):
            cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="")
            with cluster, Client(cluster), joblib.parallel_config(backend="dask"):
                assert sweep(PRIORS, EPSILONS, results=file) == table

    @pytest.mark.nightly
    def test_a_backend_that_gives_lists_is_asked_in_rounds(self, tmp_path):
        seen, file = [], tmp_path / "sweep.jsonl"
        with joblib.parallel_config(backend="lists-only", n_jobs=1):
            sweep(
                PRIORS,
                EPSILONS,
                ["duchi"],
                results=file,
                progress=lambda *_: seen.append(len(file.read_text().splitlines()) - 1),
            )
        assert seen == [1, 2, 3, 4, 5, 6]

    @pytest.mark.nightly
    @pytest.mark.parametrize("backend", ["sequential", "threading"])
    def test_each_worker_has_one_thread_and_the_process_gets_its_own_back(self, backend, monkeypatch):
        real, seen, both = judging.solve_methods, [], threading.Barrier(2)

        def watched(prior, epsilon, methods, **options):
            if backend == "threading":
                both.wait(timeout=60)
                if epsilon == 2.0:
                    time.sleep(0.5)  # until the other worker has left and restored what it found
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            return real(prior, epsilon, methods, **options)

        monkeypatch.setattr(judging, "solve_methods", watched)
        before = threadpool_info()
        with joblib.parallel_config(backend=backend):
            sweep({"flat": PRIORS["flat"]}, EPSILONS, FEW, n_jobs=2)
        assert set(seen) == {1}
        assert threadpool_info() == before

    def test_a_case_alone_has_one_thread_as_in_a_process_of_its_own(self, monkeypatch):
        seen = []

        def watched(*arguments, **options):
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            raise SolverError("seen enough")

        monkeypatch.setattr(judging, "solve_methods", watched)
        judging.solve_case("flat", PRIORS["flat"], 1.0, FEW, uniform_share=0.0, tolerance=1e-6)
        assert set(seen) == {1}


class TestRefusals:
    """One line, before anything is computed."""

    def test_mixed_domains_and_units_are_refused(self, monkeypatch):
        monkeypatch.setattr(judging, "solve_methods", None)
        wide = Prior.on_knots(KNOTS * 2, np.ones(7), source="public")
        assert "must share one domain, got 'flat' with (0.0, 50.0) and 'wide' with (0.0, 100.0)" in refusal(
            {"flat": PRIORS["flat"], "wide": wide}, EPSILONS
        )
        euros = Prior.on_knots(KNOTS, np.ones(7), source="public", units="EUR")
        assert "must share one unit, got 'flat' with '' and 'euros' with 'EUR'" in refusal(
            {"flat": PRIORS["flat"], "euros": euros}, EPSILONS
        )

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"priors": {}}, "at least one prior"),
            ({"priors": {3: PRIORS["flat"]}}, "named by text, got 3"),
            ({"epsilons": []}, "one epsilon"),
            ({"epsilons": [1.0, 17.0]}, "at most 16, got 17"),
            ({"methods": []}, "one method"),
            ({"methods": ["duchi", "magic"]}, "got 'magic'"),
            ({"uniform_share": 1.5}, "uniform share must lie in [0, 1], got 1.5"),
            ({"tolerance": 0.0}, "tolerance must lie strictly between 0 and 1, got 0.0"),
            ({"n_jobs": 0}, "n_jobs must be"),
        ],
    )
    def test_what_cannot_be_swept_is_refused_before_anything_is_made(self, change, says, tmp_path, monkeypatch):
        monkeypatch.setattr(judging, "solve_methods", None)
        given = {"priors": PRIORS, "epsilons": EPSILONS, "methods": FEW, **change}
        assert says in refusal(results=tmp_path / "sweep.jsonl", **given)
        assert list(tmp_path.iterdir()) == []
