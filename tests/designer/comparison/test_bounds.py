"""The least variances at every budget, against the functions that find them one at a time."""

# What stands in for a solution in a test is found where it is used, in another module than its own.
# pyright: reportPrivateImportUsage=false

import functools
import json

import joblib
import numpy as np
import pytest
from optldp.designer import Lattice, Prior, TradeOff, Variance, WorstCase, bounds, continuum_certificate, design, sweep
from optldp.designer.comparison import bounds as bounds_computation
from optldp.designer.comparison.bounds_result import BoundsResult
from optldp.designer.comparison.row import Row
from optldp.mechanisms import InputError

from ..sweep_cases import FAR_AWAY

KNOTS = np.linspace(0, 50, 9)
PRIOR = Prior.on_knots(KNOTS, [1, 4, 9, 12, 9, 4, 1, 0, 0], source="public", units="EUR")
EPSILONS = [0.5, 1.0, 2.0]
METHODS = ("optimal", "aaa", "laplace", "duchi", "hybrid")


@functools.cache
def small_result() -> BoundsResult:
    """A result with nothing missing."""
    return bounds(PRIOR, EPSILONS, methods=METHODS)


@functools.cache
def failing_result() -> BoundsResult:
    """A result with a failed case: so far from zero that Laplace's mechanism cannot be unbiased at a small budget."""
    return bounds(FAR_AWAY, [1e-3, 1.0], methods=["optimal", "duchi", "grr", "square-wave"])


class TestNumbers:
    @pytest.mark.nightly
    def test_rows_are_those_of_a_sweep(self):
        rows = sweep({"prior": PRIOR}, EPSILONS, METHODS).rows
        found = [row for budget in small_result().budgets for row in budget.rows]
        assert found == list(rows)

    @pytest.mark.nightly
    @pytest.mark.parametrize("epsilon", EPSILONS)
    def test_the_minimax_is_the_design_of_least_worst_case(self, epsilon):
        row, made = (
            small_result().at(epsilon).minimax,
            design(Prior.even(KNOTS), epsilon, objective=WorstCase(), exact=False),
        )
        assert row.worst_case_variance == made.worst_case_variance
        assert (row.bound, row.relative_gap) == (made.bound, made.gap)
        assert row.expected_variance == made.mechanism.expected_variance(PRIOR.knot_prior)

    @pytest.mark.slow
    def test_nothing_is_below_the_bounds_or_above_the_budget(self):
        for budget in small_result().budgets:
            least_worst = budget.minimax.bound
            assert least_worst is not None
            for row in budget.rows:
                assert row.bound is not None
                assert row.value is not None
                assert row.worst_case_variance is not None
                assert row.max_log_ratio is not None
                assert row.value >= row.bound
                assert row.worst_case_variance >= least_worst
                assert 0 < row.max_log_ratio <= budget.epsilon

    def test_the_continuum_bound_is_that_of_the_floored_prior(self):
        solved = PRIOR.mixed()
        certificate = continuum_certificate(design(solved, 1.0, tolerance=1e-6, uniform_share=0.0, exact=False))
        best = small_result().at(1.0).row("optimal")
        assert best.continuum_bound == certificate.lower_bound
        assert best.continuum_gap == pytest.approx(certificate.total_gap, rel=1e-9)
        assert small_result().at(1.0).row("duchi").continuum_gap is None

    def test_closed_forms_are_ranked_without_the_two_that_are_designed(self):
        for budget in small_result().budgets:
            ranked = [row.expected_variance or np.nan for row in budget.closed_forms]
            assert ranked == sorted(ranked)
            assert {row.method for row in budget.closed_forms} == {"laplace", "duchi", "hybrid"}

    @pytest.mark.nightly
    def test_the_result_does_not_depend_on_order_or_workers(self):
        with joblib.parallel_config(backend="threading", n_jobs=2):
            again = bounds(PRIOR, [2.0, 0.5, 1.0, 0.5], methods=reversed(METHODS))
        assert again.rows == small_result().rows
        assert again.methods == METHODS

    @pytest.mark.nightly
    def test_the_optimum_is_there_without_being_named(self):
        assert bounds(PRIOR, [1.0], methods=["duchi"]).methods == ("optimal", "duchi")


