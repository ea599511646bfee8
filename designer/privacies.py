"""The kinds of privacy that `--privacy` names, as plain data: nothing is imported until one is made.

A new one is a file with its `Promise`, which says what two values must have alike, and an entry of `PRIVACIES`. What it
has for each value comes out of a file, which `privacy_files` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..mechanisms.errors import InputError
from ..mechanisms.option_grammar import Option, asked_for
from ..mechanisms.registered import registered

if TYPE_CHECKING:
    import numpy as np

    from ..mechanisms.promise import Promise
    from .privacy_files import Values

PURE = "pure"


class NamedPrivacy(NamedTuple):
    """A kind of privacy, as data.

    Attributes
    ----------
    at : str
        "module:class" in `optldp`; `Promise` has the contract, and its budget comes first, unless it carries budgets.
    says : str
        What it promises, for help.
    example : str
        How it is asked for.
    options : tuple of Option
        Arguments of its class beside the budget.
    needs : tuple of str
        Those that must be told.
    files : mapping of str to str
        Those that are files, with what these hold: "numbers:COLUMN" and "labels:COLUMN", one for each value of the
        prior, which stand in a column value; "values", a column of some of these; "matrix", n x n, without a header.
    budgeted : bool
        Whether --epsilon is its budget; if not, it carries its own.
    """

    at: str
    says: str
    example: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    budgeted: bool = True


PRIVACIES: Mapping[str, NamedPrivacy] = {
    PURE: NamedPrivacy("mechanisms.promise:Pure", "--epsilon for any two values", PURE),
    "approximate": NamedPrivacy(
        "mechanisms.promise:Approximate",
        "all but a delta of that, by Gaussian noise on --range",
        "approximate:delta=1e-6",
        (Option("delta", float, "what may be lost"),),
        needs=("delta",),
    ),
    "metric": NamedPrivacy(
        "mechanisms.promise:Metric",
        "--epsilon per unit, as for degrees, by geometric noise on --range; with a prior also metric:distance=FILE, "
        "n x n, or metric:period=24, round a circle",
        "metric",
        (
            Option("distance", Path, "of each two values, n x n"),
            Option("period", float, "of a circle"),
        ),
        files={"distance": "matrix"},
    ),
    "by-value": NamedPrivacy(
        "mechanisms.promise:ByValue",
        "columns value, epsilon; two values have the smaller one, or by default the average",
        "by-value:FILE,rule=min",
        (Option("epsilons", Path, "columns value, epsilon"), Option("rule", str, "average or min", "average")),
        needs=("epsilons",),
        files={"epsilons": "numbers:epsilon"},
        budgeted=False,
    ),
    "blocks": NamedPrivacy(
        "mechanisms.promise:Blocks",
        "columns value, block, and their budgets",
        "blocks:FILE,within=1,across=3",
        (
            Option("blocks", Path, "columns value, block"),
            Option("within", float, "budget in a block"),
            Option("across", float, "budget across blocks"),
        ),
        needs=("blocks", "within", "across"),
        files={"blocks": "labels:block"},
        budgeted=False,
    ),
    "sensitive": NamedPrivacy(
        "mechanisms.promise:Sensitive",
        "--epsilon for the values of its column value, others may be revealed",
        "sensitive:FILE",
        (Option("sensitive", Path, "a column value"),),
        needs=("sensitive",),
        files={"sensitive": "values"},
    ),
    "ratios": NamedPrivacy(
        "mechanisms.promise:Ratios",
        "log-ratios, n x n in the order of the prior, inf for none",
        "ratios:FILE",
        (Option("log-ratios", Path, "n x n, no header"),),
        needs=("log-ratios",),
        files={"log-ratios": "matrix"},
        budgeted=False,
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


def carries_budgets(text: str) -> bool:
    """Return whether the privacy that a text asks for has budgets of its own; InputError for what there is not.

    Example
    -------
    >>> carries_budgets("ratios:FILE"), carries_budgets("metric")
    (True, False)
    """
    return not PRIVACIES[privacy_name(text)].budgeted


def of_values(text: str, *, given: bool = True) -> bool:
    """Return whether the privacy that a text asks for is of pairs of a prior's values, if one is given or not.

    Example
    -------
    >>> of_values("metric"), of_values("metric", given=False), of_values("metric:period=24", given=False)
    (True, False, True)
    """
    name, told = asked_for(text, PRIVACIES, "--privacy")
    return bool(PRIVACIES[name].files) and bool(given or told or PRIVACIES[name].needs)


def privacy_asked(text: str, epsilon: float | None, values: Values | None = None) -> Promise:
    """Return the privacy that a text asks for; InputError for what it lacks or does not take.

    Parameters
    ----------
    text : str
    epsilon : float, optional
        The budget; None for a privacy that carries its own.
    values : (n,) ndarray or Categories, optional
        Those of the prior, numbers increasing, of which files say something.

    Example
    -------
    >>> str(privacy_asked("approximate:1e-6", 0.5))
    'epsilon 0.5, delta 1e-06'
    """
    name, told = asked_for(text, PRIVACIES, "--privacy")
    entry = PRIVACIES[name]
    if lacking := [option for option in entry.needs if option not in told]:
        raise InputError(f"--privacy {name} needs {lacking[0]}, got none: write {entry.example}")
    made = registered("optldp", entry.at, "privacy", name)
    for option, holds in entry.files.items():
        if option in told:
            told[option] = _read(told[option], holds, values, name)
    held = {key.replace("-", "_"): value for key, value in told.items()}
    return made(epsilon, **held) if entry.budgeted else made(**held)


def _read(path: Path, holds: str, values: Values | None, name: str) -> np.ndarray | list[str]:
    from .privacy_files import FORMS

    if values is None:
        raise InputError(f"--privacy {name} says something of each value of a prior, got none: give --prior")
    form, _, column = holds.partition(":")
    return FORMS[form](path, values, column)


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
