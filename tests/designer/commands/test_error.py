"""`optldp design --objective error` and `--trust` make what the library makes; `--n` alone tells both errors."""

import json

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, design
from optldp.estimators import promised_error
from optldp.mechanisms import AttributeSampling, Provenance, duchi, load_mechanism, load_table, make_exact, save_table

from ..conftest import found, instead

SKEWED = ("design", "--prior", "skewed.csv", "--epsilon", 1, "--n", 20_000, "--units", "EUR")
VALUES = np.linspace(0, 100, 11)
WEIGHTS = np.exp(-VALUES / 12)
PRIOR = Prior.from_pairs(VALUES, WEIGHTS, knots=VALUES, source="public", units="EUR")


@pytest.fixture
def skewed(here):
    pairs = "".join(f"{x!r},{w!r}\n" for x, w in zip(VALUES.tolist(), WEIGHTS.tolist(), strict=True))
    (here / "skewed.csv").write_text("value,weight\n" + pairs)


@pytest.mark.usefixtures("skewed")
class TestDesign:
    @pytest.mark.nightly
    def test_it_makes_what_the_library_makes_and_says_what_it_promises(self, optldp):
        said = found(optldp, *SKEWED, "--trust", 2, "--out", "m.json")
        made, table = design(PRIOR, 1.0, objective=Error(20_000, FactorAmbiguity(2.0))), load_table("m.json")
        assert np.array_equal(table.probabilities, made.mechanism.probabilities)
        assert (said["rmse"], said["lower_bound"], said["relative_gap"]) == pytest.approx(
            (made.value, made.bound, made.gap), rel=1e-9
        )
        assert said["status"] == "optimal"
        for name in ("noise", "bias_bound", "rmse_unbiased", "rmse_clip", "clip_low", "clip_high", "shift"):
            assert said[name] == pytest.approx(getattr(made.evidence, name), rel=1e-9)
        assert said["share_outside"] == pytest.approx(made.evidence.share_outside)
        assert (said["users"], said["trust"], said["tails_heavier"]) == (20_000, 2, [2, 4, 8])
        assert said["rmse_heavier"] == pytest.approx(made.evidence.rmse_heavier)
        assert promised_error(table).rmse == pytest.approx(said["rmse"], rel=1e-12)

    @pytest.mark.nightly
    def test_its_first_line_says_that_it_is_biased_and_how_to_get_another(self, optldp):
        done = optldp(*SKEWED, "--trust", 2, "--out", "m.json")
        first = done.stdout.splitlines()[0]
        assert first.startswith("biased mechanism for the mean of 20,000 users: values above ")
        assert first.endswith(" EUR; unbiased: --objective expected")
        assert "note: a mean of these reports is of values as counted: off by up to " in done.stderr
        shown = optldp("show", "m.json")
        assert first.removesuffix("; unbiased: --objective expected") in shown.stderr
        facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:])
        for name in ("rmse", "bias_bound", "clip_high", "shift", "share_outside"):
            assert [name, facts[name]] in [line.split(maxsplit=1) for line in shown.stdout.splitlines()]

    @pytest.mark.nightly
    def test_a_factor_of_three_is_meant_if_none_is_named(self, optldp):
        said = found(optldp, *SKEWED, "--objective", "error")
        assert said | {"seconds": 0} == found(optldp, *SKEWED, "--trust", 3) | {"seconds": 0}

    @pytest.mark.slow
    def test_without_the_prior_the_file_promises_nothing(self, optldp):
        optldp(*SKEWED, "--trust", 2, "--omit-prior", "--out", "m.json")
        shown = found(optldp, "show", "m.json")
        assert (shown["rmse"], shown["bias_bound"], shown["share_outside"]) == (None, None, None)
        assert shown["clip_high"] < 60
        assert "how far off it is takes the prior" in optldp("show", "m.json").stderr

    @pytest.mark.nightly
    def test_users_alone_are_told_both_errors_and_keep_the_unbiased_design(self, optldp):
        done = optldp(*SKEWED, "--json")
        said, plain = json.loads(done.stdout), found(optldp, *SKEWED[:-4], "--units", "EUR")
        assert said["max_abs_bias"] < 1e-9
        assert said["expected_variance"] == plain["expected_variance"]
        biased = found(optldp, *SKEWED, "--objective", "error")
        assert said["rmse_biased"] == pytest.approx(biased["rmse"], rel=1e-6)
        assert said["rmse"] == pytest.approx(biased["rmse_unbiased"], rel=1e-3)
        assert (said["clip_low"], said["clip_high"]) == (biased["clip_low"], biased["clip_high"])
        words = f"if values above {biased['clip_high']:.4g} EUR are counted as {biased['clip_high']:.4g} EUR"
        assert "the mean of 20,000 people is within " in done.stderr
        assert f"{words}: --objective error\n" in done.stderr

    @pytest.mark.slow
    def test_closed_forms_are_told_both_errors_too(self, optldp):
        said = found(optldp, *SKEWED, "--method", "duchi")
        assert said["rmse"] > said["rmse_biased"]

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (("--trust", 0.5), "trust is the factor by which a prior may be off, at least 1, got 0.5"),
            (("--trust", "nan"), "trust of --objective error must be a number, got 'nan'"),
            (("--n", 0, "--trust", 2), "the number of users must be whole, from 1 to 1e+15, got 0"),
            (("--n", 0), "the number of users must be whole, from 1 to 1e+15, got 0"),
            (("--n", 10**16, "--trust", 2), "the number of users must be whole, from 1 to 1e+15"),
            (("--trust", 2, "--method", "duchi"), "--method is of no use to a table for the error of a mean"),
            (("--trust", 2, "--objective", "robust"), "--trust is for --objective error: leave it out"),
            (("--objective", "error", "--radius", 2), "--radius is for --objective robust: leave it out"),
            (("--trust", 2, "--gap", 0.1), "--knots auto is of no use to a table for the error of a mean"),
        ],
    )
    def test_what_makes_no_sense_is_one_line(self, refusal, more, says):
        assert says in refusal(*instead(SKEWED, *more))

    @pytest.mark.parametrize("asked", [("--objective", "error"), ("--trust", 2)])
    def test_a_number_of_users_is_needed(self, refusal, asked):
        assert "the error of a mean needs --n N" in refusal(*SKEWED[:5], *asked)


