"""The ledger: repeated reports are free, new ones cost, and neither file nor errors tell users, values or key."""

import os
import re
import sqlite3
import unicodedata
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    BudgetError,
    InputError,
    Metric,
    PersonalisedMechanism,
    Sampler,
    TableError,
    TabulatedMechanism,
    duchi,
    gaussian,
    geometric,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.ledger import Ledger, new_ledger_key
from optldp.mechanisms.ledger.book import LedgerBook
from optldp.mechanisms.ledger.file import SETTINGS

from ...small_channels import OF_PAIRS

TABLE = make_exact(piecewise(np.linspace(0, 100, 5), 0.5)).mechanism
SAMPLER = Sampler(TABLE)
TENTH = make_exact(duchi([0.0, 1.0], 0.1)).mechanism
KEY = bytes(range(32))


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "people.ledger", KEY, 1.0)


def everything_said(error):
    """The texts of an exception and of all that it hangs on to."""
    while error is not None:
        yield f"{error} {error!r}"
        error = error.__cause__ or error.__context__


def test_the_same_value_gets_the_same_report_for_ever_at_no_cost(ledger):
    """Through other handles on the same file too, from a sampler or its table."""
    first = ledger.report(SAMPLER, "ann", 42.0)
    again = Ledger(ledger.path, KEY, 1.0)
    assert {again.report(TABLE, "ann", value) for value in (42.0, 42, np.int64(42), np.float64(42))} == {first}
    assert again.spent("ann") == 0.5
    assert again.check() == 1


def test_short_floats_are_refused_as_the_same_digits_would_be_spent_twice(ledger):
    with pytest.raises(InputError, match="doubles or whole numbers, got float32"):
        ledger.report(SAMPLER, "ann", np.float32(0.1))
    with pytest.raises(InputError, match="got float32"):
        ledger.reports(SAMPLER, ["ann", "bo"], [42.0, np.float32(0.1)])
    assert ledger.check() == 0


def test_minus_zero_is_zero(ledger):
    assert ledger.report(TABLE, "ann", 0.0) == ledger.report(TABLE, "ann", -0.0)
    assert ledger.spent("ann") == 0.5


def test_the_second_report_costs_and_the_third_is_refused(ledger):
    """Fresh, of another value, or under another table: epsilons add up, and nothing is spent by a refusal."""
    first = ledger.report(SAMPLER, "ann", 42.0)
    second = ledger.report(SAMPLER, "ann", 42.0, fresh=True)
    assert second != first
    assert ledger.report(SAMPLER, "ann", 42.0) == second
    assert ledger.spent("ann") == 1.0
    for mechanism, value, fresh in ((SAMPLER, 42.0, True), (SAMPLER, 43.0, False), (TENTH, 1.0, False)):
        with pytest.raises(BudgetError, match=r"must sum to at most 1.0, got 1\.[15] with this report: repeat"):
            ledger.report(mechanism, "ann", value, fresh=fresh)
    assert ledger.spent("ann") == 1.0
    assert ledger.report(SAMPLER, "bob", 42.0) != first
    assert ledger.spent("bob") == 0.5
    assert ledger.spent("eve") == 0.0
    assert ledger.check() == 3


def test_budgets_are_summed_exactly(ledger):
    """Ten times a tenth is more than one, for the tenth is a double a hair above; the refusal shows it."""
    assert sum([Fraction(0.1)] * 10) > 1
    for _ in range(9):
        ledger.report(TENTH, "ann", 1.0, fresh=True)
    with pytest.raises(BudgetError, match=r"at most 1.0, got 1.0000000000000002 with"):
        ledger.report(TENTH, "ann", 1.0, fresh=True)
    assert Fraction(ledger.spent("ann")) >= 9 * Fraction(0.1)


@pytest.mark.parametrize("make", [categorical_grr, basic_rappor, local_hashing, subset_selection])
def test_categories_are_booked_as_numbers_are(ledger, make):
    """A repeated report is the first one, in type and value, and one that the mechanism makes."""
    mechanism = make(["red", "green", "blue"], 0.5)
    first = ledger.report(mechanism, "ann", "green")
    again = ledger.report(mechanism, "ann", "green")
    assert type(first) is type(again)
    assert np.array_equal(first, again)
    assert np.shape(first) == mechanism.sample(["green"]).shape[1:]
    assert any(np.array_equal(first, report) for report in mechanism.all_reports())
    ledger.report(mechanism, "ann", "red")
    with pytest.raises(BudgetError):
        ledger.report(mechanism, "ann", "blue")


