"""Archives made to take all memory, or to be read in two ways, are refused in one line and with little memory."""

import bz2
import lzma
from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import TableError, load_mechanism, load_table

from ..hostile_archives import (
    BZIP2,
    DEFLATED,
    LZMA,
    MOST_MEMORY,
    STORED,
    D,
    Entry,
    archive,
    arrays,
    deflate,
    deflated,
    header,
    members,
    npy,
    outcome,
    repeated,
    stored,
    text,
)

MEGABYTE = bytes(2**20)

ROW = np.array([D] + [0] * 3999).tobytes()


def table(**changed) -> bytes:
    """A good table's archive, but for some members."""
    return archive([*(members(arrays()) | changed).values()])


def large(**changed) -> bytes:
    """The archive of a table of 1000 knots and 4000 outputs, but for some members."""
    found = arrays(1000, 4000)
    matrix = repeated("numerators.npy", header("<i8", (1000, 4000)), ROW * 10, 100)
    return archive([*(members(found) | {"numerators": matrix} | changed).values()])


def zeros(name: str, descr: str = "<f8", shape: tuple[int, ...] = (8000, 8000)) -> Entry:
    """Honestly declared, 512 MB in half a megabyte."""
    size = int(np.prod(shape)) * np.dtype(descr).itemsize
    times, rest = divmod(size, len(MEGABYTE))
    return repeated(f"{name}.npy", header(descr, shape), MEGABYTE, times, bytes(rest))


@pytest.mark.nightly
def test_the_archives_of_these_tests_are_read_where_nothing_is_wrong(tmp_path):
    """Or all of them would be refused for one and the same mistake."""
    (tmp_path / "t.npz").write_bytes(table())
    assert load_table(tmp_path / "t.npz").exact
    stored_ones = [replace(stored(f"{n}.npy", npy(a))) for n, a in arrays().items()]
    (tmp_path / "s.npz").write_bytes(archive([members(arrays())["document"], *stored_ones]))
    assert load_table(tmp_path / "s.npz").low.tolist() == [0.0, 1.0]
    read = repeated(
        "numerators.npy", header("<i8", (1000, 4000)), npy(arrays(1000, 4000)["numerators"])[-32_000:], 1000
    )
    (tmp_path / "l.npz").write_bytes(large(numerators=read))
    line, peak = outcome(tmp_path / "l.npz")
    assert line == "TabulatedMechanism('test', epsilon=1, knots=1000, outputs=4000)"
    assert peak < MOST_MEMORY


