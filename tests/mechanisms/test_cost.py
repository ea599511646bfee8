"""What a file may cost: refused by its shape in one line, before any work, unless more is allowed."""

import numpy as np
import pytest
from optldp.mechanisms import Approximate, InputError, TableError, TabulatedMechanism, allow_large, load_mechanism
from optldp.mechanisms.cost import (
    MOST_MEMORY,
    MOST_MULTIPLICATIONS,
    affordable,
    audit_cost,
    columns_cost,
    fit_cost,
    names_cost,
    require_affordable,
    sets_cost,
    table_cost,
)
from optldp.mechanisms.documents.table import table_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.npz_table import to_npz

from .floor_forms import by_hand

D = 2**53


def square_table(n: int, m: int, promise: Approximate | None = None) -> TabulatedMechanism:
    """Rows that give each output alike but for the first."""
    rows = np.full((n, m), D // m)
    rows[:, 0] += D - rows.sum(axis=1)
    return TabulatedMechanism(
        np.arange(float(n)),
        np.arange(float(m)),
        np.arange(float(m)),
        rows / D,
        1.0,
        exact=True,
        promise=promise,  # pyright: ignore[reportArgumentType] -- of these there is one
    )


def test_the_limits_are_where_the_page_has_them():
    """docs/bundle-format.md#what-a-file-may-cost: the largest of each kind, and one more."""
    assert affordable(table_cost(4096, 8192))
    assert not affordable(table_cost(4096, 8193))
    assert affordable(table_cost(1001, 2002, all_pairs=True))
    assert not affordable(table_cost(8192, 500, all_pairs=True))
    assert affordable(table_cost(5300, 5300))
    assert not affordable(table_cost(5500, 5500))
    assert affordable(fit_cost(1001, 2002))
    assert not affordable(fit_cost(2**15, 64))
    assert affordable(fit_cost(2500, 300))
    assert not affordable(fit_cost(3000, 300))
    assert not affordable(fit_cost(1024, 2049))
    assert affordable(columns_cost(2**15))
    assert not affordable(columns_cost(2**15 + 1))
    assert affordable(columns_cost(256, read=256))
    assert not affordable(columns_cost(257, read=257))
    assert affordable(names_cost(2**20, 128))
    assert not affordable(names_cost(2**20, 129))
    assert affordable(sets_cost(2**19))
    assert not affordable(sets_cost(2**19 + 1))
    assert affordable(audit_cost(2**20, 512))
    assert not affordable(audit_cost(2**20, 513))


def test_more_is_allowed_in_a_block_alone():
    """And in one within it, whatever that says."""
    large = table_cost(2**15, 2**15)
    with allow_large():
        require_affordable("it", large)
        with allow_large(False):
            require_affordable("it", large)
    with pytest.raises(InputError, match=r"^it may take 69 GB of memory and 1\.5e\+12 multiplications, .*: use less$"):
        require_affordable("it", large, "use less")


def test_a_promise_of_all_pairs_is_refused_before_a_pair_is_looked_at(tmp_path, monkeypatch):
    """In either form, by its shape: nothing of its matrix is asked for."""
    table = square_table(1300, 1300, Approximate(1.0, 1e-6))
    document = table_to_document(table)
    path = tmp_path / "pairs.npz"
    path.write_bytes(to_npz({**document, "checksum": checksum(document)}))
    monkeypatch.setattr("optldp.mechanisms.files.npz_table._put_matrices", None)
    with pytest.raises(TableError, match=r"of 1300 knots and 1300 outputs with a promise of kind approximate may take"):
        load_mechanism(path)
    monkeypatch.setattr("optldp.mechanisms.documents.table.numerators_from_document", None)
    from optldp.mechanisms.documents.table import document_to_table

    with pytest.raises(InputError, match="with a promise of kind approximate may take"):
        document_to_table(document)


def test_the_table_of_a_floor_form_is_not_made_unless_it_is_allowed(monkeypatch):
    """Its own numbers are few, and are read whatever its table would cost."""
    monkeypatch.setattr("optldp.mechanisms.cost.ENTRY_BYTES", MOST_MEMORY)
    form = by_hand()
    assert not form.expands
    assert form.proof().ok
    with pytest.raises(InputError, match="the table of a floor form of 3 knots and 3 outputs may take"):
        form.expand()
    with allow_large():
        assert form.expands
        assert form.expand().low.size == 3


def test_multiplications_are_counted_as_the_page_says():
    """64 n m, a 24th of the shorter side's square times the longer one, and 4 n n m for all pairs."""
    assert table_cost(3, 5).multiplications == 64 * 15 + 45 // 24
    assert table_cost(3, 5, all_pairs=True).multiplications == 64 * 15 + 4 * 3 * 15
    assert MOST_MULTIPLICATIONS == 2**33