@pytest.mark.parametrize("make", [key_value_unary, key_value_response])
def test_sets_of_pairs_are_booked_in_whatever_order_they_are_listed(ledger, make):
    mechanism = make(["film", "book"], TABLE, 0.5, padding=2)
    first = ledger.report(mechanism, "ann", {"film": 10.0, "book": 90})
    assert np.array_equal(first, ledger.report(mechanism, "ann", {"book": 90.0, "film": 10}))
    assert np.shape(first) == mechanism.sample(["film"], [10.0]).shape[1:]
    assert ledger.spent("ann") == 0.5
    ledger.report(mechanism, "ann", {})
    assert ledger.spent("ann") == 1.0
    for wrong in (
        {"opera": 10.0},
        {"film": 777.5},
        {"film": float("nan")},
        {"film": None},
        [("film", 1.0)],
        777.5,
        {None: 1.0},
    ):
        with pytest.raises(InputError, match=r"must map known keys to numbers in \[0, 100\], got another") as caught:
            ledger.report(mechanism, "ann", wrong)
        assert not any("777" in told or "opera" in told for told in everything_said(caught.value))
    with pytest.raises(InputError, match="must be one pair"):
        ledger.report(make(["film", "book"], TABLE, 0.5, padding=0), "ann", {"film": 1.0, "book": 2.0})


def test_attributes_are_booked_all_together(ledger):
    mechanism = AttributeSampling(["age", "share"], [TABLE, TENTH], 1, 0.5)
    first = ledger.report(mechanism, "ann", {"age": 42.0, "share": 1})
    assert ledger.report(mechanism, "ann", {"share": 1.0, "age": 42}) == pytest.approx(first, abs=0, nan_ok=True)
    assert [np.isnan(report) for report in first.values()].count(True) == 1
    assert list(first) == ["age", "share"]
    assert ledger.spent("ann") == 0.5
    for wrong in ({"age": 42.0}, {"age": 777.5, "share": 1}, {"age": 42.0, "share": 1, "x": 1}, 42.0):
        with pytest.raises(InputError, match="must map each of 2 attributes to a number in its domain") as caught:
            ledger.report(mechanism, "ann", wrong)
        assert not any("777" in told or "42" in told for told in everything_said(caught.value))
    with pytest.raises(TableError, match="must be exact"):
        ledger.report(AttributeSampling(["x"], [duchi([0.0, 1.0], 0.5)], 1, 0.5), "ann", {"x": 1.0})


def test_a_category_and_the_number_that_prints_so_are_one_value(ledger):
    mechanism = categorical_grr(range(3), 1.0)
    ledger.report(mechanism, "ann", "2")
    ledger.report(mechanism, "ann", 2)
    assert ledger.spent("ann") == 1.0


@pytest.mark.slow
def test_new_reports_are_drawn_from_the_law(ledger, monkeypatch):
    """Of 200 users with one value, each report comes out about as often as the table says."""
    monkeypatch.setitem(SETTINGS, "synchronous", "OFF")  # for speed
    grr = categorical_grr(["a", "b"], 1.0)
    seen = [ledger.report(grr, f"user {i}", "a") for i in range(200)]
    share = grr.probabilities[0, 0]
    assert abs(seen.count(0) - 200 * share) < 6 * np.sqrt(200 * share * (1 - share))


def test_the_file_holds_neither_users_nor_values_and_is_the_owners_alone(ledger):
    """Nor do the ledger's own text or its refusals."""
    for _ in range(2):
        ledger.report(SAMPLER, "ann-of-green-gables", 42.4242, fresh=True)
    with pytest.raises(BudgetError) as caught:
        ledger.report(SAMPLER, "ann-of-green-gables", 42.4242, fresh=True)
    content = ledger.path.read_bytes()
    assert b"green" not in content
    assert np.float64(42.4242).tobytes() not in content
    assert np.float64(42.4242).astype(">f8").tobytes() not in content
    assert KEY not in content
    for told in (content.decode("latin-1"), *everything_said(caught.value), repr(ledger), str(vars(ledger)["_seen"])):
        assert "green" not in told
        assert "42.4242" not in told
        assert KEY.hex() not in told
    assert ledger.path.stat().st_mode & 0o777 == 0o600


def test_the_journal_is_the_owners_alone_too(ledger, monkeypatch):
    """Seen while a report is being written; umask 0 grants all that is asked for."""
    seen, append = [], LedgerBook.append

    def looking(book, *arguments):
        append(book, *arguments)
        seen.extend((path.name, path.stat().st_mode & 0o777) for path in ledger.path.parent.iterdir())

    monkeypatch.setattr(LedgerBook, "append", looking)
    before = os.umask(0)
    try:
        ledger.report(TABLE, "ann", 1.0)
    finally:
        os.umask(before)
    assert sorted(seen) == [("people.ledger", 0o600), ("people.ledger-journal", 0o600)]
    assert [path.name for path in ledger.path.parent.iterdir()] == ["people.ledger"]


