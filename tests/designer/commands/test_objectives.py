"""`optldp design --objective` and `--knots auto` make what the library makes, and refuse what makes no sense."""

import json
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import (
    Guarantee,
    Information,
    KnotChoice,
    Prior,
    TradeOff,
    WorstCase,
    design,
)
from optldp.designer.designs.knots import continuum_as_given
from optldp.designer.objectives.registry import OBJECTIVES
from optldp.designer.objectives.smooth_error import smooth_trace
from optldp.designer.objectives.worst_case import minimax_knots
from optldp.designer.priors.ambiguity import AMBIGUITIES
from optldp.mechanisms import load_table, square_wave, verify

from ..conftest import INCOME, PEOPLE

RANGE = ("--range", 0, 100)
DESIGN = ("design", *INCOME, *RANGE, "--epsilon", 1, "--force", "--out", "new.json")


class TestAutomaticKnots:
    @pytest.mark.nightly
    def test_there_are_as_many_as_the_gap_takes(self, optldp):
        found = json.loads(optldp(*DESIGN, "--knots", "auto", "--gap", 0.005, "--json").stdout)
        made = design(KnotChoice(Prior.from_data(PEOPLE, domain=(0, 100)), gap=0.005), 1.0)
        assert found["knots"] == made.evidence.last.knots == load_table("new.json").knots.size
        last = continuum_as_given(made)
        assert found["continuum_lower_bound"] == last.lower_bound
        assert found["total_gap"] == last.total_gap <= 0.005
        assert found["knots_tried"] == [tried.knots for tried in made.evidence.tried]
        assert found["expected_variance"] == made.expected_variance

    @pytest.mark.nightly
    def test_they_are_the_default_and_the_gap_is_a_ten_thousandth_unless_told(self, optldp):
        found, named, coarser = (
            json.loads(optldp(*DESIGN, *more, "--json").stdout) for more in ((), ("--knots", "auto"), ("--gap", 1e-3))
        )
        assert 5e-5 < found["total_gap"] <= 1e-4 < coarser["total_gap"] <= 1e-3
        assert found["knots_tried"][-1] == found["knots"] > coarser["knots"]
        assert named | {"seconds": found["seconds"]} == found

    @pytest.mark.nightly
    def test_their_number_and_their_gap_are_the_first_that_is_said(self, optldp):
        found = json.loads(optldp(*DESIGN, "--gap", 1e-2, "--json").stdout)
        said = optldp(*DESIGN, "--gap", 1e-2).stdout.splitlines()[0]
        start, end = f"optimal mechanism, {found['knots']} knots: within ", " of the best for every value of the range"
        assert said.startswith(start)
        assert said.endswith(end)
        assert found["total_gap"] <= float(said[len(start) : -len(end)]) <= 1.1 * found["total_gap"]

    @pytest.mark.slow
    def test_a_number_fixes_them_and_their_gap_is_said_as_well(self, optldp):
        found = json.loads(optldp(*DESIGN, "--knots", 9, "--json").stdout)
        made = design(Prior.from_data(PEOPLE, knots=9, domain=(0, 100)), 1.0)
        assert (found["knots"], found["knots_tried"]) == (9, [9])
        assert (found["lower_bound"], found["status"]) == (made.certificate.as_given.bound(), "optimal")
        assert found["total_gap"] == continuum_as_given(made).total_gap > found["relative_gap"]

    @pytest.mark.slow
    def test_whole_numbers_are_knots_where_they_are_few(self, optldp):
        Path("ages.csv").write_text("age\n" + "".join(f"{18 + i * i % 73}\n" for i in range(200)))
        words = ("design", "ages.csv", "--column", "age", "--range", 18, 90, "--epsilon", 4, "--json")
        found = json.loads(optldp(*words, "--out", "ages.json").stdout)
        assert load_table("ages.json").knots.tolist() == list(range(18, 91))
        assert found["total_gap"] <= 1e-6

    @pytest.mark.nightly
    def test_the_values_of_a_prior_are_knots_unless_a_gap_is_asked_for(self, optldp):
        places = np.linspace(0, 1, 59) ** 2
        Path("many.csv").write_text("value,weight\n" + "".join(f"{float(x)!r},1\n" for x in places))
        words = ("design", "--prior", "many.csv", "--epsilon", 0.5, "--json")
        own, fewer = (json.loads(optldp(*words, *more).stdout) for more in ((), ("--gap", 0.01)))
        assert own["knots"] == 59 > fewer["knots"]
        assert own["total_gap"] <= 1e-6 < fewer["total_gap"] <= 0.01

    @pytest.mark.slow
    def test_closed_forms_have_101(self, optldp):
        found = json.loads(optldp(*DESIGN, "--method", "duchi", "--json").stdout)
        assert found["knots"] == 101
        assert "total_gap" not in found

    @pytest.mark.nightly
    def test_the_worst_case_has_its_own(self, optldp):
        words = (*DESIGN, "--objective", "minimax", "--gap", 1e-3, "--json")
        found, named = (json.loads(optldp(*words, *more).stdout) for more in ((), ("--knots", "auto")))
        assert found["knots"] == named["knots"] == minimax_knots(0, 100, 1.0, excess=1e-3).size
        assert 0 < found["between_knots"] < 1e-3

    @pytest.mark.slow
    def test_the_worst_case_stops_at_the_most_and_says_so(self, optldp, monkeypatch):
        monkeypatch.setattr(import_module("optldp.designer.designs.knots"), "MOST_KNOTS", 11)
        done = optldp(*DESIGN, "--objective", "minimax", "--knots", "auto", "--json")
        assert json.loads(done.stdout)["knots"] == 11
        assert "warning: 52 knots would be needed, 11 are the most; see between_knots" in done.stderr

    @pytest.mark.slow
    def test_a_gap_that_is_not_reached_is_warned_of(self, optldp, monkeypatch):
        monkeypatch.setattr(
            import_module("optldp.designer.designs.knots"), "KnotChoice", partial(KnotChoice, most_knots=25)
        )
        done = optldp(*DESIGN, "--knots", "auto", "--gap", 1e-5, "--public", "--json")
        found = json.loads(done.stdout)
        assert (found["status"], found["knots"]) == ("gap-open", 25)
        assert f"warning: the total gap stayed at {found['total_gap']:.1e} with 25 knots, the most\n" in done.stderr

    @pytest.mark.slow
    def test_the_gap_that_the_most_knots_leave_by_default_is_noted(self, optldp, monkeypatch):
        monkeypatch.setattr(import_module("optldp.designer.designs.knots"), "MOST_KNOTS", 25)
        done = optldp(*DESIGN, "--public", "--json")
        found = json.loads(done.stdout)
        assert (found["status"], found["knots"]) == ("gap-open", 25)
        assert f"note: the total gap stayed at {found['total_gap']:.1e} with 25 knots, the most without" in done.stderr


