"""The first page of reports: odds against enumeration, errors against closed forms, and something for every kind."""

import json
import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer import Error, FactorAmbiguity, Prior, Pure, WorstCase, design, mechanism_html
from optldp.designer.objectives.biased import cut_words
from optldp.designer.planning.people import table_mean_within
from optldp.designer.report.fronts.front import promise_words, within
from optldp.designer.report.fronts.mechanism import front_of
from optldp.designer.report.index_page import index_html
from optldp.designer.report.mechanism_page import mechanism_page
from optldp.designer.report.odds import at_most, most_believed, percent_of, still_against
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    InputError,
    Metric,
    PersonalisedMechanism,
    duchi,
    gaussian,
    grr,
    laplace,
    make_exact,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.key_value import key_value_response

from ....small_channels import OF_PAIRS

KNOTS = [0.0, 50.0, 100.0]
TABLE = make_exact(duchi(KNOTS, 1.0)).mechanism


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.nightly
@given(st.fractions(0, 1, max_denominator=1000), st.floats(1e-6, 40))
def test_no_belief_is_below_bayes_rule_and_none_far_above(before, epsilon):
    """Against rational arithmetic, with a ratio that is below e^epsilon and one that is above."""
    low, high = (Fraction(math.exp(epsilon)) * (1 + Fraction(sign, 10**12)) for sign in (-1, 1))
    exact = [before * ratio / (1 - before + before * ratio) for ratio in (low, high)]
    believed = Fraction(most_believed(Decimal(before.numerator) / before.denominator, epsilon))
    assert exact[0] - Fraction(1, 10**20) <= believed <= exact[1] + Fraction(1, 10**20)


def test_percents_are_rounded_up_and_odds_down():
    assert plain(at_most(Decimal("0.01"), 1.0)) == "2.7 %"  # 2.6726
    assert plain(percent_of(Decimal("0.02701"))) == "2.8 %"
    assert plain(percent_of(Decimal("0.9999"))) == "100 %"
    assert still_against(Decimal("0.01"), 1.0) == "36 to 1"  # 36.42
    assert still_against(Decimal("0.01"), math.log(99)) in {"1 to 1", "0.99 to 1"}


def test_the_odds_of_a_mechanism_hold_for_each_report_and_statement():
    """Randomised response on three values, all statements about them, all reports: Bayes' rule by enumeration."""
    table, prior = grr([0, 1, 2], 1.0), np.array([0.01, 0.3, 0.69])
    most = float(most_believed(Decimal("0.01"), 1.0))
    after = prior[:, None] * table.probabilities / (prior @ table.probabilities)
    assert after[0].max() <= most
    assert after[0].max() > 0.9 * most  # nobody could promise much less


def test_of_noise_that_may_tell_all_the_share_is_said_and_right():
    """Gaussian noise, two values: reports beyond e^(2 epsilon) have at most the probability that the page says."""
    table = gaussian([0.0, 1.0], Approximate(1.0, 1e-3))
    said, _, believed = promise_words(table.promise, 1.0)
    assert "at most 0.001582 may tell everything" in said[0]
    row, other = table.probabilities
    assert row[row > math.exp(2.0) * other].sum() <= 1e-3 / (1 - math.exp(-1.0))
    assert believed == at_most(Decimal("0.01"), 2.0)


def test_of_a_promise_by_distance_the_odds_are_those_of_the_distance():
    _, odds, believed = promise_words(Metric(0.5), 4.0, "calls")
    assert [row[1] for row in odds.rows] == [at_most(Decimal("0.01"), budget) for budget in (0.5, 2.0)]
    assert believed == at_most(Decimal("0.01"), 2.0)


def test_of_pairs_of_values_the_odds_are_those_of_the_pair_that_may_be_told_apart_most():
    """And where nothing is promised of some pair, whatever was believed may become certain."""
    for name, budget, most in (("blocks", 2.0, 2.0), ("sensitive", 2.0, math.inf)):
        found = front_of(OF_PAIRS[name], 400)
        assert found.odds is not None
        assert [row[1] for row in found.odds.rows] == [at_most(Decimal("0.01"), budget)]
        assert found.line[:2] == (str(OF_PAIRS[name].promise), at_most(Decimal("0.01"), most))
        assert OF_PAIRS[name].promise.caution in found.promise[1]
    assert at_most(Decimal("0.01"), math.inf).startswith("100")
    apart = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    assert promise_words(Metric(1.0, apart), 1.0)[2] == at_most(Decimal("0.01"), math.inf)


def test_the_error_of_a_mean_is_that_of_the_variance_recomputed():
    found = front_of(TABLE, 400)
    (variance, _) = TABLE.worst_case_variance()
    assert found.line == (str(Pure(1.0)), at_most(Decimal("0.01"), 1.0), within(variance, 400))
    reach = float(found.line[2].replace(",", ""))
    assert 1.96 * math.sqrt(variance / 400) == pytest.approx(reach, rel=0.01)
    assert reach >= 1.959963 * math.sqrt(variance / 400)


def test_a_page_has_the_sentence_of_the_terminal():
    text = str(table_mean_within(TABLE, 400))
    assert front_of(TABLE, 400).errors[0].lower() == f"{text}.".lower()