def test_a_commit_is_durable_before_a_report_leaves(ledger, monkeypatch):
    """The settings that make it so are the ones that SQLite has at the commit."""
    seen, append = {}, LedgerBook.append

    def looking(book, *arguments):
        append(book, *arguments)
        for name in ("synchronous", "journal_mode", "fullfsync", "trusted_schema"):
            seen[name] = book._connection.execute(f"PRAGMA {name}").fetchone()[0]

    monkeypatch.setattr(LedgerBook, "append", looking)
    ledger.report(TABLE, "ann", 1.0)
    assert seen == {"synchronous": 3, "journal_mode": "delete", "fullfsync": 1, "trusted_schema": 0}


def test_equal_values_and_equal_users_have_different_digests(tmp_path, ledger):
    """Or the files would tell who has the same value, and who is in two ledgers."""
    other = Ledger.create(tmp_path / "other.ledger", KEY, 1.0)
    for user in ("ann", "bob"):
        for book in (ledger, other):
            book.report(SAMPLER, user, 42.0)
    digests = []
    for path in (ledger.path, other.path):
        with closing(sqlite3.connect(path)) as connection:
            digests += [digest for row in connection.execute("SELECT user, given FROM records") for digest in row]
    assert len(set(digests)) == 8


def test_names_are_one_however_they_were_typed_and_else_are_told_apart(ledger):
    composed, taken_apart = "Zo\u00eb", "Zoe\u0308"
    assert composed != taken_apart == unicodedata.normalize("NFD", composed)
    first = ledger.report(SAMPLER, composed, 1.0)
    assert ledger.report(SAMPLER, taken_apart, 1.0) == first
    assert ledger.spent(taken_apart) == ledger.spent(composed) == 0.5
    for other in ("zo\u00eb", "Zo\u00eb ", "Zoe", "Zo\u00eb\0"):
        assert ledger.spent(other) == 0


@pytest.mark.parametrize("name", ["", None, 7, b"ann", "\ud800x", "x\udfff"])
def test_a_name_that_is_none_is_refused_and_not_shown(ledger, name):
    for call in (lambda: ledger.report(SAMPLER, name, 1.0), lambda: ledger.spent(name)):
        with pytest.raises(InputError, match=r"^a user's name must be .*, got (something else|half)") as caught:
            call()
        assert name is None or name == "" or str(name) not in str(caught.value)
    assert ledger.check() == 0


@pytest.mark.parametrize("value", [101.5, -1e-9, float("nan"), float("inf"), "77.25", None, True, 10**400, [50.25], 1j])
def test_a_value_that_is_none_is_refused_unseen_before_anything_is_spent(ledger, value):
    with pytest.raises(InputError, match=r"must be a number in \[0, 100\], got another: clip it") as caught:
        ledger.report(SAMPLER, "ann", value)
    for told in everything_said(caught.value):
        assert not any(secret in told for secret in ("101.5", "1e-09", "77.25", "50.25", "nan", "inf", "True"))
    assert ledger.check() == 0


@pytest.mark.parametrize("value", ["mauve", "", "\ud800", None, 3.25, ["red"], "red\0", True])
def test_an_unknown_category_is_refused_unseen(ledger, value):
    with pytest.raises(InputError, match=r"must be one of the 2 categories, got another") as caught:
        ledger.report(categorical_grr(["red", "green"], 0.5), "ann", value)
    for told in everything_said(caught.value):
        assert "mauve" not in told
        assert "3.25" not in told
    assert ledger.check() == 0


