"""Whatever is asked in whatever order, a ledger does what a dictionary of exact sums would."""

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import BudgetError, InputError, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.ledger.file import SETTINGS

KEY = bytes(range(32))
MECHANISMS = [
    make_exact(duchi([0.0, 1.0], 0.1)).mechanism,
    make_exact(duchi([0.0, 1.0], 0.3)).mechanism,
    categorical_grr(range(2), 0.7),
]
NAMES = ["ann", "bob", "Zo\u00eb", "Zoe\u0308", " ann", "\U0001f600"]
REQUESTS = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(MECHANISMS), st.sampled_from([0, 1, 0.5]), st.booleans(), st.booleans()
)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk():
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(SETTINGS, "synchronous", "OFF")
        yield


def person(name):
    return NAMES[2] if name == NAMES[3] else name


@pytest.mark.nightly
@settings(max_examples=25, deadline=None)
@given(st.lists(REQUESTS, max_size=20), st.sampled_from([0.1, 0.7, 1.0, 1.1]))
def test_what_is_spent_never_exceeds_the_budget_under_any_sequence(requests, budget):
    """New reports are given as long as the exact sum allows, old ones always, bad requests change nothing."""
    spent: dict[str, Fraction] = {}
    given_reports, drawn = {}, 0
    with TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder, "people.ledger"), KEY, budget)
        for name, mechanism, value, fresh, reopened in requests:
            ledger = Ledger(ledger.path, KEY, budget, mark=ledger.mark()) if reopened else ledger
            what, cost = (person(name), MECHANISMS.index(mechanism), value), Fraction(mechanism.epsilon)
            before = spent.get(person(name), Fraction(0))
            try:
                report = ledger.report(mechanism, name, value, fresh=fresh)
            except BudgetError:
                assert before + cost > Fraction(budget)
                assert fresh or what not in given_reports
            except InputError:
                assert value == 0.5
                assert mechanism is MECHANISMS[2]
            else:
                if what in given_reports and not fresh:
                    assert np.array_equal(report, given_reports[what])
                else:
                    spent[person(name)], drawn = before + cost, drawn + 1
                given_reports[what] = report
            assert max(spent.values(), default=Fraction(0)) <= Fraction(budget)
        assert ledger.check() == drawn
        for name in NAMES:
            exact = spent.get(person(name), Fraction(0))
            assert exact <= Fraction(ledger.spent(name)) <= exact * (1 + Fraction(2) ** -52)
