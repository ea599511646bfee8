"""How to split a budget between key and value: the split of least variance of a key's mean value."""

from collections.abc import Callable, Sequence

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError
from ..spaces.categories import Categories
from ..table.table import TabulatedMechanism
from .mechanism import KeyValueMechanism
from .response import key_value_response
from .unary import key_value_unary

VALUE_SHARES = np.linspace(0.1, 1.0, 19)
"""Shares of the largest budget a value may have that are tried: the variance is flat around its least."""

LARGEST_SHARE = 1.0 - 1e-9
"""The largest of them falls short by this, room to round the fake law in."""

OWN_SHOWN = np.linspace(0.5, 0.9, 9)
"""Probabilities of showing the own place that are tried for the unary form."""


def best_key_value(
    keys: Categories | Sequence[object],
    family: Callable[[float], TabulatedMechanism],
    epsilon: float,
    *,
    unary: bool = True,
    padding: int = 1,
    frequency: float | None = None,
) -> KeyValueMechanism:
    """Return the mechanism whose estimated means of values have the least variance, over splits of the budget.

    Each split spends epsilon wholly. It tries 19 budgets for the value table, up to the largest that it may have (see
    `key_value_unary` and `key_value_response`), each with 9 probabilities of showing the own place if unary.

    Parameters
    ----------
    keys : Categories or sequence
    family : callable
        Function from a budget to an unbiased value table; called 19 times.
    epsilon : float
    unary : bool
        The form: a place for each key, or randomised response.
    padding : int
    frequency : float, optional
        Share of users that sample the key whose mean is wanted, in (0, 1]; default 1 / K.

    Returns
    -------
    mechanism : KeyValueMechanism
        The best mechanism tried.

    Raises
    ------
    InputError
        An epsilon, a padding or a frequency that is not usable, or tables that are not unbiased.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.key_value import best_key_value
    >>> from optldp.mechanisms.key_value.choice import key_mean_variance
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = best_key_value(["a", "b", "c"], lambda budget: duchi([0.0, 1.0], budget), 1.0)
    >>> plain = key_value_unary(["a", "b", "c"], duchi([0.0, 1.0], 1.0), 1.0)
    >>> round(key_mean_variance(made, 1 / 3), 1), round(key_mean_variance(plain, 1 / 3), 1)
    (33.3, 34.5)
    """
    names = Categories.of(keys)
    share = 1.0 / len(names) if frequency is None else frequency
    amplified = 1 if unary else max(padding, 1)
    most = float(np.log1p(amplified * np.expm1(check_epsilon(epsilon)))) * LARGEST_SHARE
    best, least = None, np.inf
    for budget in most * VALUE_SHARES:
        table = family(float(budget))
        if unary:
            tried = [key_value_unary(names, table, epsilon, padding=padding, own_shown=own) for own in OWN_SHOWN]
        else:
            tried = [key_value_response(names, table, epsilon, padding=padding)]
        for made in tried:
            if (variance := key_mean_variance(made, share)) < least:
                best, least = made, variance
    assert best is not None  # the first one tried has a finite variance
    return best


def key_mean_variance(mechanism: KeyValueMechanism, frequency: float) -> float:
    r"""Return n times the variance of the estimated mean of a key's values, by the delta method.

    Of a share f of the users, who sampled the key and hold the same value v there, and of the others, a report adds

        z = (d - (1 - nu) b d_D) / a - v nu,    nu = (shown - b) / (a - b),

    d the value of the output shown, 0 if none is, d_D its mean under the fake law; the variance is
    (f E[z^2 | own] + (1 - f) E[z^2 | other]) / f^2, here averaged over the knots v of the value table (by its prior, if
    it has one).

    Parameters
    ----------
    mechanism : KeyValueMechanism
        With an unbiased value table.
    frequency : float
        f, in (0, 1].

    Raises
    ------
    InputError
        A frequency outside (0, 1], or a value table that is not unbiased.

    Source: own derivation; for stochastic rounding it is the variance of the estimate of Gu et al. (2020).

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> round(key_mean_variance(key_value_unary(["a", "b"], duchi([-1.0, 1.0], 1.0), 1.0), 0.5), 2)
    58.82
    """
    if not 0.0 < frequency <= 1.0:
        raise InputError(f"frequency must lie in (0, 1], got {frequency!r}")
    table = mechanism.value
    if not table.provenance.claims_unbiased:
        raise InputError(f"the value table must be unbiased, got {table.provenance.method!r}: choose another family")
    own, other, fake = mechanism.own_shown, mechanism.other_shown, mechanism.fake_law
    decoded, knots = table.output_mean[0], table.knots[:, None]
    centre = (table.knots[0] + table.knots[-1]) / 2
    decoded, knots = decoded - centre, knots - centre
    when_shown, when_hidden = (1 - other) / (own - other), -other / (own - other)
    offset = other * float(fake @ decoded)
    shown = (decoded - (1 - when_shown) * offset) / own - knots * when_shown
    hidden = -(1 - when_hidden) * offset / own - knots[:, 0] * when_hidden
    mine = own * np.sum(table.probabilities * shown**2, axis=1) + (1 - own) * hidden**2
    theirs = other * shown**2 @ fake + (1 - other) * hidden**2
    weights = np.full(table.knots.size, 1.0 / table.knots.size) if table.prior is None else table.prior.weights
    return float(weights @ (frequency * mine + (1 - frequency) * theirs)) / frequency**2
