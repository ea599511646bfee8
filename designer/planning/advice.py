"""Which mechanism, and which estimator for its reports: compared for the case at hand before anyone is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...estimators.distributions.distribution import DistributionEstimate
from ...estimators.frequencies.frequencies import FrequencyEstimate
from ...estimators.methods import OF_ONE_SERVICE, DistributionMethod
from ...mechanisms import InputError
from ...mechanisms.budget import check_epsilon
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import Dots, Told
from ..comparison.judging import solve_methods
from ..methods.registry import METHODS
from ..objectives.base import DEFAULT_TOLERANCE
from ..priors.categorical import CategoricalPrior
from ..priors.prior import DEFAULT_UNIFORM_SHARE, Prior
from .bootstrap import LINEAR, AdviceRow, Case, bootstrap_rows, check_choices, linear_row
from .categories import DEFAULT_ORACLES, FREQUENCY_ESTIMATORS, KNOWN_ORACLES, as_categorical_prior, category_rows

ESTIMATORS = (*LINEAR, *OF_ONE_SERVICE)
"""What can be done with reports: two unbiased means, and the mean of five estimates of the distribution."""

SLOW = ("smooth", "penalised")
DEFAULT_ESTIMATORS = tuple(name for name in ESTIMATORS if name not in SLOW)
"""Those whose whole simulation takes well under a minute; the others take minutes, and are there when asked for."""

DEFAULT_MECHANISMS = ("optimal", "piecewise", "duchi", "hybrid", "laplace", "square-wave", "ptt")
"""The optimum, the mechanisms for means that most papers compare, and the usual one for distributions."""

DEFAULT_REPETITIONS = 50
"""The Monte Carlo error of a mean squared error is then about sqrt(2 / 50), a fifth of it."""


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """All that was compared, best first.

    Attributes
    ----------
    rows : tuple of AdviceRow
        By increasing expected squared error of the mean, or of a frequency.
    left_out : tuple of (mechanism, estimator, reason)
        What cannot be had: an unbiased mean from a table without one.
    n, repetitions : int
    epsilon : float

    Example
    -------
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> rng = np.random.default_rng(1)
    >>> advise(prior, 10_000, 1.0, rng=rng, mechanisms=["optimal", "duchi"], estimators=["ua"])
    Advice(n=10000, epsilon=1, mechanism='optimal', estimator='ua', mse=0.0112032, compared=2)
    """

    rows: tuple[AdviceRow, ...]
    left_out: tuple[tuple[str, str, str], ...]
    n: int
    epsilon: float
    repetitions: int

    def _line(self) -> dict[str, Any]:
        best = self.best
        found = {"mechanism": best.mechanism, "estimator": best.estimator, "mse": best.mse.value}
        return {"n": self.n, "epsilon": self.epsilon} | found | {"compared": len(self.rows)}

    def _told(self) -> Told:
        names = [f"{row.mechanism}, {row.estimator}" for row in self.rows]
        errors, reach = (np.array([getattr(row.mse, name) for row in self.rows]) for name in ("value", "error"))
        ends = np.sqrt(np.maximum([errors, errors - 2 * reach, errors + 2 * reach], 0.0))
        what = "root of the expected squared error"
        return Told(self._line(), self._columns(), Dots(names, ends[0], what, ends[1], ends[2]))

    def _columns(self) -> dict[str, Any]:
        def numbers(name: str) -> list[float]:
            found = [getattr(row, name) for row in self.rows]
            return [math.nan if number is None else number.value for number in found]

        return {
            "mechanism": [row.mechanism for row in self.rows],
            "estimator": [row.estimator for row in self.rows],
            "mse": numbers("mse"),
            "mse_std_error": [row.mse.error for row in self.rows],
            "jensen_shannon": numbers("jensen_shannon"),
            "wasserstein": numbers("wasserstein"),
        }

    @property
    def best(self) -> AdviceRow:
        """The row of least expected squared error."""
        return self.rows[0]

    @property
    def best_distribution(self) -> AdviceRow | None:
        """The row of least expected Wasserstein distance, of categories Jensen-Shannon; None without a distribution."""
        distances = [row.wasserstein or row.jensen_shannon for row in self.rows]
        found = [(distance.value, place) for place, distance in enumerate(distances) if distance is not None]
        return self.rows[min(found)[1]] if found else None


def advise(
    prior: Prior | DistributionEstimate | CategoricalPrior | FrequencyEstimate,
    n: int,
    epsilon: float,
    *,
    rng: np.random.Generator,
    mechanisms: Sequence[str] | None = None,
    estimators: Sequence[str] | None = None,
    repetitions: int = DEFAULT_REPETITIONS,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Callable[[str, str], None] | None = None,
) -> Advice:
    r"""Say what error each mechanism with each estimator will make, for n clients whose values follow the prior.

    A value between knots is rounded to one of them before anything else happens, so reports depend on the prior's
    weights alone and the simulation is exact for any values that have them. The truth is the prior: its mean, and its
    weights as a distribution. Errors include that n clients are a sample.

    For the unbiased estimators nothing is drawn: with decoded reports d, E (mean - truth)^2 = Var(d) / n, the
    variance taken over values and reports. The others cost mechanisms x estimators x repetitions fits, whose time does
    not depend on n: at 33 to 101 knots some hundredths of a second for "em" and "ems", a tenth or two for "mr", and
    half a second or more for "smooth" and "penalised", which are therefore left to those who ask for them.

    For categories errors are those of a frequency, averaged over the categories; the unbiased estimate has them in
    closed form, all others by simulation, in which `mr` with its variants stands beside `em`: which of them errs less
    depends on how many categories are small against the noise.

    Parameters
    ----------
    prior : Prior, DistributionEstimate, CategoricalPrior or FrequencyEstimate
        What is known, or was estimated, of the values. An estimate is taken as the truth, that of frequencies as the
        distribution nearest to it.
    n : int
        Clients, at least 2.
    epsilon : float
    rng : numpy.random.Generator
        A row depends on the generator and on what it is a row of, not on which other rows there are.
    mechanisms : sequence of str, optional
        Out of `METHODS`; for categories out of `KNOWN_ORACLES`, by default GRR and OLH.
    estimators : sequence of str, optional
        Out of `ESTIMATORS`, by default all but "smooth" and "penalised": "ua" averages raw reports; "decoder" averages
        one value per output, the unbiased ones of least variance under the prior; the others estimate the distribution.
        For categories out of `FREQUENCY_ESTIMATORS`, by default all.
    repetitions : int
        At least 2.
    uniform_share, tolerance : float
        As in `design`, for numbers alone.
    progress : callable, optional
        Called with the mechanism and the estimator after each piece of work, `pieces_of_work` times in all.

    Raises
    ------
    InputError
        Anything of the above is not usable, or no row is left.

    Source: the bootstrap that the EM-MR paper proposes in its section VII.

    Example
    -------
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> advice = advise(prior, 1000, 1.0, estimators=["ua"], rng=np.random.default_rng(1))
    >>> advice.best.mechanism, [round(1000 * row.mse.value, 2) for row in advice.rows[:2]]
    ('optimal', [3.79, 3.98])
    """
    budget = check_epsilon(epsilon)
    of_categories = isinstance(prior, CategoricalPrior | FrequencyEstimate)
    mechanisms, estimators = choices(of_categories, mechanisms, estimators)
    known = (KNOWN_ORACLES, tuple(FREQUENCY_ESTIMATORS)) if of_categories else (METHODS, ESTIMATORS)
    check_choices(n, repetitions, {"mechanisms": (mechanisms, known[0]), "estimators": (estimators, known[1])})
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: pass numpy.random.default_rng()")
    seed = int(rng.integers(2**63))
    if of_categories:
        made = category_rows(
            as_categorical_prior(prior), n, budget, mechanisms, estimators, repetitions, seed, progress
        )
        return _ordered(made, (), n, budget, repetitions)
    truth = prior if isinstance(prior, Prior) else _as_prior(prior)
    chosen: list[DistributionMethod] = [name for name in OF_ONE_SERVICE if name in estimators]
    rows: list[AdviceRow] = []
    left_out: list[tuple[str, str, str]] = []
    solved = solve_methods(truth, budget, dict.fromkeys(mechanisms), uniform_share=uniform_share, tolerance=tolerance)
    for error in solved.failures.values():
        raise error
    for name, made in solved.designs.items():
        case = Case(name, made.mechanism, truth, n)
        for estimator in (other for other in LINEAR if other in estimators):
            row = linear_row(case, estimator)
            if isinstance(row, AdviceRow):
                rows.append(row)
            else:
                left_out.append((name, estimator, row))
            if progress is not None:
                progress(name, estimator)
        if chosen:
            rows += bootstrap_rows(case, chosen, repetitions, (seed, METHODS.index(name)), progress)
    if not rows:
        raise InputError(f"some estimator must suit some mechanism, got none: {left_out[0][2]}")
    return _ordered(rows, tuple(left_out), n, budget, repetitions)


def _ordered(
    rows: Sequence[AdviceRow], left_out: tuple[tuple[str, str, str], ...], n: int, epsilon: float, repetitions: int
) -> Advice:
    return Advice(tuple(sorted(rows, key=lambda row: row.mse.value)), left_out, n, epsilon, repetitions)


def choices(
    of_categories: bool, mechanisms: Sequence[str] | None, estimators: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    """Return mechanisms and estimators, the default ones where none were given.

    Example
    -------
    >>> choices(True, None, ["em"])
    (('grr', 'olh'), ['em'])
    """
    defaults = (
        (DEFAULT_ORACLES, tuple(FREQUENCY_ESTIMATORS)) if of_categories else (DEFAULT_MECHANISMS, DEFAULT_ESTIMATORS)
    )
    return defaults[0] if mechanisms is None else mechanisms, defaults[1] if estimators is None else estimators


def pieces_of_work(mechanisms: Sequence[str], estimators: Sequence[str], repetitions: int) -> int:
    """Return how often `advise` will call its progress.

    Example
    -------
    >>> pieces_of_work(["duchi", "optimal"], ["ua", "em", "mr"], 50)
    202
    """
    exact = set(estimators) & {*LINEAR, "unbiased"}
    return len(set(mechanisms)) * (len(exact) + repetitions * len(set(estimators) - exact))


def _as_prior(estimate: DistributionEstimate) -> Prior:
    """Return an estimate as what is known of the values; flat cells become bins between their edges as knots."""
    grid, source = estimate.grid, "private-report"
    if grid.flat:
        return Prior.from_histogram(grid.edges, estimate.value, knots=grid.edges, source=source)
    return Prior.on_knots(grid.points, estimate.value, source=source)
