"""The kinds of privacy that `--privacy` names, as plain data: nothing is imported until one is made.

A new one is a file with its `Promise`, which says what two values must have alike, and an entry of `PRIVACIES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..mechanisms.errors import InputError
from ..mechanisms.named import Option, asked_for
from ..mechanisms.registered import registered

if TYPE_CHECKING:
    from ..mechanisms.promise import Promise

PURE = "pure"


class NamedPrivacy(NamedTuple):
    """A kind of privacy, as data.

    Attributes
    ----------
    at : str
        "module:class" in `optldp`; `Promise` has the contract, and its budget comes first.
    says : str
        What it promises, for help.
    example : str
        How it is asked for.
    options : tuple of Option
        Arguments of its class beside the budget; one without a default must be told.
    by_noise : bool
        Whether noise of one shape alone keeps it, and no table for a prior.
    """

    at: str
    says: str
    example: str
    options: tuple[Option, ...] = ()
    by_noise: bool = False


PRIVACIES: Mapping[str, NamedPrivacy] = {
    PURE: NamedPrivacy("mechanisms.promise:Pure", "--epsilon for any two values", PURE),
    "approximate": NamedPrivacy(
        "mechanisms.promise:Approximate",
        "all but a delta of that, by Gaussian noise on --range",
        "approximate:delta=1e-6",
        (Option("delta", float, "what may be lost"),),
        by_noise=True,
    ),
    "metric": NamedPrivacy(
        "mechanisms.promise:Metric", "--epsilon per unit, as for degrees, by geometric noise on --range", "metric"
    ),
}
"""What the command line calls them, each with what it may be told, the first without its key."""


def privacy_name(text: str) -> str:
    """Return the name of the privacy that a text asks for; InputError for what there is not.

    Example
    -------
    >>> privacy_name("approximate:delta=1e-6")
    'approximate'
    """
    return asked_for(text, PRIVACIES, "--privacy")[0]


def privacy_asked(text: str, epsilon: float) -> Promise:
    """Return the privacy that a text asks for, with a budget; InputError for what it lacks or does not take.

    Example
    -------
    >>> str(privacy_asked("approximate:1e-6", 0.5))
    'epsilon 0.5, delta 1e-06'
    """
    name, told = asked_for(text, PRIVACIES, "--privacy")
    entry = PRIVACIES[name]
    if lacking := [option.name for option in entry.options if option.default is None and option.name not in told]:
        raise InputError(f"--privacy {name} needs {lacking[0]}, got none: write {entry.example}")
    return registered("optldp", entry.at, "privacy", name)(
        epsilon, **{key.replace("-", "_"): value for key, value in told.items()}
    )


def in_words() -> str:
    """Return for help what there is.

    Example
    -------
    >>> in_words().partition(";")[0]
    'pure (default): --epsilon for any two values'
    """
    return "; ".join(
        f"{entry.example}{' (default)' * (name == PURE)}: {entry.says}" for name, entry in PRIVACIES.items()
    )
