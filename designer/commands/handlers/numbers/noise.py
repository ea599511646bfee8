"""`optldp design` for noise of one shape, whose promise is not pure: it has no objective, no prior and no bound."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .....estimators.reading.formats.axis import range_units
from .....mechanisms.additive.registry import ADDITIVE
from .....mechanisms.errors import InputError
from .....mechanisms.exactness.make_exact import make_exact
from .....mechanisms.exactness.verification import verify
from .....mechanisms.promise import Metric, Promise
from ....priors.checks import as_knots
from ....priors.prior import DEFAULT_KNOTS
from ....privacies import PURE, privacy_asked, privacy_name

if TYPE_CHECKING:
    from .....mechanisms import TabulatedMechanism
    from ...options.designs.design import DesignOptions

MOST_UNITS = 2000
"""With a knot each: they take five seconds, and a file of 32 MB."""


def design_noise(options: DesignOptions) -> tuple[TabulatedMechanism, dict[str, Any]]:
    """Return the table of the noise that was asked for, exact and proved, and its facts."""
    started = time.perf_counter()
    promise = _promise(options)
    method = options.method or next(name for name, each in ADDITIVE.items() if each.promise is type(promise))
    if method not in ADDITIVE:
        raise InputError(f"--method must be {' or '.join(ADDITIVE)} for a promise of {promise}, got {method!r}")
    table = make_exact(ADDITIVE[method].build(_knots(options, promise), promise)).mechanism
    table = table.with_units(range_units(options.domain, options.units))
    found, (n, m) = verify(table), table.probabilities.shape
    facts = {
        "method": method,
        "promise": str(promise),
        "epsilon": promise.epsilon,
        **promise.numbers(),
        "knots": n,
        "outputs": m,
        "worst_case_variance": found.worst_case_variance,
        "kept": found.kept,
        "max_abs_bias": found.max_abs_bias,
        "verdict": str(found.verdict),
        "seconds": time.perf_counter() - started,
    }
    return table, facts


def _promise(options: DesignOptions) -> Promise:
    """The promise of --privacy; InputError for the pure one, which this noise does not keep."""
    if privacy_name(options.privacy) == PURE:
        raise InputError(
            "--method gaussian needs --privacy approximate:delta=1e-6, and geometric --privacy metric: they keep no "
            "pure budget"
        )
    return privacy_asked(options.privacy, options.budgets.epsilons[0])


def _knots(options: DesignOptions, promise: Promise) -> np.ndarray:
    """Equally spaced knots on the range; by default one a unit where the promise is per unit."""
    if options.data is not None:
        raise InputError("this noise is the same whatever the data are: leave DATA out, and give --range LO HI")
    if options.domain is None:
        raise InputError("noise needs a range: give --range LO HI")
    if options.automatic:
        raise InputError("--knots auto is for the optimum alone: give a number")
    low, high = options.domain
    if options.knot_count is not None or not isinstance(promise, Metric):
        return as_knots(options.knot_count or DEFAULT_KNOTS, (low, high))
    if low < high and (high - low > MOST_UNITS or (high - low) % 1):
        raise InputError(
            f"--range must span a whole number of units, at most {MOST_UNITS}, to have one knot a unit, got {low:g} to "
            f"{high:g}: give --knots"
        )
    return as_knots(max(int(high - low) + 1, 2), (low, high))
