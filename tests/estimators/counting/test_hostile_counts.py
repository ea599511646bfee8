"""Files of counts that were made to take all memory, to overflow or to be read in two ways are refused in one line."""

import bz2
import json
from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, load_counts, save_counts
from optldp.estimators.counting.counts_file import MOST_GROUPS, table_fingerprint
from optldp.estimators.counting.group import ReportGroup
from optldp.mechanisms import InputError, TabulatedMechanism, make_exact, piecewise, save_table

from ...mechanisms.hostile_archives import (
    BZIP2,
    MOST_MEMORY,
    Entry,
    archive,
    deflated,
    header,
    npy,
    outcome,
    repeated,
    stored,
)

TABLE = make_exact(piecewise(np.linspace(0.0, 1.0, 5), 1.0)).mechanism
SIZE = TABLE.low.size
OTHER = replace(TABLE, epsilon=1.5)

MEGABYTE = bytes(2**20)


def document(**changes) -> bytes:
    services = [{"name": name, "table": table_fingerprint(TABLE)} for name in "ab"]
    return json.dumps({"format": "optldp-counts/1", "services": services, "groups": [[0], [0, 1]]} | changes).encode()


def counts_file(text: bytes | None = None, **changed: Entry) -> bytes:
    """Good counts, but for some members, whose points are written as underscores."""
    rows = np.array([[0, 1], [2, 0]], dtype=np.int32)
    members = {
        "document": deflated("document.npy", npy(np.frombuffer(text or document(), dtype=np.uint8))),
        "outputs_0": deflated("outputs.0.npy", npy(rows[:, :1])),
        "counts_0": deflated("counts.0.npy", npy(np.array([3, 4]))),
        "outputs_1": deflated("outputs.1.npy", npy(rows)),
        "counts_1": deflated("counts.1.npy", npy(np.array([5, 6]))),
    }
    return archive([*(members | changed).values()])


def counted(number: int, values, **changes) -> Entry:
    return deflated(f"counts.{number}.npy", npy(np.array(values), **changes))


