"""From a prior and a budget to a mechanism, judged against the certified optimum."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...estimators.means.unbiasing import affine_unbiasing
from ...mechanisms import FAMILIES, InputError, TabulatedMechanism, ptt, ptt2
from ...mechanisms.budget import check_epsilon
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import require_private
from ...solvers import Progress, Status
from ..priors.prior import DEFAULT_FLOOR, Prior
from .lattice import lattice_mechanism
from .optimum import CertifiedOptimum, certified_optimum

METHODS = ("optimal", "aaa", *FAMILIES)
"""What `design` can build: the optimum, AAA's lattice, and every closed-form family."""

DEFAULT_TOLERANCE = 1e-6
"""Relative gap asked of the certificate: far below any difference that data could show."""


@dataclass(frozen=True, eq=False)
class Design:
    """A mechanism and what was recomputed from it.

    Attributes
    ----------
    mechanism : TabulatedMechanism
    method : str
    epsilon : float
    expected_variance : float
        Under the prior as given, without any floor; rounding between knots included; squared units.
    program_variance : float
        The same under the prior that was solved for, floor included.
    lower_bound : float
        Certified: no unbiased epsilon-LDP mechanism on the prior's knots has less under the prior solved for.
    worst_case_variance : float
        Largest over the whole domain, between knots too; squared units.
    max_log_ratio, max_abs_bias : float
        Of the table as returned.
    status : Status
        OPTIMAL when the solver behind the lower bound reached its tolerance, GAP_OPEN otherwise.
    seconds : float
        Wall time of this design, the bound included.
    """

    mechanism: TabulatedMechanism
    method: str
    epsilon: float
    expected_variance: float
    program_variance: float
    lower_bound: float
    worst_case_variance: float
    max_log_ratio: float
    max_abs_bias: float
    status: Status
    seconds: float

    @property
    def relative_gap(self) -> float:
        """(program variance - lower bound) / program variance: how far from optimal this can be at most."""
        return (self.program_variance - self.lower_bound) / self.program_variance