class TestMinimax:
    def test_it_needs_a_range_and_no_data(self, optldp):
        arguments = ("--objective", "minimax", *RANGE, "--epsilon", 1, "--knots", 11, "--units", "EUR")
        done = optldp("design", *arguments, "--out", "new.json", "--json")
        found, made = json.loads(done.stdout), design(Prior.even(np.linspace(0, 100, 11)), 1.0, objective=WorstCase())
        assert found["worst_case_variance"] == made.worst_case_variance
        assert found["lower_bound"] == found["worst_case_lower_bound"] == made.bound
        assert found["method"] == made.method == "optimal"
        assert found["relative_gap"] == made.gap <= 1e-6
        assert found["expected_variance"] is None
        assert done.stderr == "optldp: wrote new.json (a table of 11 knots)\n"
        table = load_table("new.json")
        assert not verify(table).failures
        assert (table.prior, table.units) == (None, "EUR")

    @pytest.mark.slow
    def test_data_are_what_the_expected_variance_is_taken_over_and_leave_no_trace(self, optldp):
        done = optldp(*DESIGN, "--objective", "minimax", "--knots", 9, "--json")
        found, table = json.loads(done.stdout), load_table("new.json")
        prior = Prior.from_data(PEOPLE, knots=9, domain=(0, 100))
        assert found["expected_variance"] == table.expected_variance(prior.knot_prior)
        assert np.array_equal(
            table.probabilities, design(Prior.even(prior.knots), 1.0, objective=WorstCase()).mechanism.probabilities
        )
        assert (table.prior, done.stderr) == (None, "optldp: wrote new.json (a table of 9 knots)\n")

    def test_a_range_from_the_data_is_a_disclosure(self, optldp):
        done = optldp("design", *INCOME, "--epsilon", 1, "--objective", "minimax", "--knots", 9)
        assert done.stderr.startswith("optldp: note: no --range given")
        assert "\n  lower_bound " in done.stdout
        assert "worst_case_lower_bound" not in done.stdout

    def test_a_prior_with_values_of_its_own_gives_the_knots(self, optldp):
        done = optldp("design", "--prior", "prior.csv", "--epsilon", 1, "--objective", "minimax", "--json")
        assert json.loads(done.stdout)["knots"] == 5