BOMBS = {
    "bzip2": (
        lambda: table(
            numerators=Entry("numerators.npy", bz2.compress(MEGABYTE * 8) * 40, 320 << 20, 0, BZIP2),
        ),
        "must be stored or deflated, got compression 12",
    ),
    "bzip2 that is said to be small": (
        lambda: table(knots=Entry("knots.npy", bz2.compress(MEGABYTE * 8) * 40, 144, 0, BZIP2)),
        "must be stored or deflated, got compression 12",
    ),
    "lzma": (
        lambda: table(low=Entry("low.npy", lzma.compress(MEGABYTE * 8), 8 << 20, 0, LZMA)),
        "must be stored or deflated, got compression 14",
    ),
    "bzip2 in the directory, deflate before the member": (
        lambda: table(low=Entry("low.npy", bz2.compress(MEGABYTE), 1 << 20, 0, BZIP2, local_method=DEFLATED)),
        "must be stored or deflated",
    ),
    **{
        f"zeros in {name}": (lambda name=name: table(**{name: zeros(name)}), "must take at most 33554432")
        for name in ("knots", "low", "high", "within.rate", "within.tilt", "prior.weights", "prior.rounding")
    },
    "zeros in numerators": (lambda: table(numerators=zeros("numerators", "<i8")), "must take at most 33554432"),
    "a document of 200 MB": (
        lambda: table(document=zeros("document", "|u1", (200_000_000,))),
        "must take at most 33554432",
    ),
    "a document of 30 MB": (
        lambda: table(document=zeros("document", "|u1", (30_000_000,))),
        r"'document' must have the shape \(up to 4194304\)",
    ),
    "a document of 4 MB of empty lists": (
        lambda: table(document=repeated("document.npy", header("|u1", (4_000_000,)), b"[],[" * 250_000, 4)),
        "JSON text must be at most 167772160 bytes once parsed",
    ),
    "30 MB of zeros for two knots": (
        lambda: table(knots=zeros("knots", "<f8", (3_900_000,))),
        r"'knots' must have the shape \(up to 32768\)",
    ),
    "32768 knots of zero": (
        lambda: table(knots=zeros("knots", "<f8", (32768,))),
        "knots must be strictly increasing, got 0.0 then 0.0 in row 2",
    ),
    "32768 outputs at zero": (
        lambda: table(low=zeros("low", "<f8", (32768,)), high=zeros("high", "<f8", (32768,))),
        "without repeats, got .* at output 1",
    ),
    "a matrix of zeros of the right shape": (
        lambda: large(numerators=zeros("numerators", "<i8", (1000, 4000))),
        r"row 0 must sum to 2\^53 exactly, got 9007199254740992 less",
    ),
    "a matrix whose last row is wrong": (
        lambda: large(
            numerators=repeated("numerators.npy", header("<i8", (1000, 4000)), ROW, 999, ROW[:-8] + b"\1" + bytes(7)),
        ),
        r"row 999 must sum to 2\^53 exactly, got 1 more",
    ),
    "a matrix whose last row is not private": (
        lambda: large(
            numerators=repeated("numerators.npy", header("<i8", (1000, 4000)), ROW, 999, ROW[8:] + ROW[:8]),
        ),
        "checksum must be",
    ),
    "valid rows beyond what the file is worth": (
        lambda: archive(
            [
                *(
                    members(arrays(8000, 4000))
                    | {"numerators": repeated("numerators.npy", header("<i8", (8000, 4000)), ROW * 10, 800)}
                ).values()
            ]
        ),
        "must take at most 33554432 bytes, got 256",
    ),
    "valid rows for another number of knots": (
        lambda: table(numerators=repeated("numerators.npy", header("<i8", (1000, 4000)), ROW * 10, 100)),
        r"'numerators' must have the shape \(2, 2\), got \(1000, 4000\)",
    ),
    "ten thousand members": (
        lambda: archive([stored(f"a{i}.npy", npy(np.zeros(1))) for i in range(10_000)]),
        "must have at most 8 members of short names, got 10000",
    ),
    "ten thousand members, said to be eight": (
        lambda: archive([stored(f"a{i}.npy", b"") for i in range(10_000)], end={"here": 8, "count": 8}),
        "at most 8 members of short names",
    ),
    "a directory of 30 MB in one name": (
        lambda: archive([stored("a" * 60_000, b"", comment=b"b" * 60_000) for _ in range(8)]),
        "at most 8 members of short names",
    ),
    "a stored matrix of zeros": (
        lambda: table(numerators=stored("numerators.npy", header("<i8", (5000, 8000)) + bytes(320_000_000))),
        r"'numerators' must have the shape \(2, 2\)",
    ),
    "a header of another size than its array": (
        lambda: table(knots=deflated("knots.npy", header("<f8", (30_000,)) + bytes(16))),
        r"'knots' must take 240000 bytes for its shape \(30000,\)",
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", BOMBS)
def test_what_is_made_to_take_memory_is_refused_without_it(tmp_path, name):
    """In a process that does nothing else."""
    make, message = BOMBS[name]
    (tmp_path / "t.npz").write_bytes(make())
    line, peak = outcome(tmp_path / "t.npz")
    assert line.startswith("refused: ")
    with pytest.raises(TableError, match=message):
        raise TableError(line)
    assert peak < MOST_MEMORY


GOOD = members(arrays())
KNOTS, LOW = GOOD["knots"], GOOD["low"]
PLAIN = npy(arrays()["knots"])


def placed(*others: Entry) -> bytes:
    """The good members and some more."""
    return archive([*GOOD.values(), *others])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (table(knots=replace(KNOTS, flags=1)), "must be plain, got flags 0x1"),
        (table(knots=replace(KNOTS, flags=8)), "must be plain, got flags 0x8"),
        (table(knots=replace(KNOTS, extra=b"\1\0\0\0")), "no extra field"),
        (table(knots=replace(KNOTS, comment=b"a")), "no comment"),
        (table(knots=replace(KNOTS, size=2**32 - 1, extra=b"\1\0\x08\0" + bytes(8))), "no extra field"),
        (table(knots=replace(KNOTS, size=KNOTS.size + 8)), "'knots' must take 16 bytes"),
        (table(knots=replace(KNOTS, size=KNOTS.size - 8)), "'knots' must take 16 bytes"),
        (table(knots=replace(KNOTS, size=4)), "'knots' must be whole, got 4 bytes too few"),
        (table(knots=replace(KNOTS, crc=KNOTS.crc ^ 1)), "'knots' must be whole, got bytes of another CRC"),
        (table(knots=replace(KNOTS, packed=deflate(PLAIN + b"more"))), "declared, got another end"),
        (table(knots=replace(KNOTS, packed=deflate(PLAIN[:-1]))), "declared, got less"),
        (table(knots=replace(KNOTS, packed=KNOTS.packed + b"more")), "declared, got another end"),
        (table(knots=replace(KNOTS, packed=KNOTS.packed[:-1])), "declared, got another end"),
        (table(knots=replace(KNOTS, packed=b"\xff" * 30)), "'knots' must be whole: Error -3"),
        (table(knots=replace(KNOTS, method=STORED)), "must have one size if it is stored"),
        (table(knots=replace(KNOTS, local_name="lowly.npy")), "one header that says what the directory says"),
        (table(knots=replace(KNOTS, local_method=STORED)), "one header that says what the directory says"),
        (table(knots=replace(KNOTS, before=b"gap")), "must not overlap or leave gaps"),
        (table(high=replace(LOW, name="high.npy", start=0)), "must not overlap or leave gaps"),
        (placed(KNOTS), "'knots.npy' must come once, got it again"),
        (placed(stored("extra.npy", npy(np.zeros(1)))), "'extra' has no place"),
        (
            placed(stored("extra.npy", npy(np.zeros(1))), *[stored(f"{i}.npy", b"") for i in range(3)]),
            "at most 8 members",
        ),
        (placed(stored("knots", b"")), r"arrays named \*.npy, got 'knots'"),
        (placed(stored("knots.npy\0.npy", b"")), "a plain name|come once"),
        (archive([*GOOD.values()], after=b"more"), "its directory must end it"),
        (archive([*GOOD.values()], end={"comment": 4}, after=b"more"), "its directory must end it"),
        (archive([*GOOD.values()], before_end=b"PK\6\7" + bytes(16)), "its directory must end it"),
        (archive([*GOOD.values()], end={"count": 2, "here": 2}), "its members must fill it"),
        (archive([*GOOD.values()], end={"disk": 1}), "its directory must end it"),
        (archive([*GOOD.values()], end={"start": 2**32 - 1, "length": 0}), "its directory must end it"),
        (b"PK" + archive([*GOOD.values()]), "its directory must end it"),
        (archive([*GOOD.values()], before_end=b" " * 50), "its directory must end it"),
    ],
)
def test_an_archive_that_two_readers_could_read_in_two_ways_is_refused(tmp_path, content, message):
    """Encrypted, patched, of 64-bit sizes, overlapping, with gaps, with sizes or checks that are not so."""
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        load_table(tmp_path / "t.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (10**12,)}, "a shape"),
        ({"shape": (10**11,)}, r"have the shape \(up to 32768\)"),
        ({"shape": (2**62, 2**62)}, "a shape"),
        ({"shape": (-1,)}, "a shape"),
        ({"shape": ()}, r"have the shape \(up to 32768\), got \(\)"),
        ({"shape": "(2,), 'more': 1"}, "a shape"),
        ({"shape": "(__import__('os').getpid(),)"}, "a shape"),
        ({"shape": "(" * 60 + "2" + ")" * 60}, "a shape"),
        ({"shape": (2, 1)}, r"got \(2, 1\)"),
        ({"fortran_order": True}, "hold float64 .* by rows, got <f8 by columns"),
        ({"descr": ">f8"}, "hold float64 .* got >f8"),
        ({"descr": "<i8"}, "hold float64 .* got <i8"),
        ({"descr": "<c16"}, "hold float64 .* got <c16"),
        ({"descr": "|O"}, r"hold float64 .* got \|O"),
        ({"descr": "<U9999999"}, "hold float64 .* got <U9999999"),
        ({"descr": [("a", "<f8")]}, "a type of plain numbers"),
        ({"descr": "<f8\\n"}, "a type of plain numbers"),
        ({"version": b"\2\0"}, r"npy version 1\.0"),
        ({"version": b"\3\0"}, r"npy version 1\.0"),
    ],
)
@pytest.mark.parametrize("name", ["knots", "low"])
def test_a_header_of_anything_but_plain_numbers_by_rows_is_refused(tmp_path, name, changes, message):
    """And none is evaluated."""
    path = tmp_path / "t.npz"
    path.write_bytes(table(**{name: deflated(f"{name}.npy", npy(arrays()[name], **changes))}))
    with pytest.raises(TableError, match=f"the array '{name}' must .*{message}") as caught:
        load_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *((name, np.nan) for name in ("low", "high")),  # infinite ends are allowed
        *(
            (name, wrong)
            for name in ("knots", "probabilities", "within.rate", "prior.weights", "prior.rounding")
            for wrong in (np.nan, np.inf, -np.inf)
        ),
    ],
)
@pytest.mark.parametrize("place", [0, -1])
def test_no_array_may_hold_what_is_not_finite(tmp_path, name, wrong, place):
    """A NaN among the ends must not become an infinite one, nor a rate be taken for one."""
    found = {
        "knots": np.array([0.0, 1.0]),
        "low": np.array([0.0, 1.0]),
        "high": np.array([1.0, 2.0]),
        "probabilities": np.full((2, 2), 0.5),
        "within.rate": np.full((2, 2), -1.0),
        "prior.weights": np.array([0.5, 0.5]),
        "prior.rounding": np.array([0.1]),
    }
    found[name].flat[place] = wrong
    document = {
        "format": "optldp-table/1",
        "epsilon": 1.0,
        "within": {"kind": "exponential"},
        "prior": {"source": "public"},
    }
    good = members(found, **document)
    plain = text(found, **document).replace(b'"denominator": 9007199254740992, ', b"")
    good["document"] = stored("document.npy", npy(np.frombuffer(plain, dtype=np.uint8)))
    (tmp_path / "t.npz").write_bytes(archive([*good.values()]))
    with pytest.raises(
        TableError, match=r"must be (finite|numbers)|low <= high|strictly increasing|needs finite"
    ) as caught:
        load_mechanism(tmp_path / "t.npz")
    assert "checksum" not in str(caught.value)
