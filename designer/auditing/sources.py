"""Where reports come from: a function in this process, or a command behind a pipe."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from ...mechanisms import InputError, TabulatedMechanism
from .pipe import answers, split_command
from .subjects.events import Columns, Family
from .subjects.registry import Draw
from .subjects.subject import Kind, Subject

SPELLINGS = 12
"""Divisible by each number of spellings that an input may have."""

DEFAULT_TIMEOUT = 600.0
"""Seconds for one run of a command: slow clients make a thousand reports a second."""


class Sampled(Subject):
    """A sampler of some kind: what the kind knows of inputs and reports, and a source of reports.

    Attributes
    ----------
    draws : int
        Reports so far.
    misspelled : int
        Those that were printed, and not byte for byte as the published spelling of a report.
    first_misspelled : str
        The first of them in words, and what it should have been; empty while there is none.
    """

    single_calls = 1600
    """Calls for one report each that an audit may make; a program is not started so often."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.weights, self.claims = kind.weights, kind.claims
        self.draws = 0
        self.misspelled, self.first_misspelled = 0, ""

    def draw(self, inputs: np.ndarray) -> Columns:
        self.draws += inputs.size
        return self._drawn(inputs)

    @abstractmethod
    def _drawn(self, inputs: np.ndarray) -> Columns:
        """Return the reports of these inputs as columns."""

    def words(self, number: int) -> object:
        return self.kind.words(number)

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return self.kind.likely_pairs(samples)

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return self.kind.tables()

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        return self.kind.pair_families(first, second)


class FromCall(Sampled):
    """Reports of a function in this process."""

    def __init__(self, kind: Kind, call: Draw) -> None:
        super().__init__(kind)
        self.call = call

    def _drawn(self, inputs: np.ndarray) -> Columns:
        return self.kind.columns(self.call(*self.kind.arguments(inputs)), inputs.size)


class FromCommand(Sampled):
    """Reports of a command that reads inputs and prints reports, a line each.

    Parameters
    ----------
    kind : Kind
    command : str
        Split as a shell does, and run without one.
    rng : numpy.random.Generator
        Chooses in which of its spellings an input is sent.
    timeout : float
        Seconds for one run.
    """

    single_calls = 0

    def __init__(self, kind: Kind, command: str, rng: np.random.Generator, timeout: float = DEFAULT_TIMEOUT) -> None:
        super().__init__(kind)
        if not timeout > 0:
            raise InputError(f"the timeout must be positive, got {timeout!r}")
        self._words, self._timeout, self._rng = split_command(command), timeout, rng
        self._lines = kind.lines()

    def _drawn(self, inputs: np.ndarray) -> Columns:
        spelling = self._rng.integers(SPELLINGS, size=inputs.size)
        lines = [self._lines[a][k % len(self._lines[a])] for a, k in zip(inputs.tolist(), spelling, strict=True)]
        printed = answers(self._words, lines, longest=self.kind.longest_line, timeout=self._timeout)
        texts = [line.removesuffix("\n") for line in printed]
        columns = self.kind.columns_of_text(texts)
        if self.draws == inputs.size and not self.kind.readable(columns):  # later, text that is none may be a tell
            raise InputError(f"the sampler must print reports, got {texts[0]!r:.60} in line 1 and none after it")
        return columns | {"misspelled": self._misspelled(printed, self.kind.published(texts))}

    def _misspelled(self, printed: list[str], published: list[str | None]) -> np.ndarray:
        """Return which lines are no published spelling, 0 or 1, and take a note of them."""
        wrong = np.array([line != f"{right}\n" for line, right in zip(printed, published, strict=True)])
        if wrong.any() and not self.misspelled:
            first = int(np.argmax(wrong))
            right = published[first]
            self.first_misspelled = f"{printed[first]!r:.60} " + (
                "is no report" if right is None else f"is published as {right + chr(10)!r:.60}"
            )
        self.misspelled += int(wrong.sum())
        return wrong.astype(np.int64)