class TestTradeOff:
    @pytest.mark.nightly
    def test_it_is_what_the_library_makes_by_either_weight(self, optldp):
        chosen = ("--objective", "trade-off", "--knots", 9, "--json")
        found = json.loads(optldp(*DESIGN, "--knots", 9, "--json", "--objective", "trade-off:0.25").stdout)
        made = design(Prior.from_data(PEOPLE, knots=9, domain=(0, 100)), 1.0, objective=TradeOff(0.25))
        assert found["weighted_variance"] == found["value"] == made.value
        assert (found["lower_bound"], found["relative_gap"]) == (made.bound, made.gap)
        assert found["weighted_variance"] == pytest.approx(
            0.75 * found["expected_variance"] + 0.25 * found["worst_knot_variance"]
        )
        assert np.array_equal(load_table("new.json").probabilities, made.mechanism.probabilities)
        for same in (("--expected", 0.75), ("--expected", 0.75, "--worst", 0.25)):
            done = optldp(*DESIGN, *chosen, *same)
            assert json.loads(done.stdout) | {"seconds": found["seconds"]} == found
            assert f"note: {' and '.join(map(str, same[::2]))} will go: write --objective trade-off" in done.stderr


class TestRobust:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(("kind", "radius"), [("relative", 0.3), ("tv", 0.1), ("wasserstein", 4.0)])
    def test_it_guarantees_what_the_library_says(self, optldp, kind, radius):
        chosen = ("--objective", f"robust:{kind},radius={radius}", "--knots", 9)
        done = optldp(*DESIGN, *chosen, "--json")
        found = json.loads(done.stdout)
        prior = Prior.from_data(PEOPLE, knots=9, domain=(0, 100))
        made = design(prior, 1.0, objective=Guarantee(AMBIGUITIES[kind](radius)))
        assert found["guaranteed_variance"] == made.value
        assert (found["lower_bound"], found["relative_gap"]) == (made.bound, made.gap)
        assert found["price_of_robustness"] == made.evidence.price_of_robustness
        assert found["expected_variance"] < found["guaranteed_variance"] <= found["nominal_guarantee"]
        assert np.array_equal(load_table("new.json").probabilities, made.mechanism.probabilities)
        assert "--omit-prior" in done.stderr

    def test_a_radius_that_contains_everything_is_minimax_and_says_so(self, refusal):
        message = refusal(*DESIGN, "--objective", "robust:tv,radius=1.5")
        assert "contains every prior on the knots: the design is then minimax, use --objective minimax" in message


