"""Penalised likelihood: the smoothest distribution that explains the reports as well as held-out reports ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .likelihood import likelihood_of_parts
from .smoothed_em import ems

SMOOTHNESSES = np.logspace(-4.0, -13.0, 13)
"""Multipliers of the roughness that are tried, from the smoothest: from a parabola's stiffness down to a stiffness
that leaves a table's own resolution."""

REPEATS = 5
"""Times that the users are dealt into two halves, each judging the fit of the other.  Halves choose smoother fits than
tenths do, and are far wrong much less often."""

SPLIT_SEED = 0
"""Of the default halves: the same reports give the same estimate.  Any number would do."""

FALLS, ERRORS_BEHIND, NATS_BEHIND = 2, 2.0, 1.0
"""Multipliers in a row whose mean score is lower than that before, and by how many standard errors, and how much of the
log-likelihood of a half, the last must be behind the best: then no rougher one is tried.  From the best on fits get
worse and worse, but where reports say next to nothing the mean may fall by parts of a nat and rise again."""

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
        Its log-likelihood is without the penalty; its certificate and its bound are of the objective, with it.
    penalty : (K, K) ndarray
        Q of the objective log-likelihood / n - w^T Q w / 2.
    smoothness : float
        The multiplier chosen, or given.
    held_out : tuple of (float, float)
        Multipliers tried and the mean held-out log-likelihood per user of each; empty if it was given.
    likelihood : MixtureLikelihood
        That was penalised.
    """

    fit: MixtureFit
    penalty: np.ndarray
    smoothness: float
    held_out: tuple[tuple[float, float], ...]
    likelihood: MixtureLikelihood


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
    splitting the counts multinomially; each half is fitted for each s, from the largest, and judged by the other's
    likelihood, until the mean has fallen twice and by more than chance explains.  The largest s is taken whose mean is
    within one standard error of the best: the means are flat, and a fit that is too rough costs more than one that is
    too smooth.  One user alone, who cannot be halved, gets the largest s.

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
        Called with the number of multipliers tried, and that of all; the rest at once where they are not worth trying.

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
    likelihood, of = likelihood_of_parts(counts, grid)
    if grid.size < 3:
        fit = replace(fit_mixture(likelihood), method="penalised")
        return PenalisedMixture(fit, np.zeros((grid.size, grid.size)), 0.0, (), likelihood)
    pilot = ems(likelihood).weights
    roughness = roughness_form(grid, pilot)
    tried: tuple[tuple[float, float], ...] = ()
    if smoothness is None:
        pairs = _halves(counts, of, rng or np.random.default_rng(SPLIT_SEED))
        scores = _held_out(pairs, roughness, progress)
        smoothness = float(SMOOTHNESSES[_smoothest_of_the_best(scores)])
        tried = tuple(zip(SMOOTHNESSES[: scores.shape[1]].tolist(), scores.mean(axis=0).tolist(), strict=True))
    penalty = smoothness * roughness
    fit = fit_mixture(likelihood, start=pilot, penalty=penalty, certificate=CERTIFICATE)
    plain = replace(fit, loglik=likelihood.loglik(likelihood.mix(fit.weights)), method="penalised")
    return PenalisedMixture(plain, penalty, float(smoothness), tried, likelihood)


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


def _halves(
    counts: ReportCounts, of: Callable[[Sequence[np.ndarray]], MixtureLikelihood], rng: np.random.Generator
) -> list[tuple[MixtureLikelihood, MixtureLikelihood]]:
    """Return pairs of a half to fit and the one that judges it, both ways round."""
    pairs = []
    for _ in range(REPEATS):
        first = [rng.multinomial(group.counts, [0.5, 0.5])[:, 0] for group in counts.groups]
        parts = [first, [group.counts - own for group, own in zip(counts.groups, first, strict=True)]]
        if all(any(own.any() for own in part) for part in parts):  # else the few users have all been dealt to one half
            one, other = map(of, parts)
            pairs += [(one, other), (other, one)]
    return pairs


def _held_out(
    pairs: Sequence[tuple[MixtureLikelihood, MixtureLikelihood]],
    roughness: np.ndarray,
    progress: Callable[[int, int], None] | None,
) -> np.ndarray:
    """(H, S) log-likelihood per user of each half under the other half's fit, for the multipliers that are tried."""
    if not pairs:
        return np.zeros((1, SMOOTHNESSES.size))
    weights: list[np.ndarray | None] = [None] * len(pairs)
    scores = np.empty((len(pairs), 0))
    for number, smoothness in enumerate(SMOOTHNESSES):
        penalty, column = smoothness * roughness, []
        for k, (fitted, judge) in enumerate(pairs):
            fit = fit_mixture(fitted, start=weights[k], penalty=penalty, certificate=CERTIFICATE)
            weights[k] = fit.weights
            column.append(judge.loglik(judge.mix(fit.weights)) / judge.total)
        scores = np.column_stack([scores, column])
        done = _is_past(scores, pairs[0][0].total)
        if progress is not None:
            progress(SMOOTHNESSES.size if done else number + 1, SMOOTHNESSES.size)
        if done:
            break
    return scores


def _is_past(scores: np.ndarray, users: float) -> bool:
    """Whether the mean has fallen as often as one waits for, and is behind the best by what so many users can tell."""
    means = scores.mean(axis=0)
    if means.size <= FALLS or not (np.diff(means[-FALLS - 1 :]) < 0).all():
        return False
    behind, error = _behind(scores)
    return bool(behind[-1] > max(ERRORS_BEHIND * error[-1], NATS_BEHIND / users))


def _behind(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each multiplier is behind the best on average, and the standard error of that."""
    behind = scores[:, [scores.mean(axis=0).argmax()]] - scores
    return behind.mean(axis=0), behind.std(axis=0, ddof=min(1, len(scores) - 1)) / math.sqrt(len(scores))


def _smoothest_of_the_best(scores: np.ndarray) -> int:
    """Position of the smoothest multiplier that is behind the best by at most one standard error of the mean."""
    behind, error = _behind(scores)
    return int(np.argmax(behind <= error))
