"""Methods that may be told something, as plain data: nothing is imported until one is made.

A new one is a file with its `Method` and an entry of `TOLD`; `--method` of commands, help and refusals follow. Every
other method is its name alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...mechanisms.option_grammar import Option, Taken, asked_for, name_asked, told_in_words
from ...mechanisms.registered import registered

if TYPE_CHECKING:
    from .base import Method


class ToldMethod(NamedTuple):
    """A method that may be told something, as data.

    Attributes
    ----------
    at : str
        "module:class" in `optldp.designer.methods`; `Method` has the contract.
    options : tuple of Option
        Arguments of its class, with hyphens, unless `arguments` says otherwise.
    example : str
        How it is told.
    named : bool
        Whether its class takes the name, as the closed forms share one.
    arguments : tuple of (str, str)
        Options that its class calls otherwise, and how.
    """

    at: str
    options: tuple[Option, ...]
    example: str
    named: bool = False
    arguments: tuple[tuple[str, str], ...] = ()


_OF_PTT = (
    Option("eta", float, "its parameter, above 1", "the best one"),
    Option("worst-case", bool, "the eta of least worst-case variance"),
)

TOLD: Mapping[str, ToldMethod] = {
    "aaa": ToldMethod(
        "lattice:Lattice",
        (
            Option("intervals", int, "N, of the lattice"),
            Option("window", int, "M, free noise steps"),
            Option("tail-ratio", float, "r of the tails"),
        ),
        "aaa:intervals=8,window=12",
        arguments=(("tail-ratio", "ratio"),),
    ),
    "ptt": ToldMethod("closed_form:ClosedForm", _OF_PTT, "ptt:eta=1.5", named=True),
    "ptt2": ToldMethod("closed_form:ClosedForm", _OF_PTT, "ptt2:worst-case", named=True),
    "shaped": ToldMethod("pieces:Pieces", (Option("pieces", int, "of the floor, at most", 3),), "shaped:2"),
}
"""What the command line may tell them."""


def read_method(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and what it is told; InputError for a key or a value that there is not.

    Whether there is a method of the name is for those who build it: categories have others than numbers.

    Example
    -------
    >>> read_method("aaa:intervals=8,window=12"), read_method("duchi")
    (('aaa', {'intervals': 8, 'window': 12}), ('duchi', {}))
    """
    name = name_asked(text)
    return asked_for(text, {name: TOLD.get(name) or Taken(name)}, "--method")


def told_method(text: str) -> str | Method:
    """Return a method that is told something, or the name of one that is not.

    Example
    -------
    >>> told_method("ptt:worst-case"), told_method("ptt")
    (ClosedForm(name='ptt', worst_case=True, eta=None), 'ptt')
    """
    name, told = read_method(text)
    if not told:
        return name
    entry = TOLD[name]
    made = registered("optldp.designer.methods", entry.at, "method", name)
    called = dict(entry.arguments)
    arguments = {called.get(key, key.replace("-", "_")): value for key, value in told.items()}
    return made(**arguments, **({"name": name} if entry.named else {}))


def in_words() -> str:
    """Return for help what methods may be told.

    Example
    -------
    >>> in_words().partition(";")[0]
    'aaa: intervals (N, of the lattice), window (M, free noise steps), tail-ratio (r of the tails)'
    """
    return told_in_words(TOLD)
