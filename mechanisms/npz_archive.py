"""Arrays in an npz archive, and out of one that may be hostile: nothing is allocated that the archive does not hold."""

import io
import math
import zipfile
import zlib

import numpy as np

from .errors import TableError

UNREADABLE_ARCHIVE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    NotImplementedError,  # zipfile raises it for a compression it does not know
    RuntimeError,  # an encrypted member
    MemoryError,  # a header that promises more than there is
    zipfile.BadZipFile,
    zlib.error,
)

SUFFIX = ".npy"


def pack_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return the compressed npz archive of these arrays.

    Example
    -------
    >>> unpack_arrays(pack_arrays({"a": np.arange(3.0)}), 1000)["a"]
    array([0., 1., 2.])
    """
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType] -- names are not allow_pickle
    return buffer.getvalue()


def unpack_arrays(content: bytes, most_bytes: int) -> dict[str, np.ndarray]:
    """Return the arrays of an npz archive by name.

    Every array's declared shape is compared with the size of its member before anything is reserved for it, and
    the members' sizes with the limit before anything is unpacked.

    Parameters
    ----------
    content : bytes
        The whole file.
    most_bytes : int
        Limit of all members together, unpacked.

    Raises
    ------
    TableError
        No whole archive of plain arrays, or a larger one.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most_bytes:
                raise TableError(f"the arrays must take at most {most_bytes} bytes, got more")
            arrays = {member.filename.removesuffix(SUFFIX): _array(archive.read(member)) for member in members}
    except TableError:
        raise
    except UNREADABLE_ARCHIVE as error:
        raise TableError(f"the file must be a whole npz archive: {_one_line(error)}") from None
    if len(arrays) < len(members):
        raise TableError("the arrays of an npz table must have different names, got a repeated one")
    return arrays


def _array(member: bytes) -> np.ndarray:
    """Return the array of an npy file, or raise ValueError."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"arrays must be of npy version 1.0, got {version}")
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
    if kind.hasobject:
        raise ValueError("arrays must hold numbers, got pickled objects")
    start = stream.tell()
    if math.prod(shape) * kind.itemsize != len(member) - start:
        raise ValueError(f"an array of shape {shape} must take {math.prod(shape) * kind.itemsize} bytes, got another")
    flat = np.frombuffer(member, dtype=kind, offset=start) if len(member) > start else np.empty(0, dtype=kind)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