class TestAttributes:
    TWO = ("design", "two.csv", "--attribute", "flat=0:10", "--attribute", "skewed=0:100", "--epsilon", 2, "--knots", 6)

    @pytest.fixture
    def two(self, here):
        rng = np.random.default_rng(3)
        rows = zip(rng.uniform(0, 10, 200).tolist(), np.minimum(rng.exponential(8, 200), 100).tolist(), strict=True)
        (here / "two.csv").write_text("flat,skewed\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows))

    @pytest.mark.slow
    @pytest.mark.usefixtures("two")
    def test_each_has_its_own_clip_and_promise(self, optldp):
        said = found(optldp, *self.TWO, "--sampled", 1, "--n", 5000, "--trust", 2, "--out", "two.json")
        made = load_mechanism("two.json")
        assert isinstance(made, AttributeSampling)
        assert (said["users"], said["all_users"]) == ([2500, 2500], 5000)
        for place, table in enumerate(made.mechanisms):
            assert said["rmse"][place] == pytest.approx(promised_error(table).rmse, rel=1e-9)
            assert said["lower_bound"][place] <= said["rmse"][place] < said["rmse_of_all_users"][place]
            assert said["rmse"][place] <= said["rmse_clip"][place] <= said["rmse_unbiased"][place] * (1 + 1e-3)
        shown = found(optldp, "show", "two.json")
        assert shown["rmse"] == pytest.approx(said["rmse"], rel=1e-12)
        assert shown["clip_high"][1] < 100

    @pytest.mark.nightly
    @pytest.mark.usefixtures("two")
    def test_its_first_line_says_that_it_is_biased(self, optldp):
        done = optldp(*self.TWO, "--n", 5000, "--trust", 2)
        assert done.stdout.startswith("biased mechanism for the means of 5,000 users; flat: ")
        assert "; skewed: values above " in (first := done.stdout.splitlines()[0])
        assert first.endswith("; unbiased: --objective expected")

    @pytest.mark.usefixtures("two")
    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (("--objective", "robust"), "--objective of attributes must be expected or error, got 'robust'"),
            (("--trust", 2), "the error of a mean needs --n N"),
        ],
    )
    def test_what_makes_no_sense_is_one_line(self, refusal, more, says):
        assert says in refusal(*instead(self.TWO, *more))


def test_users_in_fractions_are_bad_usage(optldp):
    done = optldp(*SKEWED[:5], "--n", 2.5, "--trust", 2)
    assert done.exit_code == 2
    assert "Error: Invalid value for '--n': " in done.output


def test_a_file_that_says_nonsense_of_its_users_is_shown_all_the_same(optldp):
    told = Provenance("error", {"unbiased": False, "n": "many", "trust": 2})
    save_table(make_exact(duchi([0.0, 1.0], 1.0).with_provenance(told)).mechanism, "m.json")
    done = optldp("show", "m.json")
    assert done.exit_code == 0
    assert "biased mechanism for the mean of some users: none is cut" in done.stderr