class TestDetail:
    def test_it_has_every_mechanism_and_ends_with_the_minimax(self):
        detail = small_result().detail
        assert detail.epsilon == 1.0
        assert tuple(detail.mechanisms) == METHODS
        assert detail.minimax is not None
        assert detail.minimax.worst_case_variance == small_result().at(1.0).minimax.worst_case_variance
        assert [point.objective.worst for point in detail.trade_off] == sorted(
            point.objective.worst for point in detail.trade_off
        )
        assert not detail.failures

    @pytest.mark.nightly
    @pytest.mark.parametrize(("epsilons", "shown"), [([0.5, 2.5], 0.5), ([0.3, 2.0], 2.0), ([3.0], 3.0)])
    def test_the_budget_nearest_to_one_by_ratio_is_shown(self, epsilons, shown):
        assert bounds(PRIOR, epsilons, methods=["duchi"]).detail.epsilon == shown

    @pytest.mark.nightly
    def test_another_budget_can_be_asked_for(self):
        assert bounds(PRIOR, [1.0, 2.0], methods=["duchi"], at=2.0).detail.epsilon == 2.0


class TestSharing:
    @pytest.mark.nightly
    def test_every_objective_is_solved_once_at_a_budget_and_every_method_built_once(self, monkeypatch):
        """The budget that is shown in detail too; of its trade-off the six points between are solved beside."""
        solved: list[tuple[str, float, float]] = []

        def watched(kind, name):
            real = getattr(kind, name)

            def called(self, problem, *rest):
                if problem.uniform_share > 0 or self.key != "expected":  # once more without, for a bound as given
                    solved.append((self.key, problem.epsilon, getattr(self, "worst", 0.0)))
                return real(self, problem, *rest)

            monkeypatch.setattr(kind, name, called)

        for kind, name in ((Variance, "solve"), (TradeOff, "solve"), (Lattice, "build")):
            watched(kind, name)
        bounds(PRIOR, [1.0, 2.0], methods=["aaa", "duchi"])
        assert len(solved) == len(set(solved))
        once = [(key, epsilon) for key, epsilon, worst in solved if worst in (0.0, 1.0)]
        assert sorted(once) == [(key, epsilon) for key in ("aaa", "expected", "minimax") for epsilon in (1.0, 2.0)]
        between = [worst for key, epsilon, worst in solved if key == "trade-off" and epsilon == 1.0]
        assert between == [0.001, 0.01, 0.1, 0.25, 0.5, 0.75]

    def test_points_that_are_only_drawn_are_proved_to_what_can_be_seen(self):
        *between, worst = small_result().detail.trade_off
        assert all(point.gap <= 1e-4 and point.status == "optimal" for point in between)
        assert all(point.mechanism.prior is not None for point in (*between, worst))
        assert worst.gap <= 1e-6


class TestFailures:
    @pytest.mark.nightly
    def test_a_case_that_cannot_be_built_is_a_row_with_its_reason(self):
        found = failing_result()
        assert found.failures
        for row in found.failures:
            assert isinstance(row, Row)
            assert row.expected_variance is None
            assert row.error
        assert found.at(1e-3).row("optimal").solved

    @pytest.mark.nightly
    def test_where_there_is_no_optimum_no_method_is_judged(self, monkeypatch):
        def refuse(*arguments, **options):
            raise InputError("no such luck")

        monkeypatch.setattr(Variance, "solve", refuse)
        found = bounds(PRIOR, [1.0], methods=["duchi"])
        assert [row.error for row in found.budgets[0].rows] == ["no optimum: no such luck"] * 2
        assert found.budgets[0].minimax.solved
        assert found.detail.failures == {"optimal": "no such luck", "duchi": "no such luck"}

    @pytest.mark.slow
    def test_a_minimax_that_fails_stops_nothing(self, monkeypatch):
        def refuse(*arguments, **options):
            raise InputError("no such luck")

        monkeypatch.setattr(TradeOff, "solve", refuse)
        found = bounds(PRIOR, [1.0], methods=["duchi"])
        assert found.budgets[0].minimax.error == "no such luck"
        assert found.detail.minimax is None
        assert found.budgets[0].row("duchi").solved

    @pytest.mark.parametrize(
        ("epsilons", "options", "says"),
        [
            ([], {}, "at least one epsilon"),
            ([0.0], {}, "epsilon must be positive"),
            ([1.0], {"methods": ["nope"]}, "method must be one of"),
            ([1.0], {"at": 2.0}, "must be one of the epsilons"),
            ([1.0], {"uniform_share": 1.5}, "the uniform share must lie in"),
            ([1.0], {"tolerance": 0.0}, "tolerance must lie strictly"),
            ([1.0], {"n_jobs": 0}, "n_jobs must be"),
        ],
        ids=str,
    )
    def test_what_cannot_be_computed_is_refused_in_one_line(self, epsilons, options, says):
        with pytest.raises(InputError, match=says) as refused:
            bounds(PRIOR, epsilons, **options)
        assert "\n" not in str(refused.value)


