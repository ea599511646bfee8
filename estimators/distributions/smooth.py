"""The smooth fit: log densities averaged over their smoothness, with point masses where the reports ask for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import SolverError
from ...solvers.likelihood.em import evaluate
from ...solvers.likelihood.expansion import expanded_loglik
from ...solvers.likelihood.fit import MixtureFit, Stop, fit_of
from ...solvers.likelihood.log_draws import log_linear_draws
from ...solvers.likelihood.log_linear import LoglikAt, WeightPlace, exact_loglik
from ...solvers.one_thread import one_thread
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .atoms import deposits, places_of_atoms, ranked_atoms
from .likelihood import likelihood_of, thinned_likelihood
from .log_density import LENGTHS, ORDERS, Components, LogDensity, fit_log_densities, fit_log_density, refit, shares

DRAWS = 600
"""Of the posterior: ends of 95% intervals are then known to a tenth of a standard deviation."""

DRAW_SEED = 0
"""The same reports give the same estimate. Any number would do."""

MOST_ATOMS, FAILURES = 8, 2
"""Masses tried, and how many in a row may bring no evidence before no further one is tried."""

SURE = 3.0
"""Nats of evidence, the chances of all places counted in, by which masses must be better than fits without them: odds
of 20 to 1. With less they are left out, rather than averaged in: a spike at a round value is seen as one, however small
its probability, and smooth sets would show one in every few collections."""

MOST_MASS = 5.0
"""Nats that a density without a mass may have at most for masses' odds to be said of it. One that has more has a spike
in a mass's place, next to which nothing else would count: 1% of users beside 99% at zero were taken for none."""

LEAST_SHARE = 0.02
"""Posterior probability, relative to the likeliest, below which a fit is left out."""

MOST_LOST = 0.5
"""Posterior probability of the fits whose mode is not found above which those that are left are no average of them."""

FEW_ROWS = 2**14
"""Rows of a likelihood up to which its second derivative is taken anew at each step."""

FIRST_LENGTH = 0.125
"""Of the very first fit: a density may bend eight times, and need not."""

PILOT_USERS = 2**14
"""Users on whose reports alone the first fit to more rows is made: the expansion about it is then of the order of
n (d / 16384)^{3/2} nats off, and the one about the next fit of n (d / n)^{3/2}."""


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """Fits that the reports leave possible, their average, and draws from all of them.

    Parameters
    ----------
    components : Components
    fits : tuple of LogDensity
    shares : (F,) ndarray of float
        Posterior probability of each, relative to all that were kept.
    draws : (S, K) ndarray of float
        Weights of the grid's components, masses in those that hold them, drawn from the posterior.
    offsets : (S,) ndarray of float
        What is to be added to the mean of the components' points, since masses stand where they stand in their cells.
    fit : MixtureFit
        The average of the draws, with its log-likelihood and how far it is from the largest; neither has a penalty.
    decrement : float
        The largest Newton decrement of the fits, nats: what each one's own objective, its log-likelihood less half of
        the squared parameters, may still gain near by, to second order.
    masses : (C,) ndarray of float
        The average mass of its own at each place.
    """

    components: Components
    fits: tuple[LogDensity, ...]
    shares: np.ndarray
    draws: np.ndarray
    offsets: np.ndarray
    fit: MixtureFit
    decrement: float
    masses: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """(S,) means of the draws, masses where they stand."""
        return self.draws @ self.components.grid.points + self.offsets

    @property
    def orders(self) -> list[float]:
        """Posterior probability of each order of differences: one, two, three."""
        return [float(sum(s for one, s in zip(self.fits, self.shares, strict=True) if one.order == m)) for m in ORDERS]

    @property
    def atoms(self) -> dict[float, float]:
        """Each place that may have a mass of its own in a fit, and the posterior probability that it has."""
        found: dict[float, float] = {}
        for one, share in zip(self.fits, self.shares, strict=True):
            for place in self.components.places[list(one.atoms)].tolist():
                found[place] = found.get(place, 0.0) + float(share)
        return dict(sorted(found.items()))


@one_thread()
def smooth_likelihood(
    counts: ReportCounts,
    grid: InputGrid,
    *,
    draws: int = DRAWS,
    progress: Callable[[int, int], None] | None = None,
) -> SmoothFit:
    r"""Fit log densities of all orders and lengths of smoothness, with and without masses, and average them.

    The density is the exponential of a spline whose differences of order one, two or three are normal beforehand
    (`log_spline_basis`), and beside it there may be masses at zero, the ends and round values (`places_of_atoms`):
    positive and normalised whatever the reports are. Each order, length and set of masses has its mode
    (`fit_log_linear`) and its evidence by Laplace's approximation; masses are added one by one, the surest first, until
    that brings nothing, and left out unless their evidence is better by `SURE`. The estimate is the average of draws
    from all (`log_linear_draws`), from each as many as its evidence says: a mean over smoothness and masses, not the
    likeliest of them.

    All fits but the last are made to the log-likelihood's expansion in the weights, K numbers and a matrix, so that the
    time hardly depends on the number of users; those that are kept are fitted to the log-likelihood itself.

    Parameters
    ----------
    counts : ReportCounts
    grid : InputGrid
        K cells or points.
    draws : int
        Of the posterior. With S of them the average is off by 1 / sqrt(S) of a posterior standard deviation.
    progress : callable, optional
        Called with the number of sets of masses fitted, and the most that there can be.

    Raises
    ------
    InputError
        What `likelihood_of` refuses.
    SolverError
        No mode is found of the likeliest fits.

    Source: Leonard (1978), "Density estimation, stochastic processes and prior information"; Silverman (1982), "On the
    estimation of a probability density function by the maximum penalized likelihood method", for penalties of log
    densities.
    """
    components = places_of_atoms(grid, [table.promise for table in counts.mechanisms])
    likelihood = likelihood_of(counts, grid, atoms=components.places)
    exact, total = exact_loglik(likelihood), likelihood.total
    few = likelihood.counts.size <= FEW_ROWS
    pilot = likelihood if few else thinned_likelihood(counts, grid, components.places, PILOT_USERS)
    centre = _near(exact_loglik(pilot), pilot.total, components)
    fits = _searched(_expanded(exact, centre, total), total, components, progress)
    centre = components.weights(_best(fits))
    place = exact(centre)
    loglik = exact if few else _held(exact, place)
    fits = _likeliest(_refitted(loglik, total, components, _likeliest(fits)))
    drawn, offsets, masses = _draws(loglik, total, components, fits, draws)
    weights = drawn.mean(axis=0)
    steps = sum(one.fit.steps for one in fits)
    whole = np.concatenate([weights, np.zeros(components.places.size)])
    found = fit_of(evaluate(likelihood, whole, steps), likelihood, "log-density", Stop.CERTIFICATE)
    decrement = max(one.fit.decrement for one in fits)
    found = replace(found, weights=weights)
    return SmoothFit(components, tuple(fits), shares(fits), drawn, offsets, found, decrement, masses)


