"""Counts on disk: what was saved comes back for the same tables only, and damage is one line."""

import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import ReportCounts, Service, load_counts, save_counts
from optldp.estimators.counting.counts_file import table_fingerprint
from optldp.mechanisms import InputError, Provenance, grr, laplace, load_table, make_exact, ptt2, save_table
from optldp.mechanisms.table.knot_prior import KnotPrior

TABLES = (grr([0, 1, 2], 1.0), laplace([0, 1, 2], 1.0), ptt2([0, 1, 2], 1.0))
SIZES = [table.low.size for table in TABLES]
MATRIX = np.array([[0, -1, -1], [1, 2, 0], [1, 2, 0], [1, -1, 1], [-1, 0, 0], [2, 1, 0]])


def counts_of(matrix) -> ReportCounts:
    services = [Service(name, table) for name, table in zip("abc", TABLES, strict=True)]
    return ReportCounts.from_outputs(services, np.asarray(matrix))


def described(counts: ReportCounts) -> list:
    return [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]


@pytest.fixture
def saved(tmp_path):
    save_counts(counts_of(MATRIX), tmp_path / "counts.npz")
    return tmp_path / "counts.npz"


def refusal(path, tables=TABLES) -> str:
    with pytest.raises(InputError) as caught:
        load_counts(path, tables)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestRoundTrip:
    @settings(max_examples=30)
    @given(st.lists(st.tuples(*(st.integers(-1, size - 1) for size in SIZES)), min_size=1, max_size=12))
    def test_counts_come_back_to_the_last_detail(self, tmp_path_factory, rows):
        """Any participation, nobody at all included."""
        path = tmp_path_factory.mktemp("counts") / "counts.npz"
        counts = counts_of(rows)
        save_counts(counts, path)
        back = load_counts(path, TABLES)
        assert described(back) == described(counts)
        assert [service.name for service in back.services] == ["a", "b", "c"]
        assert all(group.outputs.dtype == np.int32 and group.counts.dtype == np.int64 for group in back.groups)

    def test_shards_counted_elsewhere_add_up(self, tmp_path):
        """The sum of two files is the counts of all users."""
        for name, part in (("one", MATRIX[:3]), ("two", MATRIX[3:])):
            save_counts(counts_of(part), tmp_path / f"{name}.npz")
        total = load_counts(tmp_path / "one.npz", TABLES) + load_counts(tmp_path / "two.npz", TABLES)
        assert described(total) == described(counts_of(MATRIX))

    def test_an_existing_file_is_replaced_and_nothing_else_is_left(self, saved):
        """Written beside it, then renamed."""
        save_counts(counts_of(MATRIX[:1]), saved)
        assert os.listdir(saved.parent) == [saved.name]
        assert load_counts(saved, TABLES).n_users == 1

    @pytest.mark.parametrize("where", ["counts.json", "none/counts.npz", "folder.npz"])
    def test_an_unusable_destination_is_one_line(self, tmp_path, where):
        """Another suffix, no folder, a folder."""
        (tmp_path / "folder.npz").mkdir()
        with pytest.raises(InputError) as caught:
            save_counts(counts_of(MATRIX), tmp_path / where)
        assert "\n" not in str(caught.value)
        assert sorted(os.listdir(tmp_path)) == ["folder.npz"]


class TestTables:
    def test_a_table_is_itself_after_a_file_without_prior_or_history(self, tmp_path, saved):
        """What does not change the law of reports does not change the fingerprint."""
        prior = KnotPrior(np.full(3, 1 / 3), np.zeros(2), "public")
        again = [table.with_prior(prior).with_provenance(Provenance("other")) for table in TABLES]
        save_table(again[2], tmp_path / "table.json", allow_unproved=True)
        again[2] = load_table(tmp_path / "table.json", allow_unproved=True)
        assert load_counts(saved, again).n_users == 6

    @pytest.mark.parametrize(
        "other",
        [grr([0, 1, 2], 2.0), grr([0, 1, 3], 1.0), TABLES[0].affine(2.0, 0.0), replace(TABLES[0], units="km")],
        ids=["budget", "knots", "reports", "units"],
    )
    def test_another_table_is_refused_with_the_service(self, saved, other):
        """Its reports would be read as others."""
        message = refusal(saved, (other, *TABLES[1:]))
        assert "its reports to service 'a' must have been counted with the table given" in message

    def test_another_number_or_order_of_tables_is_refused(self, saved):
        """One for each service, in its place."""
        assert "a table for each of its 3 services, got 2" in refusal(saved, TABLES[:2])
        assert "service 'a'" in refusal(saved, TABLES[::-1])

    def test_the_law_within_outputs_is_part_of_the_table(self):
        """Two tent laws that differ in their slopes only."""
        table = TABLES[2]
        assert table_fingerprint(table) != table_fingerprint(table.affine(-1.0, 2.0))
        assert table_fingerprint(table) == table_fingerprint(ptt2([0, 1, 2], 1.0))


