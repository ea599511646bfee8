"""Archives that lie, byte by byte, and a fresh process that tells how much memory reading one takes."""

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from optldp.mechanisms.files.checksum import checksum

D = 2**53

MOST_MEMORY = 300e6
"""Bytes that a process may take to refuse a file, with Python, numpy and optldp in it."""

STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14

READ = """
import resource, sys
from optldp.{module} import {names}
from optldp.mechanisms import OptldpError
try:
    print(repr({call}))
except OptldpError as error:
    print("refused:", error)
try:
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
except OSError:  # where there is no such file a fresh process starts from nothing
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
"""The peak of a process that was forked includes that of its parent until it is replaced, in ru_maxrss but not here."""


@dataclass(frozen=True)
class Entry:
    """A member as it is written, true or not."""

    name: str
    packed: bytes
    size: int
    crc: int
    method: int = DEFLATED
    flags: int = 0
    extra: bytes = b""
    comment: bytes = b""
    local_name: str | None = None
    local_method: int | None = None
    start: int | None = None
    before: bytes = b""


def stored(name: str, content: bytes, **changes) -> Entry:
    return Entry(name, content, len(content), zlib.crc32(content), **{"method": STORED, **changes})


def deflated(name: str, content: bytes, **changes) -> Entry:
    return Entry(name, deflate(content), len(content), zlib.crc32(content), **changes)


def deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def repeated(name: str, start: bytes, unit: bytes, times: int, end: bytes = b"", **changes) -> Entry:
    """A member of `start`, some megabytes over and over and `end`, packed without unpacking it first."""
    packed, crc, size = _repeated(start, unit, times, end)
    return Entry(name, packed, size, crc, **changes)


@cache
def _repeated(start: bytes, unit: bytes, times: int, end: bytes) -> tuple[bytes, int, int]:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    middle = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(end) + packer.flush()
    crc = zlib.crc32(start)
    for _ in range(times):
        crc = zlib.crc32(unit, crc)
    return first + middle * times + last, zlib.crc32(end, crc), len(start) + len(unit) * times + len(end)


def archive(entries: Sequence[Entry], *, end: dict | None = None, after: bytes = b"", before_end: bytes = b"") -> bytes:
    """The zip of these members; `end` changes fields of its last record."""
    body, directory = bytearray(), bytearray()
    for entry in entries:
        start = len(body) if entry.start is None else entry.start
        name, method = entry.name.encode(), entry.method
        if entry.start is None:
            body += entry.before
            start = len(body)
            local = (entry.local_name or entry.name).encode()
            kind = method if entry.local_method is None else entry.local_method
            sizes = entry.crc, len(entry.packed), entry.size
            body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, entry.flags, kind, 0, 33, *sizes, len(local), 0)
            body += local + entry.packed
        sizes = entry.crc, len(entry.packed), entry.size
        lengths = len(name), len(entry.extra), len(entry.comment)
        directory += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, entry.flags, method, 0, 33, *sizes, *lengths, 0, 0, 0, start
        )
        directory += name + entry.extra + entry.comment
    fields = {"disk": 0, "first": 0, "here": len(entries), "count": len(entries), "length": len(directory)}
    fields |= {"start": len(body), "comment": 0} | (end or {})
    return bytes(body + directory + before_end + struct.pack("<4s4H2LH", b"PK\5\6", *fields.values()) + after)


def npy(array: np.ndarray, **changes) -> bytes:
    """An npy file, with another type or shape in its header where asked for."""
    return header(**{"descr": array.dtype.str, "shape": array.shape, **changes}) + array.tobytes()


def header(descr="<f8", shape: object = (0,), fortran_order=False, version=b"\1\0") -> bytes:
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    length = 2 if version == b"\1\0" else 4
    padded = text.encode() + b" " * (-(len(text) + 9 + length) % 64) + b"\n"
    return b"\x93NUMPY" + version + len(padded).to_bytes(length, "little") + padded


def arrays(rows: int = 2, outputs: int = 2) -> dict[str, np.ndarray]:
    """A good exact table of points, all rows alike."""
    numerators = np.full((rows, outputs), D // outputs)
    numerators[:, 0] += D - numerators[0].sum()
    ends = np.arange(float(outputs))
    return {"knots": np.arange(float(rows)), "low": ends, "high": ends, "numerators": numerators}


def text(found: dict[str, np.ndarray], **changes) -> bytes:
    """The document beside these arrays, with its checksum wherever there can be one."""
    plain = {
        "format": "optldp-table/2",
        "units": "",
        "epsilon": 1.0,
        "denominator": D,
        "within": {"kind": "uniform"},
        "provenance": {"method": "test", "parameters": {}, "version": "0", "certificate": None},
        "prior": None,
    } | changes
    whole = plain | {key: array for key, array in found.items() if "." not in key}
    try:
        return json.dumps(plain | {"checksum": checksum(whole)}).encode()
    except ValueError:  # not a finite number
        return json.dumps(plain | {"checksum": ""}).encode()


def members(found: dict[str, np.ndarray], **changes) -> dict[str, Entry]:
    """The members of a table's archive by the name of their array; `changes` are for the document."""
    document = np.frombuffer(text(found, **changes), dtype=np.uint8)
    return {name: deflated(f"{name}.npy", npy(array)) for name, array in ({"document": document} | found).items()}


def outcome(path: Path, *, module="mechanisms", names="load_mechanism", call="load_mechanism(sys.argv[1])"):
    """What a fresh process says to a file, and how many bytes it took at most."""
    code = READ.format(module=module, names=names, call=call)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, peak = done.stdout.splitlines()
    assert len(lines) == 1, f"one line, got {lines[:3]}"
    assert done.stderr == ""
    return lines[0], int(peak) * 1024
