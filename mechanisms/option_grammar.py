"""One grammar for the entries of all registries: `name`, `name:VALUE`, `name=VALUE` or `name,key=value`.

A value without a key belongs to the first option. An option without a value is its key alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from .errors import InputError

TYPES: Mapping[type, str] = {
    float: "a number",
    int: "a whole number",
    str: "a word",
    Path: "a file",
    list: "numbers or marks with commas between them",
    bool: "its key alone",
}
"""The types of options, in words."""

GO_ON = (Path, list)
"""Types whose values may hold commas."""


class Option(NamedTuple):
    """An option of an entry.

    Attributes
    ----------
    name : str
        Its key.
    type : type
        One of `TYPES`.
    help : str
        For people, without its name.
    default : object
        What it is if it is not told, as help says it; None for nothing.
    unit : str
        Of its value.
    """

    name: str
    type: type
    help: str
    default: object = None
    unit: str = ""

    def read(self, text: str | None, asked: str) -> Any:
        """Return the value of a text, None for a key alone; InputError for one of another type."""
        if self.type is bool:
            if text is None:
                return True
        elif self.type is list and text:
            return text  # what it lists is for who takes it
        elif text:
            try:
                value = self.type(text)
            except ValueError:
                value = math.nan
            if not (isinstance(value, float) and math.isnan(value)):
                return value
        raise InputError(f"{self.name} of {asked} must be {TYPES[self.type]}, got {text or ''!r}")


class Entry(Protocol):
    """What the grammar asks of a registry's entry."""

    @property
    def options(self) -> tuple[Option, ...]:
        """What it may be told."""
        ...

    @property
    def example(self) -> str:
        """How it is asked for."""
        ...


class Taken(NamedTuple):
    """What an option takes beside its value, where it is no registry's."""

    example: str
    options: tuple[Option, ...] = ()


AnyEntry = TypeVar("AnyEntry", bound=Entry)


def entry_of(name: str, entries: Mapping[str, AnyEntry], what: str) -> AnyEntry:
    """Return the entry of a name; InputError for one that there is not."""
    if name not in entries:
        raise InputError(f"{what} must be one of {', '.join(entries)}, got {name!r}")
    return entries[name]


def name_asked(text: str) -> str:
    """Return the name that a text begins with.

    Example
    -------
    >>> name_asked("robust:tv,radius=0.2"), name_asked("minimax")
    ('robust', 'minimax')
    """
    return text.partition(",")[0].partition(":")[0].partition("=")[0]


def asked_for(text: str, entries: Mapping[str, Entry], what: str) -> tuple[str, dict[str, Any]]:
    """Return the name that a text asks for, and what it tells it.

    Parameters
    ----------
    text : str
    entries : mapping of str to Entry
        The registry.
    what : str
        The option of the command, for refusals.

    Raises
    ------
    InputError
        A name, a key or a value that there is not, or a key that is told twice.

    Example
    -------
    >>> from typing import NamedTuple
    >>> class Colour(NamedTuple):
    ...     options: tuple[Option, ...]
    ...     example: str
    >>> colours = {"red": Colour((Option("depth", float, "of it"), Option("bright", bool, "not dull")), "red:0.5")}
    >>> asked_for("red:0.5,bright", colours, "--colour")
    ('red', {'depth': 0.5, 'bright': True})
    """
    first, *others = text.split(",")
    name = name_asked(text)
    entry, asked = entry_of(name, entries, what), f"{what} {name}"
    keys = {option.name: option for option in entry.options}
    if first != name:
        given = first[len(name) + 1 :]
        key, equals, _ = given.partition("=")
        keyed = key in keys and bool(equals or keys[key].type is bool)
        keyed |= bool(equals and keys) and entry.options[0].type not in (str, Path)  # a number has no equals sign
        others = [given if keyed or not keys else f"{next(iter(keys))}={given}", *others]
    return name, _told(others, entry, asked, text)


def value_told(text: str, entry: Entry, what: str) -> dict[str, Any]:
    """Return what `VALUE,key=value` tells an option that has one thing to be told: the value is of its first key.

    Raises
    ------
    InputError
        A key or a value that there is not, or a key that is told twice.

    Example
    -------
    >>> leak = Taken("0.2,shares=2,1,1", (Option("bound", float, "of it"), Option("shares", list, "of the users")))
    >>> value_told("0.2,shares=2,1,1", leak, "--leakage")
    {'bound': 0.2, 'shares': '2,1,1'}
    """
    return _told(f"{entry.options[0].name}={text}".split(","), entry, what, text)


def _told(parts: list[str], entry: Entry, asked: str, text: str) -> dict[str, Any]:
    """Return what parts tell: each a key with its value, a key alone, or more of the file or list before it."""
    keys = {option.name: option for option in entry.options}
    whole: list[str] = []
    for part in parts:
        key = whole[-1].partition("=")[0] if whole else ""
        if "=" not in part and part not in keys and key in keys and keys[key].type in GO_ON:
            whole[-1] += f",{part}"
        else:
            whole.append(part)
    told: dict[str, Any] = {}
    for each in whole:
        key, equals, value = each.partition("=")
        if key in told:
            raise InputError(f"{key} of {asked} must be told once, got {text!r}: leave one out")
        if key not in keys:
            known = f"takes {', '.join(keys)}" if keys else "takes nothing beside"
            raise InputError(f"{asked} {known}, got {key!r}: write {entry.example}")
        told[key] = keys[key].read(value if equals or keys[key].type is not bool else None, asked)
    return told


def as_asked(name: str, told: Mapping[str, Any], options: tuple[Option, ...]) -> str:
    """Return the text that asks for a name and tells it this.

    Example
    -------
    >>> as_asked("aaa", {"window": 4}, (Option("intervals", int, "N"), Option("window", int, "M")))
    'aaa,window=4'
    """
    parts = [key if value is True else f"{key}={_text(value)}" for key, value in told.items()]
    first = options[0].name if told else ""
    if first in told and told[first] is not True:
        parts.remove(f"{first}={_text(told[first])}")
        return ",".join([f"{name}:{_text(told[first])}", *parts])
    return ",".join([name, *parts])


def told_in_words(entries: Mapping[str, Entry]) -> str:
    """Return for help what names may be told, those that are told the same together.

    Example
    -------
    >>> told_in_words({"red": Taken("red:0.5", (Option("depth", float, "of it"),))})
    'red: depth (of it)'
    """
    by_options: dict[tuple[Option, ...], list[str]] = {}
    for name, entry in entries.items():
        by_options.setdefault(entry.options, []).append(name)
    return "; ".join(
        f"{' and '.join(names)}: {', '.join(f'{option.name} ({option.help})' for option in options)}"
        for options, names in by_options.items()
    )


def _text(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
