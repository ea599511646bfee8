"""The report on bounds as a page: what it says, what it draws, and that it is only a page."""

import base64
import functools
import hashlib
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from optldp.designer import Prior, bounds, bounds_html
from optldp.designer.comparison.bounds_result import BoundsResult
from optldp.designer.report.sentences import (
    about_least_favourable,
    about_ratio,
    about_trade_off,
    about_values,
    about_variance,
    about_worst_case,
)
from optldp.mechanisms import InputError
from optldp.mechanisms.table.provenance import installed_version

from ..comparison.test_bounds import PRIOR, failing_result, small_result


class Page(HTMLParser):
    """Tags with their attributes, and the texts of the cells of the table of certificates, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[list[str]] = []
        self.texts: dict[str, str] = {}
        self._at, self._table = "", False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._at = tag
        if tag == "table":
            self._table = dict(attrs).get("class") == "certificates"
        if tag == "tr" and self._table:
            self.cells.append([])
        if tag == "td" and self._table:
            self.cells[-1].append("")

    def handle_data(self, data):
        self.texts[self._at] = self.texts.get(self._at, "") + data
        if self._at == "td" and self._table and self.cells[-1]:
            self.cells[-1][-1] += data

    def handle_endtag(self, tag):
        self._at = ""


@functools.cache
def small_page() -> str:
    """The page of a result with nothing missing."""
    return bounds_html(small_result(), column="income", command="optldp bounds people.csv")


def plain(text: str) -> str:
    """Return text with ordinary spaces."""
    return " ".join(text.split())


@pytest.fixture
def texts(monkeypatch) -> Callable[[BoundsResult], str]:
    """The page without its seven figures, which take nearly all the time and are tested on one page."""
    small_page()  # kept for all tests with its figures, which are taken away here
    monkeypatch.setattr("optldp.designer.report.figures.report_figures", lambda result: [])
    return bounds_html


class TestOnlyAPage:
    @pytest.mark.nightly
    def test_it_is_the_same_in_every_run(self):
        assert bounds_html(small_result(), column="income", command="optldp bounds people.csv") == small_page()

    @pytest.mark.nightly
    def test_nothing_in_it_names_a_place_to_fetch_from(self):
        for tag, attributes in Page(small_page()).tags:
            assert tag not in {"link", "iframe", "object", "embed", "base", "form", "img", "audio", "video", "a"}
            for name, value in attributes.items():
                if name in {"src", "href", "xlink:href", "action", "srcset"}:
                    assert value is not None
                    assert value.startswith(("#", "data:image/png;base64,"))
                if name == "style":
                    assert re.findall(r"url\((?!#)", value or "") == []
                assert not name.startswith("on")
        assert re.findall(r"url\((?!#)|@import", Page(small_page()).texts["style"]) == []

    @pytest.mark.nightly
    def test_its_policy_allows_its_own_script_and_no_other(self):
        page = Page(small_page())
        policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
        digest = base64.b64encode(hashlib.sha256(page.texts["script"].encode()).digest()).decode()
        assert policy is not None
        assert "default-src 'none'" in policy
        assert f"script-src 'sha256-{digest}'" in policy
        assert [tag for tag, _ in page.tags].count("script") == 1

    @pytest.mark.nightly
    def test_names_cannot_become_anything_but_text(self):
        hostile = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
        units = '<i>$a$ & $b$</i> " $\\frac{'
        found = bounds(replace(PRIOR, units=units), [1.0], methods=["duchi"])
        page = Page(bounds_html(found, column=hostile, command=hostile))
        assert {tag for tag, _ in page.tags} == {tag for tag, _ in Page(small_page()).tags}
        assert [tag for tag, _ in page.tags].count("script") == 1
        assert page.texts["title"].endswith(hostile)
        assert page.texts["pre"] == hostile
        assert units in page.texts["p"]

    @pytest.mark.nightly
    def test_control_characters_are_shown_and_break_no_picture(self):
        page = bounds_html(bounds(replace(PRIOR, units="kg\x01"), [1.0], methods=["duchi"]))
        assert page.count(r"[kg\x01]") >= 3

    def test_no_id_is_there_twice_and_none_is_missing(self):
        tags = Page(small_page()).tags
        ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        wanted = {f"#{name}" for name in ids}
        assert {attributes["href"] for tag, attributes in tags if tag == "use"} <= wanted
        assert {f"#{name}" for name in re.findall(r"url\(#([^)]*)\)", small_page())} <= wanted


class TestWhatItSays:
    def test_every_case_is_in_the_table_with_its_certificate(self):
        cells = [row for row in Page(small_page()).cells if row]
        assert len(cells) == len(small_result().rows)
        for text, row in zip(cells, small_result().rows, strict=True):
            wanted = (
                row.epsilon,
                row.expected_variance,
                row.worst_case_variance,
                row.value,
                row.bound if row.expected_bound is None else row.expected_bound,
            )
            assert [float(text[i]) for i in (0, 2, 3, 4, 5)] == pytest.approx(wanted, rel=1e-6)
            assert (text[1], text[10]) == (row.method, row.status)
            shown = row.value if row.expected_bound is None else row.expected_variance
            assert wanted[-1] <= shown  # pyright: ignore[reportOperatorIssue] -- of these there is one
            assert float(text[6]) == pytest.approx((shown - wanted[-1]) / shown, rel=0.06)  # pyright: ignore[reportOperatorIssue] -- of these there is one
            assert float(text[8]) == pytest.approx(row.max_log_ratio, rel=1e-8)
            assert text[9] == ("" if row.continuum_bound is None else f"{row.continuum_gap:.1e}")

    @pytest.mark.nightly
    def test_a_failed_case_is_in_the_table_with_its_reason_and_counted(self, texts):
        page = texts(failing_result())
        failed = [row[10] for row in Page(page).cells if row and row[2] == ""]
        assert failed == [f"failed: {row.error}" for row in failing_result().failures]
        count = f"{len(failing_result().failures)} of {len(failing_result().rows)} cases failed"
        assert count in page

    @pytest.mark.nightly
    def test_a_figure_that_cannot_be_drawn_says_why(self):
        detail = replace(small_result().detail, mechanisms={}, trade_off=(), failures={
            "optimal": "no such luck", "trade-off at weight 1": "none either"})  # fmt: skip
        page = bounds_html(replace(small_result(), detail=detail))
        assert page.count("<strong>Not drawn:</strong> no such luck.") == 2
        assert page.count("<strong>Not drawn:</strong> trade-off at weight 1: none either.") == 2
        assert page.count("What this means") == 3

    @pytest.mark.nightly
    def test_failed_cases_are_named_in_the_figures(self):
        """What is drawn is the rest."""
        page = plain(bounds_html(failing_result()))
        assert f"{failing_result().failures[0].method} at ε = 0.001" in page
        assert page.count("What this means") == 7

    @pytest.mark.slow
    def test_a_sensitive_prior_is_warned_of_and_a_public_one_is_not(self, texts):
        warning = "This page is as sensitive as the data."
        assert warning not in small_page()
        assert warning in texts(replace(small_result(), prior=replace(PRIOR, source="sensitive")))

    @pytest.mark.slow
    def test_a_certificate_that_stayed_open_is_named(self, texts):
        first, *others = small_result().budgets
        rows = (replace(first.rows[0], status="gap-open"), *first.rows[1:])
        page = texts(replace(small_result(), budgets=(replace(first, rows=rows), *others)))
        assert "optimal at ε = 0.5" in page
        assert "stayed open" in page
        assert "stayed open" not in small_page()

    @pytest.mark.slow
    def test_it_says_how_to_make_it_again(self, texts):
        text = Page(small_page()).texts
        assert text["pre"] == "optldp bounds people.csv"
        assert f"optldp {installed_version()}, numpy " in text["dd"]
        assert "bounds(prior, [0.5, 1.0, 2.0], " in texts(small_result())

    @pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
    def test_what_is_missing_is_named_with_its_cure(self, monkeypatch, name):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(InputError, match=f"reports need {name}: pip install {name}"):
            bounds_html(small_result())


class TestFigures:
    @pytest.mark.parametrize(
        ("figure", "number"),
        [("variance", "expected_variance"), ("ratio", "ratio_to_optimal"), ("worst", "worst_case_variance")],
    )
    def test_every_point_drawn_speaks_at_its_place_of_its_numbers(self, figure, number):
        """The markers that matplotlib drew and the spots of the page, placed by two routes, coincide."""
        section = small_page().partition(f'id="{figure}"')[2].partition("</section>")[0]
        for method in small_result().methods:
            line = section.partition(f'id="{figure}-method-{method}"')[2].partition("</g>\n</g>")[0]
            drawn = re.findall(r'<use [^>]*x="([-\d.]+)" y="([-\d.]+)"', line)
            spots = re.findall(
                rf'cx="([-\d.]+)" cy="([-\d.]+)" r="5" data-series="{method}" data-says="([^"]*)"', section
            )
            rows = [budget.row(method) for budget in small_result().budgets]
            assert len(drawn) == len(spots) == len(rows)
            for (x, y), (cx, cy, says), row in zip(drawn, spots, rows, strict=True):
                assert (float(cx), float(cy)) == pytest.approx((float(x), float(y)), abs=0.06)
                assert says.startswith(f"{method}, epsilon {row.epsilon:g}&#10;expected variance ")
            assert getattr(rows[0], number) is not None

    def test_every_method_has_a_key_in_the_figures_of_all_methods(self):
        for figure in ("variance", "ratio", "worst"):
            section = small_page().partition(f'<section class="finding" id="{figure}"')[2].partition("</section>")[0]
            keys = re.findall(r'<button type="button" data-series="([^"]*)"', section)
            assert keys == [*small_result().methods, *(["minimax"] if figure == "worst" else [])]


class TestWhatItMeans:
    def test_sentences_follow_from_the_numbers(self):
        """Other numbers, other sentences: a closed form 4.3 % above the optimum, and one 2.5 times as large."""
        budgets = []
        for budget in small_result().budgets:
            best = budget.row("optimal")
            assert best.expected_variance is not None
            ratios = {"optimal": 1.0, "aaa": 1.002, "laplace": 2.5, "duchi": 1.3, "hybrid": 1.0432}
            if budget.epsilon == 2.0:
                ratios |= {"duchi": 1.01}
            rows = tuple(
                replace(row, ratio_to_optimal=ratio, expected_variance=ratio * best.expected_variance)
                for row, ratio in ((budget.row(method), ratio) for method, ratio in ratios.items())
            )
            budgets.append(replace(budget, rows=rows))
        result = replace(small_result(), budgets=tuple(budgets))
        text = plain(" ".join((*about_variance(result), *about_ratio(result))))
        assert "At epsilon 1 the best known closed form, hybrid, is 4.3 % above the optimum" in text
        assert "the worst, laplace, is 2.5 times the optimum" in text
        assert "AAA's lattice, which is designed for the prior too, is 0.2 % above the optimum" in text
        assert "The best closed form changes with the budget: hybrid from 0.5 to 1 and duchi at 2." in text
        assert (
            "at epsilon 2, duchi, is 1.0 % above the optimum; at epsilon 1 the best one, hybrid, is 4.3 % above" in text
        )
        assert "10,432 instead of 10,000" in text

    def test_the_budget_a_closed_form_is_worth_is_where_the_curves_meet(self):
        """Between two budgets, on logarithmic scales, the optimum's curve is a straight line."""
        known = {
            budget.epsilon: budget.row("optimal").expected_variance or math.nan for budget in small_result().budgets
        }
        rival = small_result().at(1.0).closed_forms[0]
        assert rival.expected_variance is not None
        budget = 0.5 ** (math.log(rival.expected_variance / known[1.0]) / math.log(known[0.5] / known[1.0]))
        sentence = f"the variance of {rival.method} at epsilon 1 is the optimum&#39;s at about {budget:.3g}."
        assert sentence in plain(small_page())

    def test_the_worst_case_and_the_trade_off_are_those_of_the_designs(self):
        text, points = plain(small_page()), small_result().detail.trade_off
        fall = 1 - points[-1].worst_case_variance / points[0].worst_case_variance
        assert points[-1].expected_variance is not None
        assert points[0].expected_variance is not None
        cost = points[-1].expected_variance / points[0].expected_variance - 1
        assert f"lowers the worst case by {100 * fall:.1f} % and costs {100 * cost:.1f} %." in text
        bound = small_result().at(1.0).minimax.bound
        assert f"no unbiased mechanism keeps its variance below {bound:.4g} at all values" in text
        best = small_result().at(1.0).row("optimal").expected_variance
        assert best is not None
        assert bound is not None
        assert f"knowing the prior is worth {100 * (1 - best / bound):.1f} % of that." in text
        table = small_result().detail.mechanisms["optimal"]
        assert f"{table.probabilities.any(axis=0).sum()} different reports" in text

    @pytest.mark.slow
    def test_what_is_as_good_as_the_optimum_is_said_to_be(self):
        """On two knots randomised response is optimal; nothing is then claimed to be gained."""
        found = bounds(Prior.on_knots([0, 1], [1, 1], source="public"), [0.5, 1.0], methods=["grr"])
        (ratio,) = about_ratio(found)
        assert "is equal to the optimum" in ratio
        assert "people" not in ratio
        assert about_trade_off(found) == (
            "The whole way to the minimax lowers the worst case by 0.0\N{NO-BREAK SPACE}% and costs "
            "0.0\N{NO-BREAK SPACE}%.",
            "Beaten in both at once by a design on the curve: no closed form.",
        )
        assert about_least_favourable(found)[1].endswith("knowing the prior is worth nothing.")
        assert "at 0\N{NO-BREAK SPACE}% of the knots" in about_values(found)[1]

    @pytest.mark.nightly
    def test_without_closed_forms_none_is_spoken_of(self):
        found = bounds(PRIOR, [1.0], methods=["aaa"])
        assert about_ratio(found) == ("No closed form was asked for.",)
        assert "closed form" not in " ".join((*about_variance(found), *about_worst_case(found), *about_values(found)))
