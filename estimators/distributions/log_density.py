"""Log-density fits of all orders and lengths of smoothness to one likelihood, weighed by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import SolverError
from ...solvers.likelihood.log_linear import LoglikAt, LogLinear, LogLinearFit, WeightPlace, fit_log_linear
from ..input_grid import InputGrid
from .log_splines import log_spline_basis

ORDERS = (1, 2, 3)
"""Of the differences that are penalised: one lets densities jump, three leaves normal ones alone."""

LENGTHS = tuple(2.0 ** (2 - k) for k in range(11))
"""Lengths of smoothness tried, in widths of the domain, from the smoothest: at four a density is the exponential of a
polynomial, at 1/256 it changes within what a spline can show."""

NATS_BEHIND = 12.0
"""Evidence behind the best of its order at which no rougher fit is tried: it would have 6e-6 of its weight."""

ATOM_SD = 3.0
"""Prior standard deviation of the logarithm of a point mass's odds."""

ATOM_MEAN = -2.0
"""Its prior mean: an eighth of the rest."""


@dataclass(frozen=True, eq=False)
class Components:
    """The grid's components, and after them places that may have a mass of their own.

    Parameters
    ----------
    grid : InputGrid
        K components.
    places : (C,) ndarray of float
        Where there may be atoms.
    chances : (C,) ndarray of float
        The prior probability of each.
    """

    grid: InputGrid
    places: np.ndarray
    chances: np.ndarray

    def log_prior(self, atoms: Sequence[int]) -> float:
        """Logarithm of the prior probability that exactly these places have a mass of their own."""
        has = np.zeros(self.places.size, dtype=bool)
        has[list(atoms)] = True
        return float(np.log(np.where(has, self.chances, 1.0 - self.chances)).sum())

    def kept(self, atoms: Sequence[int]) -> np.ndarray:
        """Positions of the grid's components and of these atoms among all."""
        return np.concatenate([np.arange(self.grid.size), self.grid.size + np.array(list(atoms), dtype=int)])

    def weights(self, found: LogDensity) -> np.ndarray:
        """(K + C,) weights of a fit, zero where it has no atom."""
        full = np.zeros(self.grid.size + self.places.size)
        full[self.kept(found.atoms)] = found.fit.weights
        return full

    def log_mass(self, found: LogDensity) -> float:
        """Logarithm of the sum of exp(log density) of a fit without atoms, which its weights are divided by."""
        logs = found.fit.model.offset + found.fit.model.basis @ found.fit.z
        return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))

    def some(self, loglik: LoglikAt, atoms: Sequence[int]) -> LoglikAt:
        """The log-likelihood as a function of the weights of the grid's components and these atoms alone."""
        kept, size = self.kept(atoms), self.grid.size + self.places.size
        last: tuple[np.ndarray, np.ndarray] | None = None

        def among(information: np.ndarray) -> np.ndarray:
            nonlocal last
            if last is None or last[0] is not information:  # an expansion's is the same everywhere
                last = information, information[np.ix_(kept, kept)]
            return last[1]

        def at(weights: np.ndarray) -> WeightPlace:
            full = np.zeros(size)
            full[kept] = weights
            return _Some(loglik(full), kept, among)

        return at


@dataclass(frozen=True, eq=False)
class LogDensity:
    """One fit: an order, a length, atoms, and the mode.

    Parameters
    ----------
    order : int
    length : float
    atoms : tuple of int
        Positions among the places that have a mass of their own here.
    fit : LogLinearFit
        Weights of the grid's components, and then of the atoms.
    evidence : float
        Logarithm of the probability of the counts and of these atoms, nats.
    """

    order: int
    length: float
    atoms: tuple[int, ...]
    fit: LogLinearFit
    evidence: float


class _Some:
    """A log-likelihood's place as a function of the weights of some components."""

    def __init__(self, place: WeightPlace, kept: np.ndarray, among: Callable[[np.ndarray], np.ndarray]) -> None:
        self._place, self._kept, self._among = place, kept, among
        self.loglik = place.loglik

    @property
    def gradient(self) -> np.ndarray:
        return self._place.gradient[self._kept]

    @property
    def information(self) -> np.ndarray:
        return self._among(self._place.information)


def fit_log_density(
    loglik: LoglikAt,
    total: float,
    components: Components,
    atoms: Sequence[int],
    order: int,
    length: float,
    *,
    mass: float = 0.0,
    near: LogDensity | None = None,
) -> LogDensity:
    """Fit one order and length of smoothness with these atoms.

    Parameters
    ----------
    loglik : callable
        Of the weights of all (K + C,) components.
    total : float
        Observations.
    components : Components
    atoms : sequence of int
        Places that have a mass of their own.
    order : int
    length : float
    mass : float
        Logarithm of the sum of exp(log density) that the atoms' prior odds refer to.
    near : LogDensity, optional
        A fit of the same order and atoms, to start from.
    """
    size, chosen = components.grid.size, tuple(atoms)
    width = np.diff(components.grid.edges) / (components.grid.edges[-1] - components.grid.edges[0])
    offset = np.concatenate([np.log(width), np.full(len(chosen), mass + ATOM_MEAN)])
    smooth = log_spline_basis(components.grid, order, length)
    basis = np.zeros((size + len(chosen), smooth.shape[1] + len(chosen)))
    basis[:size, : smooth.shape[1]] = smooth
    basis[size:, smooth.shape[1] :] = ATOM_SD * np.eye(len(chosen))
    start = None
    if near is not None:  # the same log density, said in the new scale
        start, known = np.zeros(basis.shape[1]), near.fit.z.size - len(chosen)
        shared = min(known, smooth.shape[1])
        start[:shared], start[smooth.shape[1] :] = near.fit.z[:shared], near.fit.z[known:]
        start[order - 1 : shared] *= (length / near.length) ** (order - 0.5)
    fit = fit_log_linear(components.some(loglik, chosen), total, LogLinear(offset, basis), start)
    return LogDensity(order, length, chosen, fit, fit.evidence + components.log_prior(chosen))


def refit(loglik: LoglikAt, total: float, components: Components, found: LogDensity) -> LogDensity:
    """Return the fit of the same order, length and atoms to another log-likelihood near by."""
    fit = fit_log_linear(components.some(loglik, found.atoms), total, found.fit.model, found.fit.z)
    return replace(found, fit=fit, evidence=fit.evidence + components.log_prior(found.atoms))


def fit_log_densities(
    loglik: LoglikAt,
    total: float,
    components: Components,
    atoms: Sequence[int] = (),
    *,
    mass: float = 0.0,
    orders: Sequence[int] = ORDERS,
) -> list[LogDensity]:
    """Fit every order and length of smoothness with the same atoms, from the smoothest, each from the one before.

    A length whose mode is not found ends its order, unless it is the first.  Parameters are as in `fit_log_density`;
    `orders` are those to fit.
    """
    found = list[LogDensity]()
    for order in orders:
        near, best = None, -np.inf
        for length in LENGTHS:
            try:
                near = fit_log_density(loglik, total, components, atoms, order, length, mass=mass, near=near)
            except SolverError:
                if near is None:
                    raise
                break  # the mode of a density this rough is not found: it is left out, and what is rougher
            found.append(near)
            best = max(best, near.evidence)
            if near.evidence < best - NATS_BEHIND:
                break
    return found


def shares(fits: Sequence[LogDensity]) -> np.ndarray:
    """Return the posterior probability of each fit, orders and lengths being equally likely beforehand."""
    evidence = np.array([found.evidence for found in fits])
    raised = np.exp(evidence - evidence.max())
    return raised / raised.sum()