def zeros(name: str, descr: str, shape: tuple[int, ...]) -> Entry:
    size = int(np.prod(shape)) * np.dtype(descr).itemsize
    return repeated(f"{name}.npy", header(descr, shape), MEGABYTE, size // 2**20, bytes(size % 2**20))


def ones(number: int, many: int) -> Entry:
    unit = np.ones(1000, dtype=np.int64).tobytes()
    return repeated(f"counts.{number}.npy", header("<i8", (many,)), unit, many // 1000)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "table.npz"
    save_table(TABLE, path)
    return path


def test_the_counts_of_these_tests_are_read_where_nothing_is_wrong(tmp_path):
    (tmp_path / "c.npz").write_bytes(counts_file())
    assert load_counts(tmp_path / "c.npz", [TABLE, TABLE]).n_users == 18


BOMBS = {
    "bzip2": (
        lambda: counts_file(counts_0=Entry("counts.0.npy", bz2.compress(MEGABYTE * 8) * 40, 320 << 20, 0, BZIP2)),
        "must be stored or deflated, got compression 12",
    ),
    "zeros of 512 MB": (
        lambda: counts_file(counts_1=zeros("counts.1", "<i8", (64_000_000,))),
        "must take at most 33554432 bytes",
    ),
    "outputs of 512 MB": (
        lambda: counts_file(outputs_1=zeros("outputs.1", "<i4", (64_000_000, 2))),
        "must take at most 33554432 bytes",
    ),
    "ones beyond what there are outputs": (
        lambda: counts_file(counts_1=ones(1, 4_000_000)),
        rf"'counts.1' must have the shape \(up to {SIZE**2}\)",
    ),
    "zeros": (
        lambda: counts_file(counts_1=zeros("counts.1", "<i8", (SIZE**2,))),
        "counts must be at least 1, got 0",
    ),
    "a document of 30 MB": (
        lambda: counts_file(document=zeros("document", "|u1", (30_000_000,))),
        r"'document' must have the shape \(up to 4194304\)",
    ),
    "a document of lists": (
        lambda: counts_file(b'{"format": "optldp-counts/1", "services": [], "groups": [' + b"[]," * 10**6 + b"[]]}"),
        "once parsed",
    ),
    "ten thousand members": (
        lambda: archive([stored(f"counts.{i}.npy", npy(np.zeros(1))) for i in range(10_000)]),
        f"must have at most {1 + 2 * MOST_GROUPS} members",
    ),
    "eight thousand members that are not declared": (
        lambda: archive([
            deflated("document.npy", npy(np.frombuffer(document(), dtype=np.uint8))),
            *(stored(f"counts.{i}.npy", npy(np.ones(1, dtype=np.int64))) for i in range(8000)),
        ]),
        "for each of its 2 groups, got 8000 arrays",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_what_is_made_to_take_memory_is_refused_without_it(tmp_path, tables, name):
    """In a process that does nothing else."""
    make, message = BOMBS[name]
    path = tmp_path / "c.npz"
    path.write_bytes(make())
    call = f"load_counts(sys.argv[1], [load_table({str(tables)!r})] * 2)"
    names = "load_counts; from optldp.mechanisms import load_table"
    line, peak = outcome(path, module="estimators", names=names, call=call)
    assert line.startswith("refused: counts ")
    with pytest.raises(InputError, match=message):
        raise InputError(line)
    assert peak < MOST_MEMORY


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (counts_file(counts_0=counted(0, [2**62, 1])), r"at most 2\^53 users together, got 4611686018427387905"),
        (counts_file(counts_0=counted(0, [2**62, 2**62])), r"at most 2\^53 users together, got 9223372036854775808"),
        (counts_file(counts_0=counted(0, [2**63 - 1] * 2)), r"at most 2\^53 users together"),
        (counts_file(counts_0=counted(0, [2**52, 2**52])), r"at most 2\^53 users together"),  # with the other group
        (counts_file(counts_0=counted(0, [-1, 2])), "at least 1, got -1"),
        (counts_file(counts_0=counted(0, [1.0, 2.0])), "'counts.0' must hold int64"),
        (counts_file(counts_0=counted(0, [1, 2], descr=">i8")), "'counts.0' must hold int64"),
        (counts_file(counts_0=counted(0, [1, 2], descr="<u8")), "'counts.0' must hold int64"),
        (counts_file(counts_0=counted(0, [[1, 2]])), "'counts.0' must have the shape"),
        (counts_file(counts_0=counted(0, [])), "'counts.0' must hold int64"),
        (counts_file(counts_0=counted(0, np.zeros(0, dtype=int))), r"'outputs.0' must have the shape \(0, 1\)"),
        (counts_file(counts_0=replace(counted(0, [3, 4]), crc=1)), "another CRC"),
        (counts_file(counts_0=replace(counted(0, [3, 4]), name="counts.7.npy")), "array 'counts.0', which is missing"),
        (counts_file(counts_0=replace(counted(0, [3, 4]), start=0)), "must not overlap or leave gaps"),
        (counts_file(outputs_0=deflated("outputs.0.npy", npy(np.array([[0], [SIZE]], dtype=np.int32)))), "must lie in"),
        (counts_file(outputs_0=deflated("outputs.0.npy", npy(np.array([[-1], [0]], dtype=np.int32)))), "from 0 on"),
        (counts_file(outputs_0=deflated("outputs.0.npy", npy(np.array([[1], [0]], dtype=np.int32)))), "lexicographic"),
        (counts_file(document(groups=[[0], [0, 2]])), r"must be among 2, got \(0, 2\)"),
        (counts_file(document(groups=[[0], [1, 0]])), "increasing positions"),
        (counts_file(document(groups=[[0], [-1]])), "increasing positions"),
        (counts_file(document(groups=[[0], [10**30]])), "must be among 2"),
        (counts_file(document(groups=[[0], []])), "increasing positions"),
        (counts_file(document(groups=[[0, 1], [0]])), "in increasing order"),
        (counts_file(document(groups=[[0]] * (MOST_GROUPS + 1))), "at most 4096 sets of services, got 4097"),
        (counts_file(document(more=1)), "only, got 'more'"),
        (counts_file(document(services=[{"name": "a", "table": "b", "more": 1}] * 2)), "services must be"),
        (counts_file(document(services=[{"name": "\ud800", "table": ""}] * 2)), "surrogates not allowed"),
        (counts_file(document(format=["optldp-counts/1"])), "format must be"),
        (counts_file(document(services=[{"name": "x" * 9000, "table": ""}] * 2)), "must have been counted"),
        (counts_file(b"\xff"), "can't decode"),
    ],
)  # fmt: skip
def test_counts_that_are_none_are_refused_in_one_line(tmp_path, content, message):
    """Too many, too few, of another type or shape, in another order, of others than are declared."""
    (tmp_path / "c.npz").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_counts(tmp_path / "c.npz", [TABLE, TABLE])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.nightly
def test_more_sets_of_services_than_are_read_are_not_written(tmp_path):
    """Nor is anything else."""
    services = tuple(Service(str(j), TABLE) for j in range(13))
    places = [tuple(j for j in range(13) if number >> j & 1) for number in range(1, MOST_GROUPS + 2)]
    groups = [ReportGroup(of, np.zeros((1, len(of)), dtype=np.int32), np.array([1])) for of in sorted(places)]
    with pytest.raises(InputError, match="at most 4096 sets of services, got 4097: count fewer services together"):
        save_counts(ReportCounts(services, tuple(groups)), tmp_path / "c.npz")
    assert list(tmp_path.iterdir()) == []
    save_counts(ReportCounts(services, tuple(groups[1:])), tmp_path / "c.npz")
    assert load_counts(tmp_path / "c.npz", [TABLE] * 13).n_users == MOST_GROUPS


@pytest.mark.nightly
def test_large_counts_that_deflate_well_come_back(tmp_path):
    """Two services of 1500 outputs each, and users with two million different pairs of outputs."""
    size = 1500
    ends = np.arange(float(size))
    table = TabulatedMechanism(np.array([0.0, 1.0]), ends, ends, np.full((2, size), 1 / size), 1.0)
    pairs = np.stack(np.divmod(np.arange(size * size, dtype=np.int32), size), axis=1)
    group = ReportGroup((0, 1), pairs, np.ones(len(pairs), dtype=np.int64))
    save_counts(ReportCounts((Service("a", table), Service("b", table)), (group,)), tmp_path / "c.npz")
    (again,) = load_counts(tmp_path / "c.npz", [table, table]).groups
    np.testing.assert_array_equal(again.outputs, pairs)
    assert again.n_users == len(pairs)
