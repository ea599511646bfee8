"""The members of a zip archive that may be hostile, unpacked piece by piece and never beyond what was asked for.

Only what `pack_members` writes and numpy wrote before it: stored or deflated members, side by side from the first byte
to the directory, each with one name and one size, and nothing else in the file.  Two readers cannot disagree on such
an archive.
"""

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import BinaryIO

from ..errors import TableError

UNREADABLE_ARCHIVE = (OSError, EOFError, ValueError, KeyError, NotImplementedError, RuntimeError, zipfile.BadZipFile)
"""What `zipfile` raises for a directory that is damaged, or of a kind that it does not know."""

END = struct.Struct("<4s4H2LH")
ENTRY, LONGEST_NAME = 46, 100
LOCAL = struct.Struct("<4s5H3L2H")
WIDE = struct.Struct("<2H2Q")
"""The extra field of 64-bit sizes, which numpy writes into local headers whatever the sizes are."""

LOCATOR, LOCATOR_SIZE = b"PK\x06\x07", 20
"""What stands before the end of an archive of the 64-bit kind."""

UTF8_NAME = 0x800
PIECE = 2**16


class Member:
    """One member, to be read once from its beginning to its end; ValueError wherever it is not what it says."""

    def __init__(self, stream: BinaryIO, start: int, entry: zipfile.ZipInfo) -> None:
        self.size = entry.file_size
        self._stream, self._place, self._packed, self._left = stream, start, entry.compress_size, entry.file_size
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS) if entry.compress_type == zipfile.ZIP_DEFLATED else None
        self._expected, self._checked = entry.CRC, 0

    def read(self, size: int) -> bytearray:
        """Return the next `size` bytes, which must be there."""
        if size > self._left:
            raise ValueError(f"must be whole, got {size - self._left} bytes too few")
        found = bytearray()
        while len(found) < size:
            piece = self._piece(size - len(found))
            if not piece:
                raise ValueError("must unpack to exactly the size that is declared, got less")
            found += piece
        self._left -= size
        self._checked = zlib.crc32(found, self._checked)
        return found

    def finish(self) -> None:
        """Refuse a member of which something is left, or that is not what was packed."""
        if self._left or self._piece(1) or self._packed or (self._inflater and not self._whole(self._inflater)):
            raise ValueError("must unpack to exactly the size that is declared, got another end")
        if self._checked != self._expected:
            raise ValueError("must be whole, got bytes of another CRC: it was damaged")

    @staticmethod
    def _whole(inflater: "zlib._Decompress") -> bool:
        return inflater.eof and not inflater.unused_data

    def _piece(self, most: int) -> bytes:
        if self._inflater is None:
            return self._raw(min(most, PIECE))
        while not self._inflater.eof:
            packed = self._inflater.unconsumed_tail or self._raw(PIECE)
            piece = self._inflater.decompress(packed, most)
            if piece or not packed:
                return piece
        return b""

    def _raw(self, most: int) -> bytes:
        self._stream.seek(self._place)
        found = self._stream.read(min(most, self._packed))
        self._place += len(found)
        self._packed -= len(found)
        return found


def archive_members(stream: BinaryIO, most: int) -> dict[str, Member]:
    """Return the members of an archive by name, after a look at its directory alone.

    Parameters
    ----------
    stream : binary file
        Seekable.
    most : int
        Members.

    Raises
    ------
    TableError
        No archive, or one with anything but plain members side by side.

    Example
    -------
    >>> members = archive_members(io.BytesIO(pack_members([("a", b"text")], deflate=True)), 1)
    >>> bytes(members["a"].read(4))
    b'text'
    """
    directory, count = _directory(stream, most)
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    except UNREADABLE_ARCHIVE as error:
        raise TableError(f"the file must be a whole npz archive: {' '.join(str(error).split())[:200]}") from None
    members, place = {}, 0
    for entry in entries:
        name = f"the member {entry.filename!r:.60}"
        _require_plain(name, entry)
        if entry.filename in members:
            raise TableError(f"{name} must come once, got it again")
        start = _require_local(name, stream, place, entry)
        members[entry.filename] = Member(stream, start, entry)
        place = start + entry.compress_size
    if place != directory or len(entries) != count:
        raise TableError("the file must be a whole npz archive: its members must fill it, side by side")
    return members


def _directory(stream: BinaryIO, most: int) -> tuple[int, int]:
    """Where the directory starts, which must end the file, and how many members it has, no more than that many."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - END.size - LOCATOR_SIZE))
    tail = stream.read()
    wrong = TableError("the file must be a whole npz archive: its directory must end it, of the 32-bit kind")
    if len(tail) < END.size:
        raise wrong
    signature, disk, first, here, count, length, start, comment = END.unpack(tail[-END.size :])
    if signature != b"PK\x05\x06" or disk or first or comment or here != count or tail.startswith(LOCATOR):
        raise wrong
    if count > most or length > count * (ENTRY + LONGEST_NAME):
        raise TableError(f"an archive must have at most {most} members of short names, got {count}")
    if start + length != size - END.size:
        raise wrong
    return start, count


def _require_plain(name: str, entry: zipfile.ZipInfo) -> None:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise TableError(f"{name} must be stored or deflated, got compression {entry.compress_type}: pack it anew")
    if entry.flag_bits & ~UTF8_NAME:
        raise TableError(f"{name} must be plain, got flags {entry.flag_bits:#x}, as of encryption: pack it anew")
    if entry.extra or entry.comment or entry.volume or entry.filename != entry.orig_filename:
        raise TableError(f"{name} must have a plain name, no extra field and no comment: pack it anew")
    if entry.compress_type == zipfile.ZIP_STORED and entry.compress_size != entry.file_size:
        raise TableError(f"{name} must have one size if it is stored, got two")


def _require_local(name: str, stream: BinaryIO, place: int, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of a member start whose own header is at this place and says what the directory says."""
    stream.seek(place)
    header = stream.read(LOCAL.size)
    if entry.header_offset != place or len(header) < LOCAL.size:
        raise TableError(f"{name} must begin where the one before it ends: members must not overlap or leave gaps")
    signature, _, flags, method, _, _, crc, packed, size, n_name, n_extra = LOCAL.unpack(header)
    written, extra = stream.read(n_name), stream.read(n_extra)
    sizes = entry.compress_size, entry.file_size
    narrow = extra == b"" and (packed, size) == sizes
    wide = packed == size == 2**32 - 1 and extra == WIDE.pack(1, 16, *reversed(sizes))
    same = signature == b"PK\x03\x04" and (flags, method, crc) == (entry.flag_bits, entry.compress_type, entry.CRC)
    same_name = written == entry.orig_filename.encode("utf-8" if flags & UTF8_NAME else "cp437")
    if not (same and same_name and (narrow or wide)):
        raise TableError(f"{name} must have one header that says what the directory says, got another")
    return place + LOCAL.size + n_name + n_extra


def pack_members(members: Iterable[tuple[str, bytes]], *, deflate: bool) -> bytes:
    """Return the archive of these members, the same for the same members.

    Example
    -------
    >>> len(pack_members([("a", b"text")], deflate=False))
    104
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            kind = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return buffer.getvalue()
