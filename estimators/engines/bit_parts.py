"""Bits of frames whose engine hands parts to Python anyway: each part is summed there in one pass, by numpy.

Such are Polars, whose batches are in this process, and Dask, whose workers hold parts as pandas frames. Other engines
group pieces of reports themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .supports import HEXADECIMAL, PIECE, WrittenBits

_NONE = 16
"""Where a character is no hexadecimal digit."""

_DIGITS = np.full(256, _NONE, dtype=np.uint8)
_DIGITS[np.frombuffer(HEXADECIMAL.encode(), dtype=np.uint8)] = np.arange(16)

_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)


def sums_of_texts(texts: Sequence[Any], bits: WrittenBits) -> np.ndarray:
    """Return how many reports have a one at each place, how many reports there are, and how many cells are none.

    Parameters
    ----------
    texts : sequence
        Of cells: texts of two hexadecimal digits for each eight bits are reports.
    bits : WrittenBits

    Returns
    -------
    sums : (m + 2,) ndarray of int64

    Example
    -------
    >>> sums_of_texts(["a0", "c0", "20", "zz", None], WrittenBits(3))
    array([2, 1, 2, 3, 2])
    """
    size = bits.width * bits.pieces
    whole = [text for text in texts if isinstance(text, str) and len(text) == size]
    digits = _DIGITS[np.frombuffer("".join(whole).encode("ascii", "replace"), dtype=np.uint8)].reshape(-1, 2)
    octets = (digits[:, 0] << 4 | digits[:, 1]).reshape(len(whole), bits.pieces)
    sound = (octets[:, -1] % 2 ** (PIECE * bits.pieces - bits.many) == 0) if whole else np.zeros(0, dtype=bool)
    if (digits == _NONE).any():
        sound &= (digits.reshape(len(whole), size) < _NONE).all(axis=1)
    if not sound.all():
        octets = octets[sound]
    ones = [np.bincount(column, minlength=256) @ _OCTETS for column in octets.T]
    return np.concatenate([np.concatenate(ones)[: bits.many], [len(octets), len(texts) - len(octets)]]).astype(np.int64)


def sums_of_parts(native: Any, bits: WrittenBits) -> np.ndarray | None:
    """Return what `sums_of_texts` says of the only column of a frame of Polars or Dask; of other frames None.

    Example
    -------
    >>> import polars as pl
    >>> sums_of_parts(pl.LazyFrame({"output": ["a0", "c0", "20"]}), WrittenBits(3))
    array([2, 1, 2, 3, 0])
    """
    engine = type(native).__module__.partition(".")[0]
    if engine == "polars":
        whole = not hasattr(native, "collect_batches")  # before Polars 1.34
        batches = [native.collect()] if whole else native.collect_batches()
        parts = (batch.to_series().to_list() for batch in batches)
        return sum((sums_of_texts(part, bits) for part in parts), sums_of_texts([], bits))
    if engine == "dask":
        sums = native.map_partitions(_sums_of_part, bits, meta={"sums": int}).compute()
        return sums.to_numpy().astype(np.int64).reshape(-1, bits.many + 2).sum(axis=0)
    return None


def _sums_of_part(part: Any, bits: WrittenBits) -> Any:
    import pandas as pd  # whoever hands such parts has it

    return pd.DataFrame({"sums": sums_of_texts(part.iloc[:, 0].tolist(), bits)})
