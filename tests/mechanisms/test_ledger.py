"""The ledger: repeated reports are free, new ones cost, and the file tells nothing to whoever lacks the key."""

import json
from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import (
    BudgetError,
    InputError,
    Ledger,
    Sampler,
    duchi,
    make_exact,
    new_ledger_key,
    piecewise,
)

SAMPLER = Sampler(make_exact(piecewise(np.linspace(0, 100, 5), 0.5)).mechanism)
KEY = bytes(range(32))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.json", KEY, 1.0)


def test_the_same_value_gets_the_same_report_for_ever_at_no_cost(ledger):
    """Through other handles on the same file too."""
    first = ledger.report(SAMPLER, "ann", 42.0)
    again = Ledger(ledger.path, KEY, 1.0)
    assert {again.report(SAMPLER, "ann", 42.0) for _ in range(5)} == {first}
    assert again.spent("ann") == 0.5


def test_the_second_report_costs_and_the_third_is_refused(ledger):
    """Fresh, of another value, or under another table: epsilons add up, and nothing is spent by a refusal."""
    first = ledger.report(SAMPLER, "ann", 42.0)
    assert ledger.report(SAMPLER, "ann", 42.0, fresh=True) != first
    assert ledger.spent("ann") == 1.0
    for sampler, value, fresh in (
        (SAMPLER, 42.0, True),
        (SAMPLER, 43.0, False),
        (Sampler(make_exact(duchi([0, 100], 0.001)).mechanism), 42.0, False),
    ):
        with pytest.raises(BudgetError, match=r"must sum to at most 1, got 1\.\d* with this report|got 1.5 with"):
            ledger.report(sampler, "ann", value, fresh=fresh)
    assert ledger.spent("ann") == 1.0
    assert ledger.report(SAMPLER, "bob", 42.0) != first
    assert ledger.spent("bob") == 0.5
    assert ledger.spent("eve") == 0.0


def test_budgets_are_summed_exactly(tmp_path):
    """Ten times a tenth is more than one, for the tenth is a double a hair above; at nine times it is within."""
    sampler = Sampler(make_exact(duchi([0.0, 1.0], 0.1)).mechanism)
    ledger = Ledger(tmp_path / "ledger.json", KEY, 1.0)
    assert sum([Fraction(0.1)] * 10) > 1
    for _ in range(9):
        ledger.report(sampler, "ann", 1.0, fresh=True)
    with pytest.raises(BudgetError):
        ledger.report(sampler, "ann", 1.0, fresh=True)


def test_the_file_holds_neither_users_nor_values_and_is_the_owners_alone(ledger):
    """Nor do the ledger's own text or its refusals."""
    for _ in range(2):
        ledger.report(SAMPLER, "ann-of-green-gables", 42.4242, fresh=True)
    text = ledger.path.read_text()
    with pytest.raises(BudgetError) as caught:
        ledger.report(SAMPLER, "ann-of-green-gables", 42.4242, fresh=True)
    for told in (text, str(caught.value), repr(ledger)):
        assert "green" not in told
        assert "42.4242" not in told
        assert KEY.hex() not in told
        assert repr(KEY) not in told
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_equal_values_of_different_users_have_different_digests(ledger):
    """Or the file would tell who has the same value."""
    for user in ("ann", "bob"):
        ledger.report(SAMPLER, user, 42.0)
    users = json.loads(ledger.path.read_text())["users"]
    digests = [digest for entry in users.values() for digest in entry["reports"]]
    assert len(set(digests)) == 2


def test_another_key_is_refused_rather_than_a_fresh_start(ledger):
    """Under another digest every user would have a new budget."""
    ledger.report(SAMPLER, "ann", 1.0)
    with pytest.raises(InputError, match="opened with the key that it was made with"):
        Ledger(ledger.path, new_ledger_key(), 1.0).report(SAMPLER, "ann", 1.0)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": "optldp-ledger/1"}', '{"format": "optldp-ledger/1", "users": {"a": {"spent": "x"}}}',
     '{"format": "optldp-ledger/1", "users": {"a": {"spent": "-1", "reports": {}}}}',
     '{"format": "optldp-ledger/1", "users": {"a": {"spent": "1/0", "reports": {}}}}',
     '{"format": "optldp-ledger/1", "users": {"a": {"spent": "0", "reports": {"b": "c"}}}}'],
)  # fmt: skip
def test_a_damaged_ledger_is_refused_and_left_alone(ledger, content):
    """A lost ledger must not become a new budget."""
    ledger.path.write_text(content)
    with pytest.raises(InputError, match="the ledger must be"):
        ledger.report(SAMPLER, "ann", 1.0)
    assert ledger.path.read_text() == content


def test_bad_input_is_refused_before_anything_is_spent(ledger, tmp_path):
    """Keys, budgets, values, simulations."""
    with pytest.raises(InputError, match="at least 32 bytes"):
        Ledger(tmp_path / "x", b"short", 1.0)
    for budget in (0.0, -1.0, float("inf"), float("nan"), "1"):
        with pytest.raises(InputError, match="budget must be positive and finite"):
            Ledger(tmp_path / "x", KEY, budget)  # pyright: ignore[reportArgumentType] -- the fault
    for value in (101.5, float("nan"), "ten"):
        with pytest.raises(InputError, match=r"must be a number in \[0, 100\], got another") as caught:
            ledger.report(SAMPLER, "ann", value)  # pyright: ignore[reportArgumentType] -- the fault
        assert str(value) not in str(caught.value)
    with pytest.raises(InputError, match="got a simulated sampler"):
        ledger.report(Sampler(SAMPLER.mechanism, np.random.default_rng(1)), "ann", 1.0)
    assert not ledger.path.exists()
