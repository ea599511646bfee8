"""The kinds of privacy that there are, as plain data: nothing is imported until one is made.

A new one is a file with its `Promise`, which says what two values must have alike, and an entry of `PRIVACIES`: files
of tables and the command line know it then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..option_grammar import Option
from ..registered import registered

ROOM = "optldp.mechanisms.promise"
PURE = "pure"


class NamedPrivacy(NamedTuple):
    """A kind of privacy, as data.

    Attributes
    ----------
    at : str
        "module:class" in this room; `Promise` has the contract, and its budget comes first, unless it carries budgets.
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
    PURE: NamedPrivacy("promise:Pure", "--epsilon for any two values", PURE),
    "approximate": NamedPrivacy(
        "promise:Approximate",
        "all but a delta of that, by Gaussian noise on --range",
        "approximate:delta=1e-6",
        (Option("delta", float, "what may be lost"),),
        needs=("delta",),
    ),
    "metric": NamedPrivacy(
        "metric:Metric",
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
        "by_value:ByValue",
        "columns value, epsilon; two values have the smaller one, or by default the average",
        "by-value:FILE,rule=min",
        (Option("epsilons", Path, "columns value, epsilon"), Option("rule", str, "average or min", "average")),
        needs=("epsilons",),
        files={"epsilons": "numbers:epsilon"},
        budgeted=False,
    ),
    "blocks": NamedPrivacy(
        "blocks:Blocks",
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
        "sensitive:Sensitive",
        "--epsilon for the values of its column value, others may be revealed",
        "sensitive:FILE",
        (Option("sensitive", Path, "a column value"),),
        needs=("sensitive",),
        files={"sensitive": "values"},
    ),
    "ratios": NamedPrivacy(
        "ratios:Ratios",
        "log-ratios, n x n in the order of the prior, inf for none",
        "ratios:FILE",
        (Option("log-ratios", Path, "n x n, no header"),),
        needs=("log-ratios",),
        files={"log-ratios": "matrix"},
        budgeted=False,
    ),
}
"""Every kind, by the name that files and the command line call it, with what it may be told, the first without its key.
"""


def promise_class(name: str) -> Any:
    """Return the class of a kind of `PRIVACIES`, whose arguments are its own; InputError if nothing works by the entry.

    Example
    -------
    >>> promise_class("sensitive").__name__
    'Sensitive'
    """
    return registered(ROOM, PRIVACIES[name].at, "privacy", name)