def test_only_what_is_proved_private_is_booked(ledger):
    """No doubles, no simulation, no claim that is not kept, no kind that takes more than one value."""
    ends, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    broken = TabulatedMechanism(ends, ends, ends, matrix, 1.0, exact=True)
    inexact = duchi([0.0, 1.0], 0.5)
    levels = PersonalisedMechanism([categorical_grr(["a", "b"], epsilon) for epsilon in (0.1, 0.2)])
    with pytest.raises(TableError, match="log-ratio must be at most 1"):
        ledger.report(broken, "ann", 1.0)
    with pytest.raises(TableError, match="needs an exact table"):
        ledger.report(inexact, "ann", 1.0)
    with pytest.raises(InputError, match="got a simulated sampler"):
        ledger.report(Sampler(TABLE, np.random.default_rng(1)), "ann", 1.0)
    with pytest.raises(TableError, match=r"pure privacy, got a table that promises epsilon 0\.5, delta"):
        ledger.report(make_exact(gaussian([0, 1], Approximate(0.5, 1e-6))).mechanism, "ann", 1.0)
    with pytest.raises(TableError, match=r"of two values, at most 16, got inf of a table that promises epsilon 2 of 3"):
        ledger.report(OF_PAIRS["sensitive"], "ann", 0.0)
    with pytest.raises(TableError, match="at most 16, got 20 of a table that promises epsilon 1 per unit"):
        ledger.report(make_exact(geometric(np.arange(21), Metric(1.0))).mechanism, "ann", 0.0)
    for other in (levels, None, "table"):
        with pytest.raises(
            InputError, match="a ledger books tables and mechanisms for categories, pairs and attributes, got"
        ):
            ledger.report(other, "ann", 1.0)
    assert ledger.check() == 0


def test_a_promise_of_pairs_costs_its_largest_log_ratio(tmp_path):
    """Of any two values, by paths too; which is proved as an epsilon, and not believed."""
    ledger = Ledger.create(tmp_path / "pairs.ledger", KEY, 5.0)
    blocks = OF_PAIRS["blocks"]
    steps = make_exact(geometric([0, 1, 2], Metric(0.5))).mechanism
    assert (blocks.epsilon, steps.epsilon) == (2.0, 0.5)
    ledger.report(blocks, "ann", 15.0)
    assert ledger.spent("ann") == 2.0
    ledger.report(steps, "ann", 1.0)
    assert ledger.spent("ann") == 3.0
    with pytest.raises(InputError, match="knots"):
        ledger.report(blocks, "bo", 20.0)
    assert ledger.spent("bo") == 0.0


def test_a_ledger_is_created_once_and_never_replaced(ledger, tmp_path):
    """Nor by a link, nor beside what another one left."""
    ledger.report(TABLE, "ann", 1.0)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    for path in (ledger.path, link, tmp_path / "folder"):
        with pytest.raises(InputError, match="a new ledger must not replace a file"):
            Ledger.create(path, KEY, 1.0)
    for suffix in ("-journal", "-wal"):
        (tmp_path / f"new{suffix}").write_bytes(b"left over")
        with pytest.raises(InputError, match="move that file away"):
            Ledger.create(tmp_path / "new", KEY, 1.0)
        (tmp_path / f"new{suffix}").unlink()
    long = tmp_path / ("x" * 300)
    for call in (lambda: Ledger.create(long, KEY, 1.0), lambda: Ledger(long, KEY, 1.0)):
        with pytest.raises(InputError, match="got 'File name too long'"):
            call()
    with pytest.raises(
        InputError, match="must be readable and writable, with its folder, got 'No such file or directory'"
    ):
        Ledger.create(tmp_path / "no" / "folder", KEY, 1.0)
    assert Ledger(ledger.path, KEY, 1.0).spent("ann") == 0.5


