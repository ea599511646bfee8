"""Tables for questions: a share by randomised response on its cut, the distribution function, and a mean."""

import json

import numpy as np
import pytest
from optldp import Prior, design
from optldp.designer.objectives import Cdf, Share
from optldp.designer.objectives.questions.other_tables import arm_of_a_share
from optldp.mechanisms import InputError, load_table, verify

DRAWN = np.random.default_rng(3).gamma(3.0, 5.0, 500).clip(0, 50)
PRIOR = Prior.from_data(DRAWN, knots=11, domain=(0, 50), source="public")


def test_a_share_is_told_by_randomised_response_on_its_cut_decided_before_any_rounding():
    made = design(PRIOR, 1.0, objective=Share(20_000, 17.3))
    table = made.mechanism
    assert made.status == "optimal"
    assert made.value == pytest.approx(made.bound, rel=2e-3)
    assert verify(table).ok
    rng = np.random.default_rng(0)
    below, above = (table.sample(np.full(20_000, x), rng) for x in (17.3, 17.3001))
    yes = table.low[-1]
    assert (below == yes).mean() == pytest.approx(1 / (1 + np.e), abs=0.015)
    assert (above == yes).mean() == pytest.approx(np.e / (1 + np.e), abs=0.015)


@pytest.mark.slow
def test_the_distribution_function_has_shorter_intervals_than_by_the_table_for_the_mean():
    made, usual = design(PRIOR, 1.0, objective=Cdf(20_000)), design(PRIOR, 1.0)
    assert verify(made.mechanism).ok
    assert (made.status, made.bound < made.evidence.one_peak_bound < made.value) == ("local", True)
    theirs = made.objective.value(usual.mechanism, made.certificate.problem)
    assert made.value < 0.8 * theirs


@pytest.mark.nightly
def test_a_mean_beside_costs_the_distribution_function_little_and_the_mean_less():
    alone, both = (design(PRIOR, 1.0, objective=Cdf(20_000, mean=weight)) for weight in (0.0, 0.6))
    assert both.evidence.mean_length < 0.97 * alone.evidence.mean_length
    lengths = alone.objective.value(both.mechanism, alone.certificate.problem)
    assert alone.value <= lengths < 1.3 * alone.value


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Cdf(20_000, mean=1.0), "from 0 to below 1"),
        (lambda: Cdf(20_000, mean=0.5, largest=True), "leave one out"),
        (lambda: Cdf(20_000, by="odd"), "even or prior"),  # pyright: ignore[reportArgumentType]
        (lambda: Cdf(20_000, cuts=0), "at least one cut"),
        (lambda: Cdf(0), "n"),
        (lambda: Share(20_000, float("nan")), "must be a number"),
        (lambda: design(PRIOR, 1.0, objective=Share(20_000, 50.0)), "from 0 to below 50"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(wrong, said):
    with pytest.raises(InputError, match=said):
        wrong()


@pytest.fixture
def nine(tmp_path):
    (tmp_path / "p.csv").write_text("value,weight\n" + "".join(f"{x},{1 + x % 3}\n" for x in range(9)))
    return "--prior", tmp_path / "p.csv", "--public", "--epsilon", 1, "--n", 20_000


@pytest.mark.nightly
def test_commands_take_questions(optldp, nine):
    told = [
        json.loads(optldp("design", *nine, "--json", "--objective", each).stdout)
        for each in ("cdf", "cdf:mean=0.3", "share:above=3.5")
    ]
    assert [each["status"] for each in told] == ["local", "local", "optimal"]
    assert told[1]["mean_interval_length"] < told[0]["mean_interval_length"]


@pytest.mark.slow
def test_comparisons_and_advice_are_by_the_length_of_the_answers_interval_with_the_bound_beside(optldp, nine):
    of = ("--of", "share:above=3.5", "--of", "median", "--method", "optimal", "--method", "ptt")
    rows = json.loads(optldp("compare", *nine, *of, "--json").stdout)["rows"]
    share, ptt, median, *_ = rows
    assert (share["interval_length"], share["interval_length_at_least"]) == (share["value"], share["bound"])
    assert share["interval_length"] == pytest.approx(arm_of_a_share(5 / 17, 1.0, 20_000) * 2, rel=0.02)
    assert ptt["interval_length"] > 2 * share["interval_length"]
    assert median["interval_length"] == pytest.approx(2 * 1.96 * median["value"] ** 0.5, rel=1e-4)
    advised = json.loads(optldp("advise", *nine, "--of", "share:above=3.5", "--mechanism", "ptt", "--json").stdout)
    assert [row["mechanism"] for row in advised["rows"]] == ["share", "ptt"]
    assert advised["rows"][0]["interval_length"] == share["interval_length"]
    assert "no mechanism within less than" in advised["advice"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "told"), [("median", "quantiles"), pytest.param("share:above=3.5", "above", marks=pytest.mark.nightly)]
)
def test_a_table_for_a_question_answers_it_unasked_and_tells_a_mean_by_a_pair(optldp, nine, tmp_path, of, told):
    made = optldp("design", *nine, "--of", of, "--out", tmp_path / "m.json")
    assert "the table for the mean within +-" in made.stderr
    table = load_table(tmp_path / "m.json")
    reports = table.sample(np.arange(9.0).repeat(40), np.random.default_rng(1))
    (tmp_path / "r.csv").write_text("report\n" + "".join(f"{report!r}\n" for report in reports.tolist()))
    estimate = "estimate", tmp_path / "m.json", tmp_path / "r.csv", "--json"
    assert told in json.loads(optldp(*estimate).stdout)
    if of == "median":
        assumed = json.loads(optldp(*estimate, "--assume", "trust=3", "--prior", tmp_path / "p.csv").stdout)
        assert told in assumed
        mean = json.loads(optldp(*estimate, "--of", "mean").stdout)
        assert mean["interval"] == "affine-pair"
        assert mean["low"] < 4 < mean["high"]


@pytest.mark.nightly
def test_a_table_for_a_mean_says_what_it_costs_distributions(optldp, tmp_path):
    asked = (*("design", "--prior", tmp_path / "p.csv", "--public", "--knots", 21, "--epsilon", 4), "--out")
    (tmp_path / "p.csv").write_text("value,weight\n" + "".join(f"{v},{np.exp(-v / 5)}\n" for v in range(21)))
    said = optldp(*asked, tmp_path / "m.json", "--of", "mean", "--n", 20_000).stderr
    assert "times what a table for distributions does: --of mean,cdf is for both" in said
    assert "for distributions" not in optldp(*asked, tmp_path / "n.json", "--of", "mean", "--n", 100).stderr
