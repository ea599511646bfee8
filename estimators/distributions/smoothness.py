"""Penalised likelihood: the smoothest distribution that explains the reports as well as held-out reports ask for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .likelihood import likelihood_of
from .smoothed_em import ems

SMOOTHNESSES = np.logspace(-4.0, -13.0, 13)
"""Multipliers of the roughness that are tried, from the smoothest: from a parabola's stiffness down to a stiffness
that leaves a table's own resolution."""

REPEATS = 5
"""Times that the users are dealt into two halves, each judging the fit of the other.  Halves choose smoother fits than
tenths do, and are far wrong much less often."""

SPLIT_SEED = 0
"""Of the default halves: the same reports give the same estimate.  Any number would do."""

LEAST_DENSITY = 0.05
"""Density, relative to the uniform one, below which a kink is not counted any dearer."""

CERTIFICATE = 1e-6
"""Objective per user that the fits may miss: the fits are compared by held-out likelihood, which is far noisier."""


@dataclass(frozen=True)
class PenalisedMixture:
    """A penalised fit and how its penalty was chosen.

    Parameters
    ----------
    fit : MixtureFit
        Its log-likelihood is without the penalty.
    penalty : (K, K) ndarray
        Q of the objective log-likelihood / n - w^T Q w / 2.
    smoothness : float
        The multiplier chosen, or given.
    held_out : tuple of (float, float)
        Multipliers tried and the mean held-out log-likelihood per user of each; empty if it was given.
    """

    fit: MixtureFit
    penalty: np.ndarray
    smoothness: float
    held_out: tuple[tuple[float, float], ...]