def _near(loglik: LoglikAt, total: float, components: Components) -> np.ndarray:
    """Weights that the reports agree with: of order one, the length chosen in an expansion about another's fit."""
    rough = fit_log_density(loglik, total, components, (), 1, FIRST_LENGTH)
    centre = components.weights(rough)
    best = _best(fit_log_densities(_expanded(loglik, centre, total), total, components, orders=(1,)))
    return components.weights(refit(loglik, total, components, best))


def _searched(
    loglik: LoglikAt, total: float, components: Components, progress: Callable[[int, int], None] | None
) -> list[LogDensity]:
    """Fits of every order and length without masses, and with more and more of them."""
    tell = progress or (lambda done, of: None)
    fits = fit_log_densities(loglik, total, components)
    tell(1, 1 + MOST_ATOMS)
    if not components.places.size:
        return fits
    mass = min(MOST_MASS, components.log_mass(_best(fits)))
    ranked = ranked_atoms(loglik, total, components, mass)[:MOST_ATOMS]
    behind, unsure = 0, list[LogDensity]()
    for number in range(1, len(ranked) + 1):
        best = _best([*fits, *unsure]).evidence
        try:
            more = fit_log_densities(loglik, total, components, ranked[:number], mass=mass)
        except SolverError:
            break  # those without so many masses are fitted
        unsure += more
        if _best(more).evidence >= _best(fits).evidence + SURE:
            fits, unsure = fits + unsure, []
        tell(1 + number, 1 + MOST_ATOMS)
        behind = behind + 1 if _best(more).evidence < best else 0
        if behind == FAILURES:
            break
    return fits


def _best(fits: Sequence[LogDensity]) -> LogDensity:
    return max(fits, key=lambda found: found.evidence)


def _likeliest(fits: Sequence[LogDensity]) -> list[LogDensity]:
    """Those whose probability is not far below that of the likeliest, from the likeliest."""
    share = shares(fits)
    order = np.argsort(-share, kind="stable")
    return [fits[k] for k in order if share[k] >= LEAST_SHARE * share.max()]


def _refitted(loglik: LoglikAt, total: float, components: Components, kept: Sequence[LogDensity]) -> list[LogDensity]:
    """Fits to the log-likelihood itself, of an expansion's; those whose mode is not found are left out if unlikely."""
    found, lost = list[LogDensity](), 0.0
    for one, share in zip(kept, shares(kept), strict=True):
        try:
            found.append(refit(loglik, total, components, one))
        except SolverError:
            lost += float(share)
            if lost > MOST_LOST:
                raise
    return found


def _expanded(exact: LoglikAt, centre: np.ndarray, total: float) -> LoglikAt:
    return expanded_loglik(exact(centre), centre, total)


class _Held:
    """A place whose information is that of another near by: Newton's method then needs no more of many users."""

    def __init__(self, place: WeightPlace, information: np.ndarray) -> None:
        self._place, self.information = place, information
        self.loglik = place.loglik

    @property
    def gradient(self) -> np.ndarray:
        return self._place.gradient


def _held(exact: LoglikAt, place: WeightPlace) -> LoglikAt:
    information = place.information
    return lambda weights: _Held(exact(weights), information)


def _draws(
    loglik: LoglikAt, total: float, components: Components, fits: Sequence[LogDensity], size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the grid's components, and how far their mean is off, drawn from each fit as often as it is likely;
    and the average mass at each place."""
    grid = components.grid
    deposit = deposits(grid, components.places)
    aside = components.places - deposit @ grid.points
    ends = np.round(np.concatenate([[0.0], np.cumsum(shares(fits))]) * size).astype(int)
    draws, offsets, masses = [], [], np.zeros(components.places.size)
    for found, share in zip(fits, np.diff(ends), strict=True):
        if not share:
            continue
        at = list(found.atoms)
        rng = np.random.default_rng([DRAW_SEED, found.order, LENGTHS.index(found.length), *at])
        place = components.some(loglik, found.atoms)(found.fit.weights)
        every = found.fit.model.weights(log_linear_draws(found.fit, place, total, int(share), rng))
        alone = every[:, grid.size :]
        draws.append(every[:, : grid.size] + alone @ deposit[at])
        offsets.append(alone @ aside[at])
        masses[at] += alone.sum(axis=0) / size
    return np.concatenate(draws), np.concatenate(offsets), masses