class TestInterruptions:
    @pytest.fixture
    def solved(self, monkeypatch) -> list[float]:
        """The budgets solved from here on."""
        real, seen = bounds_computation.solve_budget, []

        def watched(prior, epsilon, methods, **options):
            seen.append(epsilon)
            return real(prior, epsilon, methods, **options)

        monkeypatch.setattr(bounds_computation, "solve_budget", watched)
        return seen

    @pytest.mark.nightly
    def test_after_one_only_the_rest_is_computed(self, tmp_path, solved):
        def stop(done, total, what):
            if done == 2:
                raise KeyboardInterrupt

        file = tmp_path / "bounds.jsonl"
        with pytest.raises(KeyboardInterrupt):
            bounds(PRIOR, EPSILONS, methods=METHODS, results=file, progress=stop)
        kept = [json.loads(line)["epsilon"] for line in file.read_text().splitlines()[1:]]
        assert kept == EPSILONS[:2]
        solved.clear()
        again = bounds(PRIOR, EPSILONS, methods=METHODS, results=file)
        assert solved == EPSILONS[2:]
        assert again.rows == small_result().rows

    @pytest.mark.nightly
    def test_fewer_methods_are_taken_from_the_file_and_more_are_computed(self, tmp_path, solved):
        file = tmp_path / "bounds.jsonl"
        bounds(PRIOR, [1.0], methods=["laplace", "duchi"], results=file)
        fewer = bounds(PRIOR, [1.0], methods=["duchi"], results=file)
        assert solved == [1.0]
        assert [row.method for row in fewer.budgets[0].rows] == ["optimal", "duchi"]
        more = bounds(PRIOR, [1.0], methods=METHODS, results=file)
        assert solved == [1.0, 1.0]
        assert more.rows == (*small_result().at(1.0).rows, small_result().at(1.0).minimax)

    @pytest.mark.nightly
    def test_failures_are_kept_too(self, tmp_path, solved):
        file = tmp_path / "bounds.jsonl"
        methods = failing_result().methods
        for _ in range(2):
            assert bounds(FAR_AWAY, [1e-3, 1.0], methods=methods, results=file).rows == failing_result().rows
        assert sorted(solved) == [1e-3, 1.0]

    @pytest.mark.nightly
    def test_a_line_without_its_end_is_dropped(self, tmp_path, solved):
        file = tmp_path / "bounds.jsonl"
        bounds(PRIOR, [0.5, 1.0], methods=["duchi"], results=file)
        whole = file.read_bytes()
        file.write_bytes(whole[:-30])
        bounds(PRIOR, [0.5, 1.0], methods=["duchi"], results=file)
        assert solved == [0.5, 1.0, 1.0]
        assert len(file.read_bytes().splitlines()) == 3

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda text: "some notes\n", "must be a file of bounds"),
            (
                lambda text: text.replace('"uniform_share": 0.001', '"uniform_share": 0.01'),
                "uniform_share 0.01 instead of 0.001",
            ),
            (lambda text: text.replace('"prior": "', '"prior": "0', 1), "another prior"),
            (lambda text: text + '{"epsilon": 2.0}\n', "line 3 of results"),
            (lambda text: text.replace('"method": "duchi"', '"method": "nope"'), "line 2 of results"),
            (lambda text: text.replace('"max_log_ratio": 0', '"max_log_ratio": "0"'), "line 2 of results"),
            (lambda text: text.replace('"epsilon": 1.0', '"epsilon": 3.0', 1), "line 2 of results"),
        ],
    )
    def test_a_file_of_something_else_is_refused_and_left_alone(self, tmp_path, change, says):
        file = tmp_path / "bounds.jsonl"
        bounds(PRIOR, [1.0], methods=["duchi"], results=file)
        changed = change(file.read_text())
        assert changed != file.read_text()
        file.write_text(changed)
        with pytest.raises(InputError, match=says):
            bounds(PRIOR, [1.0], methods=["duchi"], results=file)
        assert file.read_text() == changed

    def test_a_place_that_cannot_hold_results_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="results must be a readable file"):
            bounds(PRIOR, [1.0], results=tmp_path)
        with pytest.raises(InputError, match="the output must be writable"):
            bounds(PRIOR, [1.0], results=tmp_path / "missing" / "bounds.jsonl")
