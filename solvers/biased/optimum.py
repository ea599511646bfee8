"""The mechanism of least error of a mean, bias allowed, outputs free, with its certificate.

One interior-point path as in `robust.optimum`, with `newton` for the steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Progress, Status, check_tolerance, relative_gap
from ..robust.sets import BoxSet
from ..unbiased.pricing import price
from ..unbiased.primal_dual import FIRST_PRICING, OUTPUTS_PER_KNOT, REFINE_AT
from ..unbiased.refinement import refine_outputs
from ..unbiased.starting_point import starting_outputs, starting_point
from .adversary import Adversary
from .newton import ErrorIterate, error_step
from .program import ErrorProgram, MeanError, Multipliers

MAX_STEPS = 400
HEADROOM = 0.3


def run(program: ErrorProgram, tolerance=1e-4, verbose=False, max_steps=MAX_STEPS):
    box = program.priors
    n = len(program.knots)
    under = program.under(box.some_prior)
    point = starting_point(under, starting_outputs(under, max(OUTPUTS_PER_KNOT * n, 16)))
    v, b = program.moments(point.outputs, point.probabilities)
    adv = Adversary.start(box, float(program.users), v, HEADROOM * np.sqrt(program.users * float(v.mean())))
    it = ErrorIterate(replace(point, nu=adv.nu), adv)
    best, bestR, lower, mult = it, np.inf, 0.0, None
    N = program.users
    for step in range(max_steps):
        gap = it.complementarity
        err = program.error(it.point.outputs, it.point.probabilities)
        if err.rmse < bestR:
            best, bestR = it, err.rmse
        objective = N * err.rmse**2
        if gap < FIRST_PRICING * objective:
            a = it.adversary
            m = Multipliers(a.priors[0], a.priors[1] / a.totals[1], a.priors[2] / a.totals[2], *a.totals[1:], it.point.lam)
            bd = program.bound(m)
            loss = it.dual_objective - N * bd**2
            if bd > lower:
                lower, mult = bd, m
            if verbose:
                print(step, len(it.point.outputs), gap / objective, err, lower, loss / objective, adv.mismatch)
            if relative_gap(bestR, lower) <= tolerance:
                break
            if loss > REFINE_AT * gap:
                u = program.under(it.adversary.priors[0])
                point = refine_outputs(u, it.point, price(u, it.point.lam, it.point.nu), gap, loss)
                v, b = program.moments(point.outputs, point.probabilities)
                it = ErrorIterate(point, it.adversary.mended(v))
        elif verbose:
            print(step, len(it.point.outputs), gap / objective, err)
        it = error_step(program, it)
    return best, bestR, lower, mult, step
