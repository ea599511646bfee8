"""Pure protocols whose report is one bit for each category: that the report supports it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..report_text import bits_of_text
from .mechanism import PureProtocol


class BitVectors(PureProtocol):
    """Reports are (N, ceil(K / 8)) bytes, the first category's bit the highest, filled up with zeros."""

    @property
    def n_bytes(self) -> int:
        """Bytes of a report."""
        return -(-len(self.categories) // 8)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the reports (N, ceil(K / 8)) uint8; InputError for other shapes or ones beyond bit K."""
        given = np.asarray(reports)
        if given.ndim != 2 or given.shape[1] != self.n_bytes or given.dtype != np.uint8:
            raise InputError(
                f"reports must be (N, {self.n_bytes}) bytes for {len(self.categories)} categories, "
                f"got shape {given.shape} of {given.dtype}"
            )
        unused = 8 * self.n_bytes - len(self.categories)
        bad = (given[:, -1] & np.uint8(2**unused - 1)) != 0
        if bad.any():
            row = int(np.argmax(bad)) + 1
            raise InputError(f"reports must have {len(self.categories)} bits, got a one beyond them in row {row}")
        return given

    def support(self, reports: np.ndarray) -> np.ndarray:
        return reports

    def bits(self, reports: np.ndarray) -> np.ndarray:
        """Return the bits of reports, (N, K) of 0 or 1."""
        return np.unpackbits(reports, axis=1, count=len(self.categories))

    def to_text(self, reports: np.ndarray) -> list[str]:
        """Return hexadecimal digits, two for each byte."""
        text, width = np.ascontiguousarray(reports).tobytes().hex(), 2 * self.n_bytes
        return [text[i : i + width] for i in range(0, len(text), width)]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.checked_reports(bits_of_text(texts, self.n_bytes))
