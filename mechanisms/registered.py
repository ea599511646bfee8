"""What a registry names as "module:object", imported when it is first used and not before."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .errors import unwired


def registered(package: str, at: str, what: str, name: str) -> Any:
    """Return the object that a registry's entry names.

    Parameters
    ----------
    package : str
        In which the module is.
    at : str
        "module:object".
    what, name : str
        What kind of thing the entry is, and its name, for the refusal.

    Raises
    ------
    InputError
        There is no such module in the package, or no such object in it: the entry is known by name alone.

    Example
    -------
    >>> registered("optldp.mechanisms", "families.duchi:duchi", "family", "duchi").__name__
    'duchi'
    """
    module, _, thing = at.partition(":")
    place = f"{package}.{module}"
    found = None if find_spec(place) is None else getattr(import_module(place), thing, None)
    if found is None:
        raise unwired(what, name)
    return found
