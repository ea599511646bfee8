"""The law that others say they drew reports by, as an exact mechanism that says that nobody here knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..budget import check_epsilon
from ..categorical.mechanism import CategoricalMechanism
from ..categorical.subset_selection import subset_selection
from ..categorical.table import CategoricalTable, categorical_grr, randomised_response_numerators
from ..categorical.unary_encoding import UnaryEncoding, basic_rappor, optimised_unary
from ..errors import InputError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from .mark import ADOPTED, is_adopted
from .seeded_hashing import SeededHashing
from .written import WRITTEN, Written, written_by_default

FORM, DRAWN_BY = "written", "drawn_by"
"""Parameters of the provenance that say how reports are written, and who is said to have drawn them."""


def adopt(
    law: str,
    categories: Categories | Sequence[object],
    epsilon: float | None = None,
    *,
    own: float | None = None,
    other: float | None = None,
    n_values: int | None = None,
    written: str | None = None,
    drawn_by: str = "",
) -> CategoricalMechanism:
    """Return the mechanism by which others drew reports, to estimate from these; it is marked as theirs.

    Every estimator, interval and comparison for categories takes it. The proof covers its law, which keeps epsilon.
    That others drew by this law, once for each user and with good random numbers, is only their claim.

    Parameters
    ----------
    law : {"grr", "rappor", "oue", "olh", "subset"}
        Randomised response; one bit for each category with symmetric flips (SUE, one-time RAPPOR), or optimised ones;
        local hashing by XXH32; subset selection by sets of round(K / (e^epsilon + 1)) categories.
    categories : Categories or sequence
        In the order in which the other package numbers them, from 0.
    epsilon : float, optional
        Budget of the reports; or give probabilities instead.
    own, other : float, optional
        Probability that a report is the own category (grr), or that the own bit and any other one are ones (rappor):
        the budget follows from them.
    n_values : int, optional
        Values of the hash (olh); round(e^epsilon) + 1 by default, as pure-ldp and multi-freq-ldpy have it.
    written : str, optional
        How reports are written; see `Written`. By default as those packages return them.
    drawn_by : str
        Package that drew them, such as "pure-ldp 1.2.0"; for people to read.

    Returns
    -------
    mechanism : CategoricalMechanism
        For counting and estimating.

    Raises
    ------
    InputError
        Another law or way of writing, categories or budgets that are not usable, probabilities that are invalid or
        carry no information, both a budget and probabilities, or neither.

    Example
    -------
    >>> from optldp.mechanisms.third_party import adopt
    >>> from optldp.mechanisms.third_party.mark import is_adopted
    >>> theirs = adopt("grr", ["cook", "smith", "baker"], 1.0, drawn_by="pure-ldp")
    >>> theirs.failures(), is_adopted(theirs)
    ((), True)
    """
    if law not in LAWS:
        raise InputError(f"a law to adopt must be one of {', '.join(LAWS)}, got {law!r}")
    names = Categories.of(categories)
    if (epsilon is None) == (own is None):
        raise InputError("a law to adopt needs epsilon, or the probability own that its package was given: say one")
    if other is not None and own is None:
        raise InputError("other is beside own, got it alone: say both, or epsilon")
    if n_values is not None and law != "olh":
        raise InputError(f"n_values is for olh, got {law}: leave it out")
    form = written_by_default(law) if written is None else written
    if form not in WRITTEN[law]:
        raise InputError(f"written must be one of {', '.join(WRITTEN[law])} for reports of {law}, got {form!r}")
    made = LAWS[law](names, epsilon, own, other, n_values)
    Written(made, form)
    told = {ADOPTED: True, FORM: form} | ({DRAWN_BY: drawn_by} if drawn_by else {})
    return replace(made, provenance=Provenance(law, told))


def written_of(mechanism: Any) -> Written | None:
    """Return how the reports of an adopted mechanism are written; None for one that draws here."""
    if not is_adopted(mechanism):
        return None
    return Written(mechanism, str(mechanism.provenance.parameters.get(FORM)))


def _grr(
    names: Categories, epsilon: float | None, own: float | None, other: float | None, n_values: int | None
) -> CategoricalMechanism:
    if epsilon is not None:
        return categorical_grr(names, epsilon)
    if other is not None:
        raise InputError("other is for rappor: of randomised response it follows from own, leave it out")
    size = len(names)
    least = math.ceil((1 - _probability("own", own)) * DENOMINATOR / (size - 1))
    mine = DENOMINATOR - (size - 1) * least
    if least >= mine:
        raise InputError(f"own must be above 1/{size}, one in as many as there are categories, got {own!r}")
    matrix = np.where(np.eye(size, dtype=bool), mine, least)
    return CategoricalTable(names, _budget(Fraction(mine, least)), Provenance("grr"), matrix)


def _rappor(
    names: Categories, epsilon: float | None, own: float | None, other: float | None, n_values: int | None
) -> CategoricalMechanism:
    if epsilon is not None:
        return basic_rappor(names, epsilon)
    share = _probability("own", own)
    one = round(share * DENOMINATOR)
    zero = DENOMINATOR - one if other is None else round(_probability("other", other) * DENOMINATOR)
    if not 0 < zero < one < DENOMINATOR:
        raise InputError(f"own must be above other, and both inside (0, 1), got {own!r} and {zero / DENOMINATOR!r}")
    ratio = Fraction(one * (DENOMINATOR - zero), zero * (DENOMINATOR - one))
    return UnaryEncoding(names, _budget(ratio), Provenance("rappor"), one, zero)


def _oue(
    names: Categories, epsilon: float | None, own: float | None, other: float | None, n_values: int | None
) -> CategoricalMechanism:
    if epsilon is None:
        raise InputError("oue needs epsilon; bits of other probabilities are rappor with own and other")
    return optimised_unary(names, epsilon)


def _olh(
    names: Categories, epsilon: float | None, own: float | None, other: float | None, n_values: int | None
) -> CategoricalMechanism:
    if epsilon is None:
        raise InputError("olh needs epsilon, and n_values where it is not round(e^epsilon) + 1")
    values = round(math.exp(check_epsilon(epsilon))) + 1 if n_values is None else n_values
    if not (type(values) is int and 2 <= values <= 2**16):
        raise InputError(f"n_values must be a whole number from 2 to 65536, got {values!r}")
    mine, _ = randomised_response_numerators(values, epsilon)
    return SeededHashing(names, epsilon, Provenance("olh", {ADOPTED: True}), values, mine)


def _subset(
    names: Categories, epsilon: float | None, own: float | None, other: float | None, n_values: int | None
) -> CategoricalMechanism:
    if epsilon is None:
        raise InputError("subset needs epsilon, from which the size of sets follows")
    size = round(len(names) / (math.exp(check_epsilon(epsilon)) + 1))
    return subset_selection(names, epsilon, n_chosen=max(1, size))


LAWS: dict[str, Callable[..., CategoricalMechanism]] = {
    "grr": _grr, "rappor": _rappor, "oue": _oue, "olh": _olh, "subset": _subset,
}  # fmt: skip
"""What can be adopted: categories, a budget or probabilities, and values of a hash in, a mechanism out."""


def _probability(name: str, value: float | None) -> float:
    if value is None or not 0 < value < 1:
        raise InputError(f"{name} must be a probability inside (0, 1), got {value!r}")
    return float(value)


def _budget(ratio: Fraction) -> float:
    """The least double that a ratio is proved to keep, or one a few above."""
    epsilon = math.log(ratio)
    while exponential_below(epsilon) < ratio:
        epsilon = math.nextafter(epsilon, math.inf)
    return epsilon
