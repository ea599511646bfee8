"""What all answers have in common: the same words, in Python, as text and in data frames."""

import sys

import numpy as np
import pandas as pd
import pytest
from optldp.estimators import (
    CategoryCounts,
    Estimate,
    KeyValueCounts,
    PersonalisedCounts,
    ReportCounts,
    auem,
    count,
    estimate_attribute_means,
    estimate_combined_mean,
    estimate_distribution,
    estimate_frequencies,
    estimate_key_means,
    estimate_mean,
    fit_key_values,
    personalised_distribution,
    personalised_mean,
    personalised_mle,
)
from optldp.estimators.differences import estimate_group_shares, estimate_share_difference, tally_groups
from optldp.estimators.over_time import estimate_periods
from optldp.mechanisms import AttributeSampling, InputError, PersonalisedMechanism, duchi, grr, make_exact
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.key_value import key_value_unary

WORDS = ("value", "std_error", "low", "high", "confidence", "n", "method", "target")
RNG = np.random.default_rng(1)
TABLE = make_exact(grr(np.linspace(0.0, 10.0, 5), 2.0)).mechanism
REPORTS = TABLE.sample(RNG.uniform(0, 10, 2000), RNG)
JOBS = categorical_grr(["cook", "smith", "nurse"], 1.0)
PAIRS = key_value_unary(["a", "b"], make_exact(duchi([0.0, 10.0], 2.0)).mechanism, 2.0)
BOTH = AttributeSampling(["age", "hours"], [TABLE, TABLE], 1, 2.0)
CHOSEN = PersonalisedMechanism([categorical_grr(["cook", "smith"], e) for e in (1.0, 2.0)], 1.0)
LEVELS = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], e)).mechanism for e in (1.0, 2.0)])


def answers() -> dict[str, Estimate]:
    """One of each."""
    rng = np.random.default_rng(2)
    counts, values = count(TABLE, REPORTS), rng.uniform(0, 10, 1000)
    jobs = count(JOBS, JOBS.sample(["cook"] * 500 + ["smith"] * 300, rng))
    pairs = count(PAIRS, PAIRS.sample(np.repeat(["a", "b"], 500), values, rng))
    chosen = count(CHOSEN, CHOSEN.sample(np.repeat(["cook", "smith"], 500), np.arange(1000) % 2, rng))
    levels = count(LEVELS, LEVELS.sample(np.full(1000, 0.25), np.arange(1000) % 2, rng))
    distribution = estimate_distribution(counts)
    return {
        "one table": estimate_mean(count(TABLE, REPORTS)),
        "winsorised": estimate_mean(count(TABLE, REPORTS), winsorise=0.1),
        "combined": estimate_combined_mean(counts),
        "bernstein": estimate_combined_mean(counts, interval="bernstein"),
        "attributes": estimate_attribute_means(count(BOTH, BOTH.sample({"age": values, "hours": values}, rng))),
        "distribution": distribution,
        "its mean": distribution.mean(),
        "its variance": distribution.variance(),
        "its median": distribution.quantile(0.5),
        "a range": distribution.probability(2.0, 5.0),
        "frequencies": estimate_frequencies(jobs),
        "a fit": estimate_frequencies(jobs, method="mle"),
        "a share": estimate_frequencies(jobs).share(["cook", "smith"]),
        "periods": estimate_periods({1: estimate_mean(counts), 3: estimate_mean(counts)}),
        "pairs": estimate_key_means(pairs),
        "keys": estimate_key_means(pairs).frequencies,
        "fitted pairs": fit_key_values(pairs),
        "auem": auem(chosen),
        "levels": auem(chosen).level_shares,
        "mle": personalised_mle(chosen),
        "mean of levels": personalised_mean(levels),
        "distribution of levels": personalised_distribution(levels),
        "shares of groups": estimate_group_shares(
            tally_groups(TABLE, {"group": np.arange(400) % 2, "report": REPORTS[:400]}, by="group"), above=5.0
        ),
        "shares of two groups": estimate_share_difference(
            counts, count(TABLE, TABLE.sample(np.full(500, 2.0), rng)), above=5.0
        ),
    }


ANSWERS = answers()


@pytest.mark.parametrize("name", ANSWERS)
class TestEveryAnswer:
    def test_speaks_of_itself_in_the_same_words(self, name):
        """As attributes, in a dictionary and in a data frame, where labels come first."""
        found = ANSWERS[name]
        facts, ends = found.to_dict(0.9), found.interval(0.9)
        assert [word for word in facts if word in WORDS] == list(WORDS)
        for word, fact in (("low", ends.low), ("high", ends.high), ("value", found.value), ("n", found.n)):
            np.testing.assert_array_equal(facts[word], fact)
        assert (facts["confidence"], facts["target"], facts["method"]) == (0.9, "population", found.method)
        frame = found.to_frame(0.9)
        assert list(frame.columns) == list(facts)
        assert list(frame.columns)[: len(found.labels)] == list(found.labels)
        assert len(frame) == np.size(found.value)
        assert frame["value"].tolist() == np.ravel(found.value).tolist()

    def test_has_intervals_around_it_that_grow_with_confidence(self, name):
        found = ANSWERS[name]
        if np.isnan(found.std_error).all():
            assert np.isnan(found.interval().low).all()
            return
        narrow, wide = found.interval(0.5), found.interval(0.99)
        assert np.all(wide.low <= narrow.low)
        assert np.all(narrow.high <= wide.high)
        assert np.all(narrow.high > narrow.low)
        assert found.interval().confidence == 0.95

    def test_says_something_to_people(self, name):
        lines = str(ANSWERS[name]).splitlines()
        assert 1 < len(lines) < 13
        assert max(map(len, lines)) < 120
        assert str(ANSWERS[name]) == ANSWERS[name].summary(0.95) != ANSWERS[name].summary(0.9)

    def test_refuses_a_confidence_that_is_none(self, name):
        for call in (ANSWERS[name].interval, ANSWERS[name].summary, ANSWERS[name].to_frame, ANSWERS[name].to_dict):
            with pytest.raises(InputError, match=r"confidence must lie strictly between 0 and 1, got 1\.0"):
                call(1.0)


