"""`optldp two-phase` and `optldp advise`: the library's answers, said to people and to programs."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Guarantee, Lattice, Prior, TwoPhasePlan, advise, design, two_phase
from optldp.designer.commands.advise import REPETITIONS
from optldp.designer.planning.advice import DEFAULT_REPETITIONS
from optldp.designer.protocols.two_phase import two_phase_attributes
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import duchi, make_exact, save_table

from ..conftest import INCOME, PEOPLE, instead

TWO_PHASE = ("two-phase", *INCOME, "--range", 0, 100, "--epsilon", 1, "--knots", 9)
ADVISE = ("advise", *INCOME, "--range", 0, 100, "--n", 500, "--epsilon", 1, "--knots", 9, "--repetitions", 2)

TWO_PHASE_KEYS = (
    "value std_error low high confidence n method target n_first truth first_mean first_weight second_mean "
    "second_expected_variance one_phase_mean one_phase_expected_variance relative_gap seconds"
)
ROW_KEYS = (
    "mechanism estimator mse mse_error jensen_shannon jensen_shannon_error wasserstein wasserstein_error "
    "draws standing seconds"
)


def test_defaults_are_those_of_the_library():
    assert REPETITIONS == DEFAULT_REPETITIONS


@pytest.mark.parametrize("command", ["two-phase", "advise"])
def test_every_command_shows_an_example(optldp, command):
    shown = optldp(command, "--help")
    assert shown.exit_code == 0
    assert f"Example: optldp {command} " in " ".join(shown.stdout.split())


class TestTwoPhase:
    @pytest.mark.nightly
    def test_a_seed_makes_it_the_librarys_own_run(self, optldp):
        done = optldp(*TWO_PHASE, "--seed", 5, "--share", 0.2, "--confidence", 0.9, "--json")
        found = json.loads(done.stdout, parse_constant=pytest.fail)
        assert list(found) == TWO_PHASE_KEYS.split()
        rng = np.random.default_rng(5)
        expected = two_phase(PEOPLE, 1.0, domain=(0, 100), share=0.2, knots=9, rng=rng)
        assert found | expected.to_dict(0.9) == found
        assert found["first_weight"] == expected.first_weight
        assert (found["n"], found["n_first"], found["truth"]) == (300, 60, PEOPLE.mean())
        table = design(Prior.even(np.linspace(0, 100, 9)), 1.0, uniform_share=0.0).mechanism
        rival = estimate_mean(count(table, table.sample(PEOPLE, rng)))
        assert found["one_phase_mean"] == rival.to_dict(0.9)
        prior = Prior.from_data(PEOPLE, knots=table.knots).knot_prior
        assert found["one_phase_expected_variance"] == table.expected_variance(prior)
        assert found["second_expected_variance"] == expected.design.mechanism.expected_variance(prior)

    @pytest.mark.nightly
    def test_attributes_are_the_librarys_own_run(self, optldp, here):
        both = np.column_stack([PEOPLE, PEOPLE[::-1] / 2])
        np.savetxt(here / "both.csv", both, delimiter=",", header="a,b", comments="", fmt="%.17g")
        asked = (
            "two-phase",
            "both.csv",
            "--attribute",
            "a=0:100",
            "--attribute",
            "b=0:50",
            "--epsilon",
            1,
            "--knots",
            9,
        )
        learn = (
            "--phase-one",
            "oue",
            "--estimator",
            "least-absolute",
            "--method",
            "aaa",
            "--window",
            20,
            "--share",
            0.4,
        )
        done = optldp(*asked, *learn, "--seed", 5, "--json")
        found = json.loads(done.stdout, parse_constant=pytest.fail)["attributes"]
        plans = {
            name: TwoPhasePlan(
                (0, high), 1.0, knots=9, phase_one="oue", estimator="least-absolute", method=Lattice(window=20)
            )
            for name, high in (("a", 100), ("b", 50))
        }
        rng = np.random.default_rng(5)
        expected = two_phase_attributes(dict(zip("ab", both.T, strict=True)), plans, rng=rng, share=0.4)
        assert [one["attribute"] for one in found] == ["a", "b"]
        assert [one["value"] for one in found] == [one.value for one in expected.values()]
        assert [one["n"] for one in found] == [150, 150]
        assert [line.split()[0] for line in optldp(*asked, "--share", 0.4).stdout.splitlines()[-2:]] == ["a", "b"]

    @pytest.mark.nightly
    def test_a_client_who_lacks_a_value_is_left_out_whole(self, optldp, here):
        rows = [f"{value},{'' if k < 40 else value}" for k, value in enumerate(PEOPLE)]
        (here / "both.csv").write_text("\n".join(["a,b", *rows]))
        asked = (
            "two-phase",
            "both.csv",
            "--attribute",
            "a=0:100",
            "--attribute",
            "b=0:100",
            "--epsilon",
            1,
            "--knots",
            5,
        )
        assert optldp(*asked, "--share", 0.4).exit_code == 2
        done = optldp(*asked, "--share", 0.4, "--drop-missing", "--json")
        assert [one["n"] for one in json.loads(done.stdout)["attributes"]] == [130, 130]

    @pytest.mark.slow
    def test_a_design_for_every_prior_not_ruled_out_says_what_it_guarantees(self, optldp):
        robust = ("--phase-one", "grr", "--share", 0.5, "--robust-confidence", 0.9)
        found = json.loads(optldp(*TWO_PHASE, "--seed", 5, *robust, "--json").stdout)
        rng = np.random.default_rng(5)
        expected = two_phase(
            PEOPLE, 1.0, domain=(0, 100), share=0.5, phase_one="grr", knots=9, robust_confidence=0.9, rng=rng
        )
        assert isinstance(expected.design.objective, Guarantee)
        assert found["guaranteed_variance"] == expected.design.value
        assert found["value"] == expected.value

    @pytest.mark.nightly
    def test_text_shows_the_same_facts_and_says_that_it_is_a_simulation(self, optldp):
        done = optldp(*TWO_PHASE, "--seed", 5)
        assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == TWO_PHASE_KEYS.split()
        assert done.stderr == optldp(*TWO_PHASE, "--seed", 5, "--json").stderr
        assert done.stderr.startswith("optldp: note: a simulation")

    @pytest.mark.nightly
    def test_it_says_when_one_phase_would_have_done(self, optldp, here):
        """Of even values the uniform prior's table is the best there is, and the first phase costs users."""
        values = "\n".join(f"{x:.3f}" for x in np.linspace(0, 10, 400))
        (here / "even.csv").write_text(f"x\n{values}\n")
        asked = (
            "two-phase",
            "even.csv",
            "--column",
            "x",
            "--range",
            0,
            10,
            "--epsilon",
            0.5,
            "--knots",
            9,
            "--seed",
            1,
        )
        done = optldp(*asked, "--json")
        told = json.loads(done.stdout)
        one = np.sqrt((told["one_phase_expected_variance"] + np.linspace(0, 10, 400).var()) / told["n"])
        assert ("two phases do not pay" in done.stderr) == (told["std_error"] >= one)
        assert "two phases do not pay" in optldp(*asked, "--share", 0.9).stderr

    @pytest.mark.slow
    @pytest.mark.parametrize("phase_one", ["grr", "designed", "first.json"])
    def test_the_first_phase_is_named_or_a_table_file(self, optldp, phase_one):
        own = make_exact(duchi([0, 100], 0.5)).mechanism
        save_table(own, "first.json")
        done = optldp(*TWO_PHASE, "--seed", 5, "--phase-one", phase_one, "--estimator", "ems", "--json")
        first = own if phase_one.endswith("json") else phase_one
        rng = np.random.default_rng(5)
        expected = two_phase(PEOPLE, 1.0, domain=(0, 100), knots=9, phase_one=first, estimator="ems", rng=rng)
        assert json.loads(done.stdout)["value"] == expected.value

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--share", 1], "share must lie strictly between 0 and 1, got 1.0"),
            (["--share", 0.05], "each phase needs at least 30 clients, got 15 and 285 of 300"),
            (["--range", 0, 10], "values must lie in the range [0, 10], got"),
            (["--phase-one", "best"], "--phase-one must be a mechanism or one of"),
            (["--phase-one", "nowhere.json"], "nowhere.json"),
            (["--estimator", "best"], "estimator must be one of em, smooth, ems, mr, least-absolute, got 'best'"),
            (["--method", "best"], "method must be one of"),
            (["--attribute", "income=0:100"], "for one column, not for attributes"),
            (["--window", 9], "--window is for --method aaa: leave it out"),
            (
                ["--phase-one", "olh", "--estimator", "ems"],
                "estimator must be one of em, mr, least-absolute for an oracle",
            ),
            (["--confidence", 1], "confidence must lie strictly between 0 and 1"),
            (["--epsilon", 0], "epsilon must be positive"),
        ],
        ids=str,
    )
    def test_bad_input_is_one_line(self, refusal, options, says):
        assert says in refusal(*instead(TWO_PHASE, *options))


