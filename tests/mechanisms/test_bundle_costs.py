"""What a bundle may cost: refused by the numbers of its categories, keys and levels, in one line."""

from typing import Any

import numpy as np
import pytest
from optldp.mechanisms import Categories, InputError, PersonalisedMechanism, TableError, allow_large
from optldp.mechanisms.categorical import CategoricalTable, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.files.bundle import document_to_mechanism
from optldp.mechanisms.key_value import key_value_unary

from .test_cost import square_table


def test_one_long_name_among_many_is_refused_before_they_are_looked_up():
    """numpy would hold each as wide as the longest: 2 TB for a file of 6 MB, 4 GB for one of 1 MB."""
    names = ["x" * 1_000_000, *map(str, range(500))]
    with pytest.raises(InputError, match=r"^501 categories, the longest of 1000000 characters, may take 8 GB"):
        Categories(names)
    with allow_large():
        assert len(Categories(names)) == 501


@pytest.mark.slow
def test_many_names_of_usual_length_are_read():
    """As many as there may be."""
    assert len(Categories(range(2**20))) == 2**20


@pytest.mark.slow
def test_large_sets_are_refused_whatever_their_file_says():
    """A document of a few categories more than half of a million, all in the set but one."""
    size = 2**19 + 2
    document = {
        "format": "optldp-bundle/1",
        "kind": "subset-selection",
        "categories": list(map(str, range(size))),
        "epsilon": 1.0,
        "provenance": {"method": "subset", "parameters": {}, "version": "0", "certificate": None},
        "n_chosen": size - 1,
        "own_chosen": 2**53 - 1,
    }
    with pytest.raises(InputError, match=r"^subset selection of sets of 524289 categories may take"):
        document_to_mechanism(document)
    assert subset_selection(range(1000), 1.0).n_chosen < 1000


def test_pairs_are_refused_by_keys_times_outputs():
    """Each is shown so often at each."""
    value = square_table(2, 1025)
    with pytest.raises(InputError, match=r"^pairs of 32768 keys and 1025 outputs may take"):
        key_value_unary(range(2**15), value, 1.0)
    assert len(key_value_unary(range(2**10), value, 1.0).keys) == 2**10


def test_levels_are_refused_by_reports_of_levels_times_what_is_counted_beside_each():
    """Ten levels told by ten bits have 1024 reports."""
    told: Any = {"level_mechanism": optimised_unary(range(10), 1.0)}
    budgets = [0.1 * (1 + number) for number in range(10)]
    with pytest.raises(InputError, match=r"^1024 reports of levels beside 32769 numbers for each may take"):
        PersonalisedMechanism([local_hashing(range(2**15 + 1), each, n_values=2) for each in budgets], **told)
    pairs = [key_value_unary(range(1000), square_table(2, 99), each) for each in budgets]
    with pytest.raises(InputError, match=r"^1024 reports of levels beside 100000 numbers for each may take"):
        PersonalisedMechanism(pairs, **told)


def test_a_categorical_table_needs_no_rule_beyond_its_text():
    """Whose numbers are as many as its entries; its file stays within what JSON text may hold."""
    rows = np.full((3, 2), 2**52)
    assert CategoricalTable(Categories("abc"), 1.0, subset_selection("abc", 1.0).provenance, rows).failures() == ()


def test_what_a_file_would_cost_is_said_of_the_file(tmp_path):
    """In one line with its name."""
    from optldp.mechanisms import load_mechanism

    path = tmp_path / "names.json"
    names = ", ".join(f'"{name}"' for name in ["x" * 1_000_000, *map(str, range(500))])
    path.write_text(
        '{"format": "optldp-bundle/1", "kind": "unary-encoding", "epsilon": 1.0, "own_one": 2, "other_one": 1, '
        '"provenance": {"method": "oue", "parameters": {}, "version": "0", "certificate": null}, '
        f'"categories": [{names}], "checksum": "none"}}'
    )
    with pytest.raises(TableError, match=r"names\.json' refused: 501 categories, .* may take 8 GB of memory"):
        load_mechanism(path)