def test_without_any_library_a_data_frame_is_refused_with_the_cure(monkeypatch):
    for library in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match="a data frame needs pandas, polars or pyarrow: pip install pandas"):
        ANSWERS["frequencies"].to_frame()


def test_users_have_smaller_errors_than_the_population_that_they_are_drawn_from():
    """And the population is what estimates are about unless one asks."""
    rng = np.random.default_rng(3)
    jobs = count(JOBS, JOBS.sample(["cook"] * 500 + ["smith"] * 300, rng))
    values = rng.uniform(0, 10, 1000)
    reports = BOTH.sample({"age": values, "hours": values}, rng)
    chosen = count(CHOSEN, CHOSEN.sample(np.repeat(["cook", "smith"], 500), np.arange(1000) % 2, rng))
    for estimate in (
        lambda **target: estimate_frequencies(jobs, **target),
        lambda **target: estimate_attribute_means(count(BOTH, reports), **target),
        lambda **target: auem(chosen, **target),
        lambda **target: personalised_mle(chosen, **target),
    ):
        default, users = estimate(), estimate(target="users")
        assert (default.target, users.target) == ("population", "users")
        np.testing.assert_array_equal(default.value, users.value)
        assert np.any(users.std_error < default.std_error)
        assert np.all(users.std_error <= default.std_error)
        with pytest.raises(InputError, match="target must be one of users, population, got 'all'"):
            estimate(target="all")


class TestCount:
    def test_counts_of_any_kind_are_those_of_their_class(self):
        rng = np.random.default_rng(4)
        jobs = JOBS.sample(["cook"] * 50, rng)
        assert count(JOBS, jobs).counts.tolist() == CategoryCounts.from_reports(JOBS, jobs).counts.tolist()
        pairs = PAIRS.sample(np.repeat(["a", "b"], 50), np.full(100, 2.0), rng)
        assert count(PAIRS, pairs).counts.tolist() == KeyValueCounts.from_reports(PAIRS, pairs).counts.tolist()
        sent = CHOSEN.sample(np.repeat(["cook", "smith"], 50), np.arange(100) % 2, rng)
        assert count(CHOSEN, sent).counts.tolist() == PersonalisedCounts.from_reports(CHOSEN, sent).counts.tolist()
        whole = ReportCounts.from_reports(TABLE, REPORTS).reports_of(0).tolist()
        assert count(TABLE, REPORTS).reports_of(0).tolist() == whole
        assert count(TABLE, REPORTS.tolist()).reports_of(0).tolist() == whole

    def test_attributes_are_counted_each_of_those_who_drew_it(self):
        values = np.random.default_rng(5).uniform(0, 10, 200)
        reports = BOTH.sample({"age": values, "hours": values}, np.random.default_rng(6))
        counts = count(BOTH, reports)
        assert {name: counts[name].n_users for name in BOTH.attributes} == {
            name: int((~np.isnan(reports[name])).sum()) for name in ("age", "hours")
        }

    @pytest.mark.slow
    def test_a_table_is_counted_from_whatever_holds_its_reports(self, tmp_path):
        frame, path = pd.DataFrame({"report": REPORTS}), tmp_path / "reports.csv"
        frame.to_csv(path, index=False)
        expected = count(TABLE, REPORTS).reports_of(0).tolist()
        for source in (frame, path, str(path), {"report": REPORTS}):
            assert count(TABLE, source).reports_of(0).tolist() == expected
        missing = count(TABLE, {"report": np.append(REPORTS, np.nan)}, drop_missing=True)
        assert missing.n_users == REPORTS.size

    def test_several_services_are_matched_by_user(self):
        users = np.arange(3)
        sources = [(name, TABLE, {"user": users, "report": REPORTS[:3]}) for name in ("web", "app")]
        assert count(sources, key="user").n_users == 3

    def test_what_cannot_be_counted_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="files are for bits of many categories"):
            count(JOBS, tmp_path / "reports.csv")
        with pytest.raises(InputError, match="key is for tables and attributes"):
            count(JOBS, [0, 1], key="user")  # pyright: ignore[reportCallIssue, reportArgumentType] -- what is tested
        with pytest.raises(InputError, match="a mechanism, or a list of services, must be given"):
            count("x", [0])  # pyright: ignore[reportCallIssue, reportArgumentType] -- what is tested
