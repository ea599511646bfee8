"""What a design says of what it promises, where that is more than one budget for all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanisms.promise import OfPairs, Pure
from ...mechanisms.promise.members import written
from ...mechanisms.spaces.places import Places
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior


def promise_facts(made: Any) -> dict[str, Any]:
    """Return the promise of a design, its numbers and its closed log-ratios; nothing of pure privacy.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.objectives import Workload
    >>> from optldp.designer.objectives.promised import promise_facts
    >>> from optldp.mechanisms import Metric
    >>> made = design(Prior.even([0.0, 1.0, 2.0]), Metric(1.0), objective=Workload("prefix"))
    >>> promise_facts(made)["promise"]
    'epsilon 1 per unit'
    """
    promise = {} if isinstance(made.privacy, Pure) else {"promise": str(made.privacy), **made.privacy.numbers()}
    if isinstance(made.privacy, OfPairs) and _names(made.prior):
        limits = made.privacy.limits(made.certificate.problem.values)
        promise["log_ratios"] = written(tuple(map(tuple, limits.tolist())))
    return promise


def promise_notes(made: Any) -> list[str]:
    """Return what there is to say of a design's promise, such as that it is of more than was said."""
    said = [f"note: {caution}"] if (caution := made.privacy.caution) else []
    if isinstance(made.privacy, OfPairs) and (names := _names(made.prior)):
        said += _shortened(made.privacy, made.certificate.problem.values, names)
    return said


def _names(prior: Prior | CategoricalPrior) -> list[str]:
    """What values are called where log-ratios are told; none of places, which are many, and whose ratios follow."""
    if isinstance(prior, Prior):
        return [f"{knot:g}" for knot in prior.knots]
    return [] if isinstance(prior.categories, Places) else list(prior.categories.labels)


def _shortened(promise: OfPairs, values: np.ndarray, names: list[str]) -> list[str]:
    """What there is to say of log-ratios that promise more than they say."""
    pairs, i, k = promise.shortened(values)
    if not pairs:
        return []
    said, closed = promise.said(values)[i, k], promise.limits(values)[i, k]
    return [
        f"note: {pairs} log-ratios promise more than they say, as paths by way of other values are shorter: that of "
        f"{names[i]} and {names[k]} is at most {closed:g}, not {said:g}; --json has all, as log_ratios"
    ]
