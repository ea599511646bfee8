"""Services that ask for several attributes, and what their reports are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.combinators.attribute_sampling import AttributeSampling
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ..counting.source import described
from ..reading.columns.source import Source


@dataclass(frozen=True, eq=False)
class AttributeSource(Source):
    """A service that asks for several attributes, and its reports."""

    name: str
    mechanism: AttributeSampling

    def made(self) -> str:
        """Return the name of the bundle that its rows have to be of."""
        return table_identifier(self.mechanism)

    @property
    def columns(self) -> list[np.ndarray] | None:
        """The reports as a column of floats for each attribute; None for a file, a frame or whatever has other columns.

        Raises InputError for columns that do not match the attributes.
        """
        given = self.reports
        plain = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and not given.dtype.names)
        if isinstance(given, Mapping) or plain:
            return self.mechanism.inputs.split(given)
        return None


def attribute_sources(sources: Sequence[Sequence[Any]]) -> tuple[AttributeSource, ...]:
    """Return the sources that tuples of (mechanism, reports) or (name, mechanism, reports) describe.

    Raises InputError for something else, or services of one name.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> made = AttributeSampling.of({"age": make_exact(duchi([0, 1], 1.0)).mechanism}, 1, 1.0)
    >>> attribute_sources([("web", made, "web.csv")])[0].where
    "service 'web' ('web.csv')"
    """
    found = tuple(
        AttributeSource(reports, where, name, mechanism)
        for name, mechanism, reports, where in described(sources, AttributeSampling)
    )
    names = [source.name for source in found]
    if len(set(names)) < len(names):
        raise InputError(f"services must have different names, got {names}")
    return found