@pytest.mark.nightly
def test_the_page_of_a_biased_table_says_what_is_cut_and_how_far_the_mean_is_off_in_19_of_20_cases():
    prior = Prior.on_knots(np.linspace(0, 80, 17), 0.5 ** np.arange(17), source="public")
    table = design(prior, 1.0, objective=Error(20_000, FactorAmbiguity(2.0))).mechanism
    sure, cut, *_ = front_of(table, 20_000).errors
    assert sure.lower() == f"{table_mean_within(table, 20_000)}.".lower()
    assert "(95%) if the prior is right within a factor of 2" in sure
    assert f"not the values themselves: {cut_words(table)}." in cut
    assert plain(cut).count(" % have values outside") == 1


@pytest.mark.nightly
def test_each_part_of_a_mechanism_has_a_picture_in_which_it_can_be_seen():
    """All in one picture of one size were ten pixels wide."""
    from optldp.designer.plots import mechanism_mesh

    front, parts = front_of(ATTRIBUTES), dict(zip(ATTRIBUTES.attributes, ATTRIBUTES.mechanisms, strict=True))
    page = mechanism_page(front, ATTRIBUTES, "both", [], [mechanism_mesh.part_map(*part) for part in parts.items()])
    assert page.count("<figcaption>") == page.count("<figure>") == 2
    together = mechanism_mesh.parts_map(parts)
    mechanism_page(front, ATTRIBUTES, "both", [], [together])
    assert min(axes.get_window_extent().width for axes in together.figure.axes[:2]) > 100


def test_better_and_worse_mechanisms_are_named_with_their_price():
    prior = Prior.on_knots(np.linspace(0, 100, 9), np.arange(9) + 1.0, source="public")
    best = design(prior, 1.0).mechanism
    assert "To choose otherwise costs people: " in front_of(best, 1000).recommends[-1]
    worse = make_exact(laplace(prior.knots, 1.0)).mechanism
    assert "Better at the same budget: " in front_of(worse, 1000).recommends[-1]
    assert front_of(laplace(KNOTS, 1.0)).recommends[0].startswith("Do not hand it out: ")


@pytest.mark.parametrize("method", ["optimal", "laplace"])
def test_what_was_designed_for_a_prior_that_is_left_out_is_not_judged_by_the_worst_case(method):
    prior = Prior.on_knots(np.linspace(0, 100, 9), [200, 50, 9, 4, 2, 1, 1, 1, 1], source="sensitive")
    made = design(prior, 2.0, method=method).mechanism
    said = front_of(made.without_prior(), 1000).recommends
    assert "cannot be told from it" in said[-1]
    assert not any("Better at the same budget" in line or "To choose otherwise" in line for line in said)


def test_what_was_designed_for_the_worst_case_is_judged_by_it():
    even = Prior.even(np.linspace(0, 100, 9))
    said = front_of(design(even, 1.0, objective=WorstCase()).mechanism, 1000).recommends
    assert "for values of which nothing is known" in said[-1]


CATEGORIES = categorical_grr(["a", "b", "<i>"], 1.0)
PAIRS = key_value_response(["a", "b"], make_exact(duchi(KNOTS, 0.5)).mechanism, 1.0)
ATTRIBUTES = AttributeSampling(["age", "hours"], [TABLE, TABLE], 1, 1.0)
LEVELS = PersonalisedMechanism([make_exact(duchi(KNOTS, budget)).mechanism for budget in (0.5, 2.0)], 1.0)
KINDS = {
    "numbers": (TABLE, "With 1,000 people: mean within"),
    "categories": (CATEGORIES, "the share of a category"),
    "pairs": (PAIRS, "share of those who hold a key within"),
    "attributes": (ATTRIBUTES, "With 1,000 people: mean of age within"),
    "levels": (LEVELS, "If all choose epsilon 2: within"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page_that_escapes_its_names(kind):
    mechanism, error = KINDS[kind]
    page = mechanism_html(mechanism, n=1000, name="</title><script>alert(1)</script>", facts=[("kind", "<b>")])
    for said in (error, "What is protected", "from 1", "What 1,000 people tell", "Its promise is proved", "&lt;b&gt;"):
        assert said in page
    assert "<script" not in page
    assert "<i>" not in page
    assert "default-src 'none'" in unescape(page)


def test_an_index_links_to_each_report_with_its_numbers():
    page = index_html({"a b.html": ("one", front_of(TABLE, 50)), "c.html": ("<two>", front_of(LEVELS, 50))})
    assert 'href="a%20b.html">one</a>' in page
    assert "&lt;two&gt;" in page
    assert "epsilon 0.5 to 2" in page
    assert "50 people" in page


@pytest.mark.parametrize("users", [0, -1, 1.5, True])
def test_people_are_counted_in_whole_numbers(users):
    with pytest.raises(InputError, match="number of users must be whole"):
        front_of(TABLE, users)


@pytest.mark.parametrize("mechanism", [TABLE, ATTRIBUTES], ids=["table", "bundle"])
def test_the_page_says_which_file_is_signed_for(mechanism, tmp_path):
    """By the checksum that is in the file, the origin, and the day; a page of bounds has the lines alone."""
    save = save_table if mechanism is TABLE else save_bundle
    save(mechanism, tmp_path / "made.json")
    page = mechanism_html(mechanism, name="made.json")
    assert f"<dd>{json.loads((tmp_path / 'made.json').read_text())['checksum']}</dd>" in page
    assert table_identifier(mechanism) in page
    assert f"<dd>{date.today().isoformat()} by optldp " in page
    assert [f"<div>{line}</div>" in page for line in ("Name", "Date", "Signature")] == [True] * 3
    assert ("the method duchi of optldp" in page) == (mechanism is TABLE)
