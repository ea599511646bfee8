"""The mean of each attribute, where every user has reported some attributes only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.spaces.columns import naming
from ..attributes.counts import AttributeCounts
from ..counting.counts import ReportCounts
from ..estimate import Estimate, check_target
from ..intervals import CONFIDENCE, Interval
from ..methods import MeanMethod, Target
from .combined import estimate_combined_mean
from .mean import MeanEstimate, estimate_mean
from .noise import MechanismNoise


@dataclass(frozen=True, eq=False, repr=False)
class AttributeMeans(Estimate):
    """The means of d attributes; ``means["age"]`` is that of one.

    Parameters
    ----------
    attributes : tuple of str
    means : tuple of MeanEstimate
        One for each attribute, their `n` the users who have drawn it.

    Example
    -------
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> table = make_exact(duchi([0.0, 80.0], 1.0)).mechanism
    >>> both = AttributeSampling(["age", "hours"], [table, table], 1, 1.0)
    >>> reports = both.sample({"age": [20.0] * 200, "hours": [40.0] * 200}, np.random.default_rng(1))
    >>> estimate_attribute_means(count(both, reports))
    AttributeMeans(numbers=2, largest='hours: 47.1283', method='unbiased')
    """

    attributes: tuple[str, ...]
    means: tuple[MeanEstimate, ...]
    target: Target
    method: str = "unbiased"

    @property
    def value(self) -> np.ndarray:
        """(d,) means, each in the units of its attribute."""
        return np.array([mean.value for mean in self.means])

    @property
    def std_error(self) -> np.ndarray:
        """(d,) their standard errors."""
        return np.array([mean.std_error for mean in self.means])

    @property
    def n(self) -> np.ndarray:
        """(d,) users who have drawn each attribute."""
        return np.array([mean.n for mean in self.means])

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The attributes' names."""
        return {"attribute": self.attributes}

    def __getitem__(self, attribute: str) -> MeanEstimate:
        """Return the mean of one attribute; InputError for an unknown one."""
        if attribute not in self.attributes:
            raise InputError(f"attributes are {', '.join(self.attributes)}, got {attribute!r:.60}")
        return self.means[self.attributes.index(attribute)]

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval of each mean by itself."""
        found = [mean.interval(confidence) for mean in self.means]
        return Interval(np.array([one.low for one in found]), np.array([one.high for one in found]), confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, `one_report` of each mean, and bounds on its bias where there are any."""
        bounds = {name: [getattr(mean, name) for mean in self.means] for name in ("bias_low", "bias_high")}
        biased = bounds if any(bounds["bias_high"]) else {}
        return super().to_dict(confidence) | {"one_report": [mean.one_report for mean in self.means]} | biased


def estimate_attribute_means(
    counts: AttributeCounts,
    *,
    method: MeanMethod | None = None,
    target: Target = "population",
) -> AttributeMeans:
    r"""Estimate the mean of every attribute without bias, each from the users who have drawn it.

    For several services, or with a method, each attribute's mean is that of `estimate_combined_mean`, by "population"
    unless a method is given. "population" and "decoder" then take users as alike, since chance decides who reports
    which attribute where.  (Users of more services report an attribute more often. If their values differ, the reports
    on an attribute over-represent them.)

    For rounds (files of different times) each mean averages all files' reports on the attribute, by user.

    With one service, n_j of n users have drawn attribute j, and each set of n_j is equally likely, so the average of
    their decoded reports d is unbiased.  With V the mean over all users of Var(d | x) and S^2 the variance of their
    values, its variance is

        (V + (1 - f) S^2) / n_j,    f = n_j / n,

    where the second term covers the users who were not drawn.  A decoded report has the variance V + S^2, which the
    sample variance s^2 estimates, so this is (f V + (1 - f) s^2) / n_j. `MechanismNoise` estimates V, by at most s^2. V
    cannot be estimated from tables of two or three outputs; intervals are then too wide where f is near one. For the
    mean of the population it is s^2 / n_j for every f.

    Dividing by n_j is a ratio (Hajek) estimate.  The sum of reports times d / (n k), as in the paper, is unbiased as
    well, but n_j varies, so its variance has E[x^2] in place of S^2. It grows as the mean moves away from zero, and
    another origin of the scale would give another estimate.

    Parameters
    ----------
    counts : AttributeCounts
        ``count(mechanism, reports)``, or of several services.
    method : {"population", "ua", "uwa", "decoder"}, optional
        As in `estimate_combined_mean`.
    target : {"users", "population"}
        Whose mean it is: that of all users, including those who have not drawn the attribute, or that of their
        population.

    Returns
    -------
    means : AttributeMeans

    Raises
    ------
    InputError
        No counts of attributes, fewer than two reports of one, another target, or what
        `estimate_combined_mean` raises.

    Source
    ------
    Ma, Zhu and Wang (OPTT), algorithm 3 and theorem 11, for the sum; Cochran (1977), "Sampling techniques", chapters
    2 and 10, for the variance.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_attribute_means
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> tables = [make_exact(duchi(domain, 2.0)).mechanism for domain in ([0, 100], [0, 80])]
    >>> made = AttributeSampling(["age", "hours"], tables, 1, 2.0)
    >>> values = {"age": np.full(4000, 30.0), "hours": np.full(4000, 40.0)}
    >>> found = estimate_attribute_means(count(made, made.sample(values, np.random.default_rng(1))))
    >>> [(name, round(found[name].value, 1), round(found[name].std_error, 1)) for name in ("age", "hours")]
    [('age', 30.4, 1.4), ('hours', 40.7, 1.2)]
    """
    check_target(target)
    if not isinstance(counts, AttributeCounts):
        told = type(counts).__name__
        raise InputError(f"means of attributes need their counts, count(mechanism, reports), got {told}")
    if method is not None or any(len(mine.services) > 1 for mine in counts.values()):
        return _combined(counts, method or "population", target)
    estimates = []
    for name, mine in counts.items():
        with naming(name):
            found = estimate_mean(mine)
        estimates.append(found if target == "population" else _of_users(found, mine, counts.n_users))
    return AttributeMeans(tuple(counts), tuple(estimates), target)


def _combined(counts: AttributeCounts, method: MeanMethod, target: Target) -> AttributeMeans:
    """The mean of each attribute by itself, its users alike whichever services they have drawn it at."""
    means = []
    for name, mine in counts.items():
        with naming(name):
            alike = method in ("population", "decoder") and not mine.rounds
            found = estimate_combined_mean(mine, method=method, alike=alike, target=target, drawn_from=counts.n_users)
            means.append(found)
    return AttributeMeans(tuple(counts), tuple(means), target, method)


def _of_users(found: MeanEstimate, counts: ReportCounts, users: int) -> MeanEstimate:
    """The same mean, with the uncertainty about the mean of all those users."""
    total = found.std_error**2 * found.n
    least, of_output = MechanismNoise(counts.mechanisms[0]).of_decoder()
    noise = float(np.clip(counts.reports_of(0) @ of_output / found.n, min(least, total), total))
    share = found.n / users
    std_error = math.sqrt((share * noise + (1 - share) * total) / found.n)
    return replace(found, std_error=std_error, target="users")
