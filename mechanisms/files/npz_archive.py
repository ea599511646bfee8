"""Arrays in an npz archive, and out of one that may be hostile: the reader says what must come, and checks as it comes.

Nothing is reserved for an array before its type and shape are those that are wanted; it is then unpacked a block of
rows at a time, and a block that is wrong ends the reading.  What all arrays take together is bounded by a plain
number or, beyond it, by the size of the file: deflate can hide a thousand bytes in one.
"""

import io
import math
import os
import re
import zlib
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from ..errors import InputError, OptldpError, TableError
from .zip_members import Member, archive_members, pack_members

SUFFIX = ".npy"

ALWAYS_ALLOWED = 2**25
"""Bytes that an archive may unpack to however small it is: 1001 knots and 4002 outputs take 32,048,000."""

LARGEST_RATIO = 4
"""Beyond that, how many times its own size an archive may unpack to; what deflates better is stored as it is."""

MAX_UNPACKED = 2**29
"""Bytes that any archive may unpack to."""

BLOCK = 2**20
"""Bytes that are unpacked, and checked, at a time."""

HEADER = re.compile(
    rb"\{'descr': ?'([<>|=]?[A-Za-z][0-9]*)', ?'fortran_order': ?(True|False), ?"
    rb"'shape': ?\(((?:[0-9]{1,12}(?:, ?[0-9]{1,12})*,?)?)\),? ?\} *\n?"
)
"""A header of plain numbers; numpy's own reader would evaluate it as Python."""

Check = Callable[[np.ndarray, int], object]
"""Raises TableError for a block of rows, of which the first has this number."""


class NpzArchive:
    """An archive that is open for reading; each array can be read once.

    Parameters
    ----------
    stream : binary file
        Seekable; it must stay open.
    most : int
        Arrays.

    Raises
    ------
    TableError
        No whole archive of plain arrays, or too large a one for its size.

    Example
    -------
    >>> archive = NpzArchive(io.BytesIO(pack_arrays({"a": np.arange(3.0)})), 1)
    >>> archive.array("a", np.float64, (None,))
    array([0., 1., 2.])
    """

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._members = {_array_name(name): member for name, member in archive_members(stream, most).items()}
        size = stream.seek(0, os.SEEK_END)
        limit, total = largest_unpacked(size), sum(member.size for member in self._members.values())
        if total > limit:
            raise TableError(
                f"the arrays of an archive of {size} bytes must take at most {limit} bytes, got {total}: "
                "store large ones without compression"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(self._members)

    def array(
        self,
        name: str,
        kind: type[np.generic],
        shape: tuple[int | None, ...],
        check: Check = lambda block, first: None,
        *,
        most: int = MAX_UNPACKED,
    ) -> np.ndarray:
        """Return the array of that name, of just this type and shape.

        Parameters
        ----------
        name : str
        kind : numpy type
        shape : tuple of int or None
            None where any number up to `most` will do.
        check : callable
            Called with each block of rows as it comes.
        most : int

        Raises
        ------
        TableError
            It is missing, or of another type or shape, or damaged; whatever `check` raises.
        """
        if name not in self._members:
            raise TableError(f"the archive must have the array {name!r:.60}, which is missing")
        try:
            return _array(self._members[name], np.dtype(kind), shape, check, most)
        except OptldpError:
            raise
        except ValueError as error:
            raise TableError(f"the array {name!r:.60} {error}") from None
        except (OSError, zlib.error) as error:
            raise TableError(f"the array {name!r:.60} must be whole: {error}") from None


def _array(member: Member, kind: np.dtype, wanted: tuple[int | None, ...], check: Check, most: int) -> np.ndarray:
    shape = _shape(member, kind, wanted, most)
    array = np.empty(shape, dtype=kind)
    row = math.prod(shape[1:]) * kind.itemsize
    rows = max(1, BLOCK // max(row, 1))
    for first in range(0, shape[0], rows):
        block = array[first : first + rows]
        block[...] = np.frombuffer(member.read(len(block) * row), dtype=kind).reshape(block.shape)
        check(block, first)
    member.finish()
    return array


def _shape(member: Member, kind: np.dtype, wanted: tuple[int | None, ...], most: int) -> tuple[int, ...]:
    """The shape in a member's header, which must be of that type, fit what is wanted and fill the member."""
    magic = bytes(member.read(8))
    if magic != b"\x93NUMPY\x01\x00":
        raise ValueError(f"must be of npy version 1.0, got {magic!r}")
    length = int.from_bytes(member.read(2), "little")
    header = HEADER.fullmatch(bytes(member.read(length)))
    if header is None:
        raise ValueError("must have a header of a type of plain numbers and a shape")
    described, by_columns, sizes = (part.decode() for part in header.groups())
    shape = tuple(int(size) for size in sizes.split(",") if size.strip())
    if described != kind.str or by_columns == "True":
        order = "by columns" if by_columns == "True" else "by rows"
        raise ValueError(f"must hold {kind.name} ({kind.str}) by rows, got {described} {order}")
    fits = len(shape) == len(wanted) and all(w in (None, s) and s <= most for s, w in zip(shape, wanted, strict=True))
    if not fits:
        sides = ", ".join(f"up to {most}" if size is None else str(size) for size in wanted)
        raise ValueError(f"must have the shape ({sides}), got {shape}")
    if (taken := math.prod(shape) * kind.itemsize) != member.size - 10 - length:
        raise ValueError(f"must take {taken} bytes for its shape {shape}, got another size")
    return shape


def largest_unpacked(size: int) -> int:
    """Return how many bytes the arrays of an archive of that size may take.

    Example
    -------
    >>> largest_unpacked(100), largest_unpacked(10**7), largest_unpacked(10**9)
    (33554432, 40000000, 536870912)
    """
    return min(MAX_UNPACKED, max(ALWAYS_ALLOWED, LARGEST_RATIO * size))


def pack_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return the npz archive of these arrays, deflated unless they are large and would deflate too well to be read.

    Raises InputError for arrays that take more than any archive may.
    """
    members = [(name + SUFFIX, _npy(array)) for name, array in arrays.items()]
    total = sum(len(content) for _, content in members)
    if total > MAX_UNPACKED:
        raise InputError(f"a file's arrays must take at most {MAX_UNPACKED} bytes, got {total}: use fewer outputs")
    content = pack_members(members, deflate=True)
    return content if total <= largest_unpacked(len(content)) else pack_members(members, deflate=False)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array_name(member: str) -> str:
    if not member.endswith(SUFFIX):
        raise TableError(f"the members of an archive must be arrays named *{SUFFIX}, got {member!r:.60}")
    return member.removesuffix(SUFFIX)