def design(
    prior: Prior,
    epsilon: float,
    *,
    method: str = "optimal",
    floor: float = DEFAULT_FLOOR,
    tolerance: float = DEFAULT_TOLERANCE,
    worst_case: bool = False,
    intervals: int | None = None,
    window: int | None = None,
    tail_ratio: float | None = None,
    exact: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Design:
    """Build a mechanism for a prior and certify how good it is.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Privacy budget.
    method : str
        One of `METHODS`.
    floor : float
        Uniform share mixed into the prior before solving, in [0, 1]; without it the program is indifferent to the
        variance at knots of no mass.  The expected variance is reported under the prior as given all the same.
    tolerance : float
        Relative gap of the certificate to reach.
    worst_case : bool
        For "ptt" and "ptt2": minimise the largest variance over the domain instead of the expected one.
    intervals, window, tail_ratio : optional
        N, M and r of "aaa".
    exact : bool
        Whether to make the table exact (see `make_exact`), which costs less than a millionth of the variance; only
        exact tables are for clients. Laplace's and ptt2's cells become points.
    progress : callable, optional
        Called with `Progress` after each solver step.

    Raises
    ------
    InputError
        An epsilon, method or option that is not usable.
    SolverError
        No solution was found.

    Source: theory of the optimum: solvers/unbiased/program.py; AAA: Wei et al. (2024); PTT: Ma, Zhu and Wang (OPTT).

    Example
    -------
    >>> from optldp.designer import Prior
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> best = design(prior, 1.0)
    >>> best.relative_gap < 1e-6, best.expected_variance < design(prior, 1.0, method="duchi").expected_variance
    (True, True)
    """
    return against_optimum(
        prior,
        check_epsilon(epsilon),
        method=method,
        floor=floor,
        tolerance=tolerance,
        worst_case=worst_case,
        intervals=intervals,
        window=window,
        tail_ratio=tail_ratio,
        exact=exact,
        progress=progress,
    )[0]


def against_optimum(
    prior: Prior,
    epsilon: float,
    *,
    method: str,
    floor: float,
    tolerance: float,
    worst_case: bool = False,
    intervals: int | None = None,
    window: int | None = None,
    tail_ratio: float | None = None,
    exact: bool = False,
    progress: Callable[[Progress], None] | None = None,
    optimum: CertifiedOptimum | None = None,
) -> tuple[Design, CertifiedOptimum]:
    """As `design`, with the optimum handed back, or handed in where it is known already."""
    _check_options(method, tolerance, worst_case, (intervals, window, tail_ratio))
    started = time.perf_counter()
    solved = prior.floored(floor)
    if optimum is None:
        optimum = certified_optimum(solved, epsilon, tolerance=tolerance, progress=progress)
    if method == "optimal":
        mechanism = optimum.mechanism
    elif method == "aaa":
        mechanism = lattice_mechanism(solved, epsilon, intervals=intervals, window=window, ratio=tail_ratio)
    else:
        mechanism = _family(solved, epsilon, method, worst_case)
    if exact:
        mechanism = exact_if_possible(mechanism)
    result = _judge(mechanism, method, prior, solved, optimum, floor)
    return replace(result, seconds=time.perf_counter() - started), optimum


def _check_options(method: str, tolerance: float, worst_case: bool, lattice: tuple[float | None, ...]) -> None:
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")
    if worst_case and method not in ("ptt", "ptt2"):
        raise InputError(f"worst_case is an option of ptt and ptt2, got method {method!r}")
    if method != "aaa" and any(option is not None for option in lattice):
        raise InputError(f"intervals, window and tail_ratio are options of aaa, got method {method!r}")


def _family(prior: Prior, epsilon: float, method: str, worst_case: bool) -> TabulatedMechanism:
    """Tabulate a closed-form family, relabelled where its reports are biased so that their average is not."""
    if method in ("ptt", "ptt2"):
        low, high = prior.domain
        centred = (prior.knots - 0.5 * (low + high)) / (0.5 * (high - low))
        moment = 1.0 if worst_case else float(prior.weights @ centred**2)
        build = ptt if method == "ptt" else ptt2
        return build(prior.knots, epsilon, second_moment=moment)
    mechanism = FAMILIES[method](prior.knots, epsilon)
    if mechanism.provenance.parameters.get("unbiased") is True:
        return mechanism
    unbiasing = affine_unbiasing(mechanism)
    if unbiasing is None:
        low, high = prior.domain
        raise InputError(
            f"the domain must be wide enough for its distance from zero that {method} can be unbiased, "
            f"got [{low:.9g}, {high:.9g}]: subtract an offset from the values"
        )
    scale, shift = unbiasing
    mechanism = mechanism.affine(1 / scale, -shift / scale)
    provenance = mechanism.provenance
    return mechanism.with_provenance(replace(provenance, parameters={**provenance.parameters, "unbiased": True}))


def _judge(
    mechanism: TabulatedMechanism,
    method: str,
    prior: Prior,
    solved: Prior,
    optimum: CertifiedOptimum,
    floor: float,
) -> Design:
    own, program = prior, solved
    if len(mechanism.knots) != len(prior.knots):
        own, program = prior.coarsened(mechanism.knots), solved.coarsened(mechanism.knots)
    mechanism = replace(mechanism, prior=own.knot_prior, units=prior.units)
    checked = require_private(mechanism)
    variance = mechanism.expected_variance(program.knot_prior)
    expected = mechanism.expected_variance(own.knot_prior)
    certificate = {
        "expected_variance": expected,
        "program_variance": variance,
        "lower_bound": optimum.lower_bound,
        "relative_gap": (variance - optimum.lower_bound) / variance,
        "worst_case_variance": checked.worst_case_variance,
        "floor": floor,
        "status": str(optimum.status),
    }
    mechanism = mechanism.with_provenance(replace(mechanism.provenance, method=method, certificate=certificate))
    return Design(
        mechanism,
        method,
        mechanism.epsilon,
        expected,
        variance,
        optimum.lower_bound,
        checked.worst_case_variance,
        checked.max_log_ratio,
        checked.max_abs_bias,
        optimum.status,
        0.0,
    )
