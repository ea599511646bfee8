"""What `--privacy` asks for: one of the kinds that `mechanisms.promise.registry` has, made of a text and files.

What a kind has for each value comes out of a file, which `privacy_files` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..mechanisms.errors import InputError
from ..mechanisms.option_grammar import asked_for
from ..mechanisms.promise.registry import PRIVACIES, PURE, promise_class

if TYPE_CHECKING:
    import numpy as np

    from ..mechanisms.promise import Promise
    from .privacy_files import Values


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
    made = promise_class(name)
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
