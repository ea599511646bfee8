"""Mechanisms that are written as one document with one checksum, whatever they are made of."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from ..channel import Channel
from ..errors import TableError
from ..promise import Pure
from ..table.table import TabulatedMechanism

BUNDLE_FORMAT = "optldp-bundle/1"

Nested = Callable[[Any], Any]
"""Turns the document of a member, a table or a bundle, into what it stands for."""


def other_format(document: Mapping[str, Any], known: str) -> TableError:
    """Return the refusal of a document whose format is not a known one: a bundle is named for what it is.

    Example
    -------
    >>> print(other_format({"format": "optldp-bundle/1", "kind": "floor"}, "'optldp-table/2'"))
    format must be 'optldp-table/2', got 'optldp-bundle/1' of kind 'floor', no table: load_mechanism takes it
    """
    found = document.get("format")
    if found == BUNDLE_FORMAT:
        kind = document.get("kind")
        return TableError(
            f"format must be {known}, got {found!r} of kind {kind!r:.60}, no table: load_mechanism takes it"
        )
    return TableError(f"format must be {known}, got {found!r:.60}: another optldp wrote it")


class Bundle(Channel):
    """A mechanism that is more than one numeric table: a structure, or several mechanisms that belong together.

    All in it is exact: there are no bundles in doubles, so that what is not broken is proved.
    """

    kind: ClassVar[str]
    """The name of its kind in a file; a class that has one is final."""

    vectors: ClassVar[Mapping[str, type[np.generic]]] = {}
    """Its members that are long lists, by their paths, with the type of their numbers: an npz file holds them."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if final := [base.__name__ for base in cls.__mro__[1:] if "kind" in vars(base)]:
            raise TypeError(f"{final[0]} is final: a subclass could draw by other numbers than those that are proved")

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are checked and read-only as the mechanism is."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))  # pyright: ignore[reportArgumentType] -- kinds are dataclasses

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names that it has in files: one, but where they say what it is made of."""
        return (cls.kind,)

    @property
    def max_log_ratio(self) -> float | None:
        """The epsilon really kept; None where each of its parts keeps one."""
        return None

    @abstractmethod
    def members(self) -> dict[str, Any]:
        """Return the members of its document: JSON values, numpy arrays, tables and bundles."""

    @classmethod
    @abstractmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        """Return the mechanism of a document, or raise TableError or InputError at its first fault."""

    @abstractmethod
    def failures(self) -> tuple[str, ...]:
        """Return what breaks the promise of privacy, recomputed from the numbers by whole-number arithmetic."""

    def require_private(self) -> None:
        """Raise TableError with the first failure, if there is one."""
        if failures := self.failures():
            raise TableError(failures[0])


def require_exact(what: str, table: TabulatedMechanism) -> None:
    """Raise TableError for a table in doubles, or of no pure promise; `what` says which member of a bundle it is."""
    if not table.exact:
        raise TableError(f"{what} must be exact, got {table!r} in doubles: make it exact with make_exact")
    if not isinstance(table.promise, Pure):
        raise TableError(f"{what} must promise pure epsilon-LDP, which bundles add up, got {table.promise}")
