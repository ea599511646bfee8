"""Whether a file of Zstandard is all there: duckdb takes one that was cut off for one that ends there."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

FRAME = b"\x28\xb5\x2f\xfd"
RLE = 1
"""The type of a block that is one byte, said once."""


def require_whole(file: Path) -> None:
    """Raise EOFError for a file whose last frame does not end, ValueError for one that is no Zstandard.

    Source: RFC 8878, sections 3.1.1 and 3.1.2: headers of frames and of blocks, and the lengths that they state.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cut.zst"
    >>> _ = path.write_bytes(FRAME + bytes.fromhex("0048 5100 00 613b"))
    >>> require_whole(path)
    Traceback (most recent call last):
    EOFError: the file was cut off
    """
    with file.open("rb") as stream:
        while magic := stream.read(4):
            if magic == FRAME:
                _skip_frame(stream)
            elif magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:
                _skip(stream, int.from_bytes(_exactly(stream, 4), "little"))
            else:
                raise ValueError("no Zstandard")


def _skip_frame(stream: BinaryIO) -> None:
    descriptor = _exactly(stream, 1)[0]
    single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    _exactly(stream, (1 - single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6])
    last = 0
    while not last:
        header = int.from_bytes(_exactly(stream, 3), "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        _skip(stream, 1 if kind == RLE else size)
    _exactly(stream, 4 * checksum)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    if len(read := stream.read(size)) != size:
        raise EOFError("the file was cut off")
    return read


def _skip(stream: BinaryIO, size: int) -> None:
    if size:
        stream.seek(size - 1, 1)
        _exactly(stream, 1)
