"""The mean of each attribute with the least error, where chance decides who reports which."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.spaces.columns import naming
from ..attributes.counts import AttributeCounts
from ..means.means_of_attributes import AttributeMeans
from ..methods import BIAS_AWARE
from .mean import bias_aware_mean


def bias_aware_attribute_means(
    counts: AttributeCounts,
    priors: Mapping[str, ArrayLike] | None = None,
    *,
    trust: float | None = None,
) -> AttributeMeans:
    """Estimate the mean of every attribute in the population, each from the users who have drawn it.

    Each is a `bias_aware_mean` of its own reports; users of several services are alike, as chance decides who reports
    which attribute where.

    Parameters
    ----------
    counts : AttributeCounts
        ``count(mechanism, reports)``, or of several services.
    priors : mapping of str to (n,) array_like, optional
        Priors of some attributes or all; the others take those that their tables carry.
    trust : float, optional
        Of all attributes. Default: the trust of each table's design, else 3.

    Returns
    -------
    means : AttributeMeans
        ``means["age"]`` is the estimate of that attribute.

    Raises
    ------
    InputError
        No counts of attributes, a prior of an unknown one, or what `bias_aware_mean` raises, with the attribute's name.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count
    >>> from optldp.estimators.bias_aware import bias_aware_attribute_means
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> tables = [make_exact(duchi(domain, 2.0)).mechanism for domain in ([0, 100], [0, 80])]
    >>> made = AttributeSampling(["age", "hours"], tables, 1, 2.0)
    >>> values = {"age": np.full(4000, 30.0), "hours": np.full(4000, 40.0)}
    >>> counts = count(made, made.sample(values, np.random.default_rng(1)))
    >>> means = bias_aware_attribute_means(counts, {"age": [0.7, 0.3], "hours": [0.5, 0.5]}, trust=1.5)
    >>> [(round(means[name].value), round(means[name].std_error, 1)) for name in ("age", "hours")]
    [(30, 1.4), (41, 1.2)]
    """
    if not isinstance(counts, AttributeCounts):
        told = type(counts).__name__
        raise InputError(f"means of attributes need their counts, count(mechanism, reports), got {told}")
    given = dict(priors or {})
    if unknown := [name for name in given if name not in counts]:
        raise InputError(f"priors are of the attributes {', '.join(counts)}, got {unknown[0]!r}")
    means = []
    for name, mine in counts.items():
        with naming(name):
            means.append(bias_aware_mean(mine, given.get(name), trust=trust, alike=True))
    return AttributeMeans(tuple(counts), tuple(means), "population", BIAS_AWARE)
