"""The likelihood of counted reports of one categorical mechanism, one component for each category."""

import numpy as np

from ...mechanisms.statistics import Outputs, Supports, unread
from ...solvers.likelihood.bits import BitLikelihood
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.mixture import MixtureLikelihood
from .category_counts import CategoryCounts

FEW_REPORTS = 4096
"""Distinct reports up to which the product with a full matrix is no slower than looking bits up, whatever K is."""

FULL_BYTES = 2**28
"""Bytes of a matrix that may be formed for that."""


def category_likelihood(counts: CategoryCounts) -> MixtureLikelihood:
    """Return the likelihood of the frequencies of the K categories.

    Tables give their columns.  Reports of pure protocols (unary encodings, hashing) are so many times likelier under
    each category that they support as under each other one; here they have probability one under the others, so that
    log-likelihoods are relative to a report that supports no category, and vectors of many bits do not underflow.
    R distinct reports take 8 R K bytes if they are few, else their support stays packed, R K / 8 bytes.

    Parameters
    ----------
    counts : CategoryCounts

    Raises
    ------
    InputError
        No reports.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> from optldp.solvers.likelihood.fit import fit_mixture
    >>> grr = categorical_grr(["yes", "no"], 1.0)
    >>> counts = CategoryCounts.from_reports(grr, np.repeat([0, 1], [60, 40]))
    >>> fit_mixture(category_likelihood(counts)).weights.round(4)
    array([0.7164, 0.2836])
    """
    counts.require_reports()
    size = len(counts.mechanism.categories)
    match counts.mechanism.statistic:
        case Outputs(law):
            return DenseLikelihood([law[:, counts.reports]], counts.counts)
        case Supports(support_ratio=ratio):
            bits = counts.supports
            if len(bits) <= FEW_REPORTS and 8 * len(bits) * size <= FULL_BYTES:
                rows = np.where(np.unpackbits(bits, axis=1, count=size), ratio, 1.0)
                return DenseLikelihood([rows.T], counts.counts)
            return BitLikelihood(bits, counts.counts, size, low=1.0, high=ratio)
        case statistic:
            raise unread(statistic)