def rewritten(path, **changes) -> str:
    """The message for the same archive with some members changed; None takes one out."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    document = json.loads(arrays["document"].tobytes())
    for name, value in changes.items():
        if name in document:
            document[name] = value
        else:
            arrays[name.replace("_", ".")] = value
    arrays["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return refusal(path)


class TestDamage:
    @pytest.mark.parametrize("content", [b"", b"PK", b"optldp", b"PK\x03\x04" + bytes(100)])
    def test_what_is_no_archive_is_refused(self, tmp_path, content):
        """Empty, cut, another file."""
        (tmp_path / "a.npz").write_bytes(content)
        assert "must be a whole npz archive" in refusal(tmp_path / "a.npz")

    def test_a_cut_or_absent_file_is_refused(self, tmp_path, saved):
        """The end is missing, or all of it."""
        saved.write_bytes(saved.read_bytes()[:-40])
        assert "must be a whole npz archive" in refusal(saved)
        assert "must be a readable file" in refusal(tmp_path / "none.npz")

    def test_pickles_are_never_loaded(self, tmp_path, saved):
        """An object array could run anything."""
        np.savez(saved, document=np.array([{"a": 1}], dtype=object))
        assert "the array 'document' must hold uint8 (|u1) by rows, got |O" in refusal(saved)

    def test_a_table_is_no_counts(self, tmp_path):
        """Both are npz archives with a document."""
        save_table(TABLES[0], tmp_path / "table.npz", allow_unproved=True)
        assert "format must be 'optldp-counts/1', got 'optldp-table/1'" in refusal(tmp_path / "table.npz")

    def test_another_archive_is_no_counts(self, saved):
        """No document, no JSON, no object."""
        np.savez(saved, counts=np.ones(3))
        assert "must have the array 'document', which is missing" in refusal(saved)
        for text, says in ((b"{", "JSON"), (b"[]", "got None")):
            np.savez(saved, document=np.frombuffer(text, dtype=np.uint8))
            assert says in refusal(saved)
        with zipfile.ZipFile(saved, "w") as archive:
            archive.writestr("document", "text")
        assert "must be arrays named *.npy, got 'document'" in refusal(saved)

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"format": "optldp-counts/9"}, "format must be"),
            ({"services": [{"name": "a"}]}, "services must be"),
            ({"services": "abc"}, "services must be"),
            ({"groups": [0, 1]}, "positions of services"),
            ({"groups": [[True]]}, "positions of services"),
            ({"groups": [[0], [0, 1, 2], [0, 2], [1, 3]]}, "must be among 3, got (1, 3)"),
            ({"groups": [[0], [0, 1, 2], [0, 2], []]}, "increasing positions"),
            ({"groups": [[0], [0, 1, 2], [2, 0], [1, 2]]}, "increasing positions"),
            ({"groups": [[0], [0, 1, 2], [1, 2], [0, 2]]}, "different sets of services, in increasing order"),
            ({"groups": [[0], [0, 1, 2], [0, 2], [0, 2]]}, "different sets of services, in increasing order"),
            ({"groups": [[0], [0, 1, 2], [0, 2]]}, "outputs and counts for each of its 3 groups, got 8 arrays"),
            ({"outputs_0": None}, "outputs and counts for each of its 4 groups, got 7 arrays"),
            ({"counts_1": np.ones(1)}, "the array 'counts.1' must hold int64"),
            ({"outputs_0": np.zeros((1, 1))}, "the array 'outputs.0' must hold int32"),
            ({"outputs_0": np.zeros((1, 2), dtype=np.int32)}, "must have the shape (1, 1), got (1, 2)"),
            ({"counts_0": np.ones(2, dtype=np.int64)}, "must have the shape (2, 1), got (1, 1)"),
            ({"counts_0": np.ones(4, dtype=np.int64)}, "must have the shape (up to 3), got (4,)"),
            ({"counts_0": np.array([2**62])}, "at most 2^53 users together, got 4611686018427387904"),
            ({"counts_0": np.array([2**53])}, "at most 2^53 users together, got 90071992547409"),
            ({"outputs_0": np.array([[3]], dtype=np.int32)}, "outputs of service 'a' must lie in 0..2, got 3"),
            ({"outputs_0": np.array([[-1]], dtype=np.int32)}, "different rows from 0 on"),
            ({"counts_0": np.array([0])}, "counts must be at least 1, got 0"),
            (
                {"outputs_0": np.array([[1], [1]], dtype=np.int32), "counts_0": np.array([1, 1])},
                "different rows from 0 on, in lexicographic order",
            ),
        ],
    )
    def test_altered_members_are_refused(self, saved, changes, says):
        """Whatever estimators rely on is checked."""
        assert says in rewritten(saved, **changes)


def test_counts_of_exact_tables_come_back_for_that_table_alone(tmp_path):
    """Their fingerprint is that of the numerators."""
    table, other = (make_exact(grr([0, 1, 2], epsilon)).mechanism for epsilon in (1.0, 1.1))
    save_counts(ReportCounts.from_outputs([Service("a", table)], [[0], [2], [2]]), tmp_path / "c.npz")
    assert described(load_counts(tmp_path / "c.npz", [table])) == [((0,), [[0], [2]], [1, 2])]
    assert "must have been counted with the table given" in refusal(tmp_path / "c.npz", [other])