def penalised_likelihood(
    counts: ReportCounts,
    grid: InputGrid,
    *,
    smoothness: float | None = None,
    rng: np.random.Generator | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PenalisedMixture:
    r"""Maximise the log-likelihood per user less half of s times the roughness of the density.

    The roughness of a density f on the domain, scaled to [0, 1], is the integral of f''(x)^2 / max(q(x), 0.05): q is
    a first estimate by EMS, so that a kink counts relative to the density it stands in.  That is a quadratic form in
    the weights, the program stays concave, and the interior point comes with its certificate.

    The multiplier s is chosen by held-out likelihood: five times the users are dealt at random into two halves, by
    splitting the counts multinomially; each half is fitted for every s and judged by the other's likelihood.  The
    largest s is taken whose mean is within one standard error of the best: the means are flat, and a fit that is too
    rough costs more than one that is too smooth.  One user alone, who cannot be halved, gets the largest s.

    Parameters
    ----------
    counts : ReportCounts
    grid : InputGrid
        K cells or points; fewer than three have no roughness.
    smoothness : float, optional
        s, if it is known; default: chosen as above.
    rng : numpy.random.Generator, optional
        For the halves; default: a fixed seed, so that the same reports give the same estimate.
    progress : callable, optional
        Called with the number of fits done and of all fits.

    Returns
    -------
    penalised : PenalisedMixture

    Raises
    ------
    InputError
        A negative or infinite smoothness, and what `likelihood_of` refuses.

    Source: Good and Gaskins (1971), "Nonparametric roughness penalties for probability densities", for the idea;
    Eilers and Marx (1996) for difference penalties.
    """
    if smoothness is not None and not (smoothness >= 0 and math.isfinite(smoothness)):
        raise InputError(f"smoothness must be finite and not negative, got {smoothness!r}")
    likelihood = likelihood_of(counts, grid)
    if grid.size < 3:
        fit = replace(fit_mixture(likelihood), method="penalised")
        return PenalisedMixture(fit, np.zeros((grid.size, grid.size)), 0.0, ())
    pilot = ems(likelihood).weights
    roughness = roughness_form(grid, pilot)
    tried: tuple[tuple[float, float], ...] = ()
    if smoothness is None:
        scores = _held_out(counts, grid, roughness, rng or np.random.default_rng(SPLIT_SEED), progress)
        smoothness = float(SMOOTHNESSES[_smoothest_of_the_best(scores)])
        tried = tuple(zip(SMOOTHNESSES.tolist(), scores.mean(axis=0).tolist(), strict=True))
    penalty = smoothness * roughness
    fit = fit_mixture(likelihood, start=pilot, penalty=penalty, certificate=CERTIFICATE)
    plain = replace(fit, loglik=likelihood.loglik(likelihood.mix(fit.weights)), method="penalised")
    return PenalisedMixture(plain, penalty, float(smoothness), tried)


def roughness_form(grid: InputGrid, pilot: np.ndarray) -> np.ndarray:
    """Return the (K, K) form R with w^T R w the integral of f''^2 / max(q, 0.05) on the domain scaled to [0, 1].

    f is the density with weights w, w_k over the width of cell k at its point, and f'' its second divided
    difference; q is the pilot's density, averaged over three neighbours.

    Example
    -------
    >>> form = roughness_form(InputGrid.equal_cells(0.0, 5.0, 5), np.full(5, 0.2))
    >>> line = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
    >>> bool(abs(line @ form @ line) < 1e-12), round(float(np.eye(5)[2] @ form @ np.eye(5)[2]))
    (True, 18750)
    """
    width = np.diff(grid.edges) / (grid.edges[-1] - grid.edges[0])
    gaps = np.diff(grid.points) / (grid.edges[-1] - grid.edges[0])
    slope = np.diff(np.eye(grid.size) / width[:, None], axis=0) / gaps[:, None]
    spans = (gaps[1:] + gaps[:-1]) / 2
    bend = np.diff(slope, axis=0) / spans[:, None]
    density = pilot / width
    nearby = (density[:-2] + density[1:-1] + density[2:]) / 3
    scaled = bend * np.sqrt(spans / np.maximum(nearby, LEAST_DENSITY))[:, None]
    return scaled.T @ scaled


def _held_out(
    counts: ReportCounts,
    grid: InputGrid,
    roughness: np.ndarray,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None,
) -> np.ndarray:
    """(H, S) log-likelihood per user of each half under the other half's fit, for each multiplier."""
    scores = []
    for repeat in range(REPEATS):
        halves = [_present_likelihood(half, grid) for half in counts.split([1, 1], rng) if half.n_users]
        if len(halves) < 2:  # the few users have all been dealt to one half
            continue
        for number, (fitted, judge) in enumerate((halves, halves[::-1])):
            scores.append(_path_scores(fitted, judge, roughness) / judge.total)
            if progress is not None:
                progress(2 * repeat + number + 1, 2 * REPEATS)
    return np.array(scores) if scores else np.zeros((1, SMOOTHNESSES.size))


def _smoothest_of_the_best(scores: np.ndarray) -> int:
    """Position of the smoothest multiplier that is behind the best by at most one standard error of the mean."""
    behind = scores[:, [scores.mean(axis=0).argmax()]] - scores
    error = behind.std(axis=0, ddof=min(1, len(scores) - 1)) / math.sqrt(len(scores))
    return int(np.argmax(behind.mean(axis=0) <= error))


def _present_likelihood(half: ReportCounts, grid: InputGrid) -> MixtureLikelihood:
    """The likelihood of some of the users, who may have left out a service that others reported to."""
    present = sorted({j for group in half.groups for j in group.services})
    return likelihood_of(half if len(present) == len(half.services) else half.only(present), grid)


def _path_scores(fitted: MixtureLikelihood, judge: MixtureLikelihood, roughness: np.ndarray) -> np.ndarray:
    """Log-likelihood of one half under the other's fits, each fit started from the smoother one before it."""
    weights, scores = None, []
    for smoothness in SMOOTHNESSES:
        fit = fit_mixture(fitted, start=weights, penalty=smoothness * roughness, certificate=CERTIFICATE)
        weights = fit.weights
        scores.append(judge.loglik(judge.mix(weights)))
    return np.array(scores)