class TestInformation:
    @pytest.mark.parametrize("criterion", ["mutual-information", "fisher", "cumulative"])
    def test_it_tells_as_much_as_the_library_says(self, optldp, criterion):
        chosen = "information" if criterion == "mutual-information" else f"information:{criterion}"
        done = optldp(*DESIGN, "--objective", chosen, "--knots", 9, "--json")
        found = json.loads(done.stdout)
        made = design(Prior.from_data(PEOPLE, knots=9, domain=(0, 100)), 1.0, objective=Information(criterion))
        assert (found["criterion"], found["relative_gap"]) == (criterion, made.gap)
        if criterion == "mutual-information":
            assert (found["information_nats"], found["information_upper_bound"]) == (made.value, made.bound)
            assert found["information_nats"] <= found["information_upper_bound"]
        else:
            assert (found["trace"], found["trace_lower_bound"]) == (made.value, made.bound)
            assert found["trace"] >= found["trace_lower_bound"]
            assert found["information_nats"] == made.evidence.information
        assert (found["status"], found["interval_status"]) == (made.status, made.evidence.interval_status)
        assert "stayed open" not in done.stderr
        assert verify(load_table("new.json")).max_log_ratio <= 1

    def test_what_arrives_at_so_many_users_is_said_beside_what_many_promise(self, optldp):
        """Of the prior that the design is for; by `smooth_trace`, of the design and of the square wave."""
        chosen = ("--objective", "information:cumulative", "--knots", 7, "--n")
        few, many = (optldp(*DESIGN, *chosen, n, "--json") for n in (2_000, 10**12))
        found, last = json.loads(few.stdout), json.loads(many.stdout)
        prior = Prior.from_data(PEOPLE, knots=7, domain=(0, 100)).mixed()
        for name, table in (("", load_table("new.json")), ("square_wave_", square_wave(prior.knots, 1.0))):
            assert found[f"{name}smooth_trace"] == pytest.approx(smooth_trace(table.probabilities, prior, 2000))
        assert last["smooth_trace"] == pytest.approx(last["trace"], rel=1e-3)
        ratio = found["square_wave_smooth_trace"] / found["smooth_trace"]
        assert f"with 2,000 people about {ratio:.2f} times less squared error than with the square wave's" in few.stderr
        assert f"{last['square_wave_smooth_trace'] / last['smooth_trace']:.2f} times is for ever more" in few.stderr

    def test_an_open_gap_is_that_to_the_patterns_asked_for(self, optldp):
        chosen = ("--objective", "information=fisher", "--knots", 9, "--tolerance", 1e-15, "--json")
        done = optldp(*DESIGN, *chosen)
        assert "the certificate's gap stayed open; " in done.stderr
        assert f"(gap {json.loads(done.stdout)['interval_gap']:.1e})" in done.stderr

    def test_a_table_whose_reports_tell_too_little_is_warned_of(self, optldp):
        chosen = (*DESIGN, "--knots", 9, "--objective")
        assert "so none can be estimated" in optldp(*chosen, "information").stderr
        assert "so none can be estimated" not in optldp(*chosen, "information:cumulative").stderr
        assert "biased" in optldp("show", "new.json").stderr

    def test_any_patterns_tell_at_least_as_much(self, optldp):
        chosen = (*DESIGN, "--knots", 9, "--json", "--objective")
        some, every = (
            json.loads(optldp(*chosen, f"information,patterns={name}").stdout) for name in ("interval", "any")
        )
        assert some["information_nats"] <= every["information_nats"] * (1 + 1e-9)
        assert every["relative_gap"] <= 1e-6

    def test_any_patterns_by_a_fisher_criterion_are_solved_while_one_waits(self, optldp):
        """To 1e-3: the library asks for what it asks of all."""
        words = ("--knots", 7, "--json", "--objective", "information:fisher,patterns=any")
        found = json.loads(optldp(*DESIGN, *words).stdout)
        prior, asked = Prior.from_data(PEOPLE, knots=7, domain=(0, 100)), Information("fisher", "any")
        assert found["value"] == pytest.approx(design(prior, 1.0, objective=asked, tolerance=1e-3).value, rel=1e-12)
        assert asked.tolerance == 1e-6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--objective", "best"),
            f"--objective must be one of {', '.join(OBJECTIVES)}, got 'best'",
        ),
        (("--objective", "minimax", "--method", "duchi"), "--method is of no use to a minimax table"),
        (("--objective", "minimax", "--uniform-share", 0.1), "--uniform-share is of no use to a minimax table"),
        (("--objective", "minimax", "--radius", 0.1), "--radius is for --objective robust: leave it out"),
        (("--radius", 0.1), "--radius is for --objective robust: leave it out"),
        (("--criterion", "fisher"), "--criterion is for --objective information: leave it out"),
        (("--objective", "minimax:3"), "--objective minimax takes nothing beside, got '3': write minimax"),
        (("--objective", "best:3"), "--objective must be one of expected, minimax, trade-off, robust"),
        (
            ("--objective", "robust:tv,worst=1"),
            "--objective robust takes ambiguity, radius, got 'worst': write",
        ),
        (("--objective", "robust:tv,radius=far"), "radius of --objective robust must be a number, got 'far'"),
        (("--objective", "robust:,radius=1"), "ambiguity of --objective robust must be a word, got ''"),
        (("--objective", "trade-off:0.3,worst=0.3"), "worst of --objective trade-off must be told once, got"),
        (
            ("--objective", "trade-off:0.3", "--worst", 0.3),
            "worst of --objective trade-off must be told once, got 'trade-off:0.3,worst=0.3': leave one out",
        ),
        (("--objective", "error:2"), "the error of a mean needs --n N"),
        (("--objective", "error,last=a.csv", "--n", 9), "a trust is measured between two files: write error,last=OLD"),
        (("--gap", 0.1, "--knots", 9), "--gap is for --knots auto: leave it out"),
        (("--knots", "many"), "--knots must be a whole number or auto, got 'many'"),
        (("--knots", "auto", "--gap", 2), "gap must lie strictly between 0 and 1, got 2"),
        (("--knots", "auto", "--method", "duchi"), "--knots auto is for the method optimal, got 'duchi'"),
        (("--knots", "auto", "--objective", "robust"), "--knots auto is of no use to a robust table"),
        (("--levels", "1,2", "--objective", "minimax"), "levels"),
        (
            ("--objective", "trade-off"),
            "trade-off needs the worst case's weight, in (0, 1]: write trade-off:0.3",
        ),
        (("--objective", "trade-off", "--worst", 2), "the worst case's weight must lie in (0, 1], got 2"),
        (("--objective", "trade-off", "--worst", 0.5, "--expected", 0.6), "must sum to 1, got 0.6 and 0.5"),
        (("--worst", 0.5), "--worst is for --objective trade-off: leave it out"),
        (
            ("--objective", "robust"),
            "--objective robust needs an ambiguity, one of relative, tv, wasserstein, and a radius: write robust",
        ),
        (("--objective", "robust", "--ambiguity", "far", "--radius", 1), "ambiguity must be one of relative, tv"),
        (("--objective", "robust", "--ambiguity", "tv", "--radius", -1), "radius must be finite and not negative"),
        (("--objective", "information", "--criterion", "wit"), "criterion must be one of"),
        (("--objective", "information", "--patterns", "stripes"), "patterns must be one of"),
        (("--objective", "information", "--method", "grr"), "--method is of no use to an information-optimal table"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, arguments, says):
    assert says in refusal(*DESIGN, *arguments)


def test_a_minimax_design_without_a_range_is_refused(refusal):
    message = refusal("design", "--objective", "minimax", "--epsilon", 1)
    assert "a minimax design needs a range: give --range LO HI" in message
    assert "low < high" in refusal("design", "--objective", "minimax", "--epsilon", 1, "--range", 3, 1)
    assert "low < high" in refusal(
        "design", "--objective", "minimax", "--epsilon", 1, "--range", 3, 1, "--knots", "auto"
    )


def test_categories_have_no_objective(refusal):
    Path("jobs.csv").write_text("job\ncook\nnurse\n")
    message = refusal("design", "jobs.csv", "--column", "job", "--categorical", "--epsilon", 1, "--objective", "robust")
    assert "--objective is for a --loss, where values are categories" in message