def test_a_ledger_that_could_not_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LedgerBook, "begin", stopped)
    with pytest.raises(KeyboardInterrupt):
        Ledger.create(tmp_path / "people.ledger", KEY, 1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_no_new_start(ledger, tmp_path):
    """Neither for a handle that is open nor for a new one; nothing is made in its place."""
    ledger.report(TABLE, "ann", 1.0)
    ledger.path.unlink()
    for call in (
        lambda: ledger.report(TABLE, "ann", 1.0),
        lambda: ledger.spent("ann"),
        lambda: Ledger(ledger.path, KEY, 1.0),
    ):
        with pytest.raises(InputError, match=r"got no file: put the latest copy back, or make one with Ledger\.create"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_another_key_or_budget_is_refused_rather_than_a_fresh_start(ledger):
    """Under another digest every user would have a new budget, and a budget is a promise."""
    ledger.report(SAMPLER, "ann", 1.0)
    with pytest.raises(InputError, match="opened with the key that it was made with"):
        Ledger(ledger.path, new_ledger_key(), 1.0)
    for budget in (0.5, 2, 1.0000000000000002):
        with pytest.raises(InputError, match="opened with the budget that it was made with, 1, got"):
            Ledger(ledger.path, KEY, budget)
    assert Ledger(ledger.path, KEY, 1).budget == 1.0


def test_keys_and_budgets_that_are_none_are_refused_and_nothing_is_made(tmp_path):
    for key in (b"short", "x" * 32, None, bytearray(32)):
        with pytest.raises(InputError, match="at least 32 bytes"):
            Ledger.create(tmp_path / "x", key, 1.0)  # pyright: ignore[reportArgumentType] -- the fault
    for budget in (0.0, -1.0, float("inf"), float("nan"), "1", None, True, 10**400, 2**53 + 1):
        with pytest.raises(InputError, match="budget must be positive and finite"):
            Ledger.create(tmp_path / "x", KEY, budget)  # pyright: ignore[reportArgumentType] -- the fault
    for path in (None, 7, b"\xff", "a\0b", "\ud800"):
        with pytest.raises(InputError, match="path must be Unicode text without NUL"):
            Ledger.create(path, KEY, 1.0)  # pyright: ignore[reportArgumentType] -- the fault
    assert list(tmp_path.iterdir()) == []


def test_the_path_is_fixed_when_the_ledger_is_opened(tmp_path, monkeypatch):
    """Odd letters in it mean nothing, and another working folder has no other ledger."""
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create("a?mode=memory#%41 \u00e9.ledger", KEY, 1.0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger.report(TABLE, "ann", 1.0)
    assert ledger.path == tmp_path / "a?mode=memory#%41 \u00e9.ledger"
    assert Ledger(ledger.path, KEY, 1.0).spent("ann") == 0.5


def test_a_name_that_would_take_minutes_to_normalise_is_refused(ledger):
    """Runs of combining marks are sorted in time that grows with their square."""
    assert ledger.spent("a" * 1024) == 0.0
    with pytest.raises(InputError, match="must have at most 1024 characters, got more"):
        ledger.spent("a" + "\u0315\u0300" * 200_000)


def test_the_same_value_through_another_mechanism_is_another_report(ledger):
    """What was given through the first says nothing of it; both are remembered, and both are paid for."""
    other = make_exact(duchi([0.0, 100.0], 0.25)).mechanism
    first, second = ledger.report(TABLE, "ann", 1.0), ledger.report(other, "ann", 1.0)
    assert second in other.high.tolist()
    assert ledger.spent("ann") == 0.75
    assert [ledger.report(made, "ann", 1.0) for made in (TABLE, other)] == [first, second]
    assert ledger.spent("ann") == 0.75


def test_it_is_shown_by_its_path_and_budget_and_refused_by_its_path(ledger):
    assert repr(ledger) == f"Ledger({str(ledger.path)!r}, budget={ledger.budget:g})"
    with pytest.raises(InputError, match=re.escape(f"the ledger {str(ledger.path)!r} must be opened with the budget")):
        Ledger(ledger.path, KEY, ledger.budget + 1)


class TestManyUsers:
    """`reports` is `report` for each of them, in one transaction."""

    def test_reports_are_those_that_report_gives_and_are_counted(self, ledger):
        first = ledger.report(TABLE, "ann", 1.0)
        given = ledger.reports(TABLE, ["ann", "bo", "bo"], [1.0, 2.0, 3.0])
        assert given.reports[0] == first
        assert (given.new, given.repeated, given.spent) == (2, 1, 1.0)
        assert [ledger.spent(user) for user in ("ann", "bo")] == [0.5, 1.0]
        again = ledger.reports(SAMPLER, ["bo", "ann"], [3.0, 1.0])
        assert (again.reports, again.new) == ([given.reports[2], first], 0)
        assert ledger.check() == 3

    def test_where_one_has_no_budget_left_nobody_gets_a_report(self, ledger):
        ledger.reports(TABLE, ["bo", "bo"], [2.0, 3.0])
        done: list[int] = []
        with pytest.raises(
            BudgetError, match=r"epsilon 0\.5 would exceed for 1 of 3 users, the first of them number 2"
        ):
            ledger.reports(TABLE, ["cy", "bo", "di"], [1.0, 4.0, 1.0], progress=done.append)
        assert done == [1, 2, 3]
        assert ledger.check() == 2
        assert ledger.spent("cy") == 0

    @pytest.mark.parametrize(
        ("users", "values", "says"),
        [
            (["a"], [1.0, 2.0], "a value for each of 1 users, got 2"),
            (["a", "b"], [1.0, 1e9], "in \\[0, 100\\]"),
            ([""], [1.0], "name"),
        ],
    )
    def test_bad_input_books_nothing(self, ledger, users, values, says):
        with pytest.raises(InputError, match=says):
            ledger.reports(TABLE, users, values)
        assert ledger.check() == 0

    def test_the_budget_is_the_one_that_it_was_made_with(self, ledger):
        opened = Ledger(ledger.path, KEY)
        assert opened.budget == 1.0
        assert repr(opened) == repr(ledger)
        assert opened.reports(TABLE, [], []).spent == 0.0
