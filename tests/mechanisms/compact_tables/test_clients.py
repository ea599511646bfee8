"""Who draws reports in earnest draws them from a floor form as from a table."""

import numpy as np
import pytest
from optldp.mechanisms import InputError, OneReportClient, Sampler, SimulatedClient, TableError
from optldp.mechanisms.ledger import Ledger, new_ledger_key

from ..floor_forms import SCALE, by_hand

FORM = by_hand()
BROKEN = by_hand(ratio=4 * SCALE)


def test_a_sampler_proves_it_first():
    """In earnest and as a simulation."""
    assert set(Sampler(FORM).sample([0.0, 5.0]).tolist()) <= set(FORM.outputs.tolist())
    simulated = Sampler(FORM, np.random.default_rng(2)).sample([0.0, 5.0])
    np.testing.assert_array_equal(simulated, FORM.sample([0.0, 5.0], np.random.default_rng(2)))
    for rng in (None, np.random.default_rng(2)):
        with pytest.raises(TableError, match=r"the log-ratio must be at most 1.1"):
            Sampler(BROKEN, rng)


def test_a_client_answers_it_once():
    """And refuses one that breaks its promise, or asks for more than there is."""
    client = OneReportClient(5.0, 1.1, domain=(0, 10))
    assert client(FORM) in FORM.outputs
    assert client.has_reported
    with pytest.raises(InputError):
        client(FORM)
    assert SimulatedClient(5.0, 1.1, domain=(0, 10), rng=np.random.default_rng(1))(FORM) in FORM.outputs
    for form, budget in ((BROKEN, 2.0), (FORM, 1.0)):
        other = OneReportClient(5.0, budget, domain=(0, 10))
        with pytest.raises((InputError, TableError)):
            other(form)
        assert not other.has_reported


def test_a_ledger_books_it(tmp_path):
    """The same value gets the same report, and other mechanisms' reports are others."""
    ledger = Ledger.create(tmp_path / "ledger", new_ledger_key(), 3.0)
    report = ledger.report(FORM, "ann", 5.0)
    assert report in FORM.outputs
    assert all(ledger.report(FORM, "ann", 5.0) == report for _ in range(20))
    with pytest.raises(TableError, match=r"the log-ratio must be at most 1.1"):
        ledger.report(BROKEN, "ann", 5.0)