class TestAdvise:
    @pytest.mark.nightly
    def test_a_seed_makes_it_the_librarys_own_advice(self, optldp):
        names = ["--mechanism", "duchi", "--mechanism", "optimal", "--estimator", "ua", "--estimator", "em"]
        found = json.loads(optldp(*ADVISE, *names, "--seed", 5, "--json").stdout, parse_constant=pytest.fail)
        assert list(found) == [
            "advice",
            "n",
            "epsilon",
            "of",
            "repetitions",
            "behind",
            "behind_error",
            "tie",
            "rows",
            "left_out",
        ]
        prior = Prior.from_data(PEOPLE, knots=9, domain=(0, 100))
        expected = advise(
            prior, 500, 1.0, mechanisms=["duchi", "optimal"], estimators=["ua", "em"], repetitions=2,
            rng=np.random.default_rng(5),
        )  # fmt: skip
        for row, same in zip(found["rows"], expected.rows, strict=True):
            assert list(row) == ROW_KEYS.split()
            assert (row["mechanism"], row["estimator"]) == (same.mechanism, same.estimator)
            assert (row["mse"], row["mse_error"]) == (same.mse.value, same.mse.error)
            assert row["wasserstein"] == (None if same.wasserstein is None else same.wasserstein.value)

    @pytest.mark.slow
    def test_it_answers_in_a_sentence_and_shows_every_pair_below(self, optldp):
        names = ("--mechanism", "optimal", "--mechanism", "laplace", "--estimator", "em", "--estimator", "ems")
        first, header, *shown = optldp(*ADVISE, *names, "--of", "distribution", "--seed", 5).stdout.splitlines()
        assert first.startswith("Take the designed table and ")
        assert "the distribution is" in first
        assert header.split()[-2:] == ["simulated", "place"]
        assert {tuple(line.split()[:2]) for line in shown} == {
            (m, e) for m in ("optimal", "laplace") for e in ("em", "ems")
        }
        assert [line.split()[-1] for line in shown[:2]] == ["first", "next"]

    @pytest.mark.slow
    def test_a_prior_file_is_as_good_as_data(self, optldp):
        done = optldp(
            "advise", "--prior", "prior.csv", "--n", 100, "--epsilon", 1, "--estimator", "ua", "--public", "--json"
        )
        prior = Prior.from_pairs([-1, -0.5, 0, 0.5, 1], [1, 2, 3, 2, 1], knots=[-1, -0.5, 0, 0.5, 1], source="public")
        expected = advise(prior, 100, 1.0, estimators=["ua"], rng=np.random.default_rng(1))
        assert json.loads(done.stdout)["rows"][0]["mse"] == expected.best.mse.value
        assert done.stderr == ""

    @pytest.mark.nightly
    def test_categories_have_oracles_and_estimators_of_frequencies(self, here, optldp, refusal):
        (here / "jobs.csv").write_text("job\n" + "a\n" * 60 + "b\n" * 30 + "c\n" * 10)
        options = ("advise", "jobs.csv", "--column", "job", "--categorical", "--n", 300, "--epsilon", 1)
        found = json.loads(optldp(*options, "--repetitions", 2, "--seed", 5, "--json").stdout)
        truth = CategoricalPrior.from_labels(np.repeat(["a", "b", "c"], [60, 30, 10]))
        expected = advise(truth, 300, 1.0, repetitions=2, rng=np.random.default_rng(5))
        shown = [(row["mechanism"], row["estimator"], row["mse"]) for row in found["rows"]]
        assert shown == [(row.mechanism, row.estimator, row.mse.value) for row in expected.rows]
        assert "a frequency errs by" in optldp(*options, "--estimator", "unbiased").stdout
        assert "--knots is for numbers: leave it out" in refusal(*options, "--knots", 5)

    def test_a_sensitive_prior_is_warned_of(self, optldp):
        assert "warning: the result is a function of the prior" in optldp(*ADVISE, "--estimator", "ua").stderr

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--n", 1], "n must be a whole number of at least 2, got 1"),
            (["--repetitions", 1], "repetitions must be a whole number of at least 2, got 1"),
            (["--mechanism", "best"], "mechanisms must be out of optimal, aaa"),
            (["--estimator", "best"], "estimators must be out of ua, decoder"),
            (["--epsilon", 0], "epsilon must be positive"),
            (["--prior", "prior.csv"], "the prior must come from one file, got 'people.csv' and 'prior.csv'"),
        ],
        ids=str,
    )
    def test_bad_input_is_one_line(self, refusal, options, says):
        assert says in refusal(*instead(ADVISE, *options))


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (TWO_PHASE, "optldp.designer.protocols.two_phase.two_phase_attributes"),
        (ADVISE, "optldp.designer.planning.advice.advise"),
    ],
    ids=["two-phase", "advise"],
)
def test_ctrl_c_is_one_line_and_leaves_no_file(here, optldp, monkeypatch, arguments, where):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = sorted(os.listdir(here))
    monkeypatch.setattr(where, interrupt)
    done = optldp(*arguments)
    assert (done.exit_code, done.stderr, done.stdout) == (130, "optldp: interrupted\n", "")
    assert sorted(os.listdir(here)) == before
    assert Path("people.csv").exists()
