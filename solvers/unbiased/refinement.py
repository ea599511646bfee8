"""Moving an interior point to a better set of outputs without losing feasibility.

New outputs are the local minima of F over the line, where a column would be priced in, and the points midway
between neighbouring minima.  The primal point moves by a *mean-preserving spread*: an old output hands a share of
its column to a new neighbour on either side, in the proportion that keeps its mean.  This is post-processing of the
reports, the same for every row, so normalisation, unbiasedness and every ratio survive exactly, and the new columns
inherit the pattern of their neighbours.  An old output that is dropped hands over its whole column.  The dual point
moves by lowering lambda until F > 0 on the new outputs, and is then centred.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array, Flags, Indices
from .dual_centring import centre_slacks
from .interior_point import Iterate
from .pricing import Pricing
from .unbiased_program import UnbiasedProgram

NEAR = 10.0
"""Outputs with F below this many times the current gap, per unit of floor, stay or come in."""

MASS = 1e-3
"""Outputs stay whose floor t is above this share of the average 1/m."""

SEPARATION = 0.02
"""Least distance of a new output from others, in units of sqrt(gap/E), the width over which F changes by the gap."""

SPREAD_COST = 0.5
"""The spread may raise the objective by this share of the gap."""

LARGEST_SPREAD = 0.5
"""And never moves more than this share of a kept column."""

CLEARANCE = 0.3
"""Lambda is lowered further than F >= 0 needs by this share of the dual loss being repaired."""

TOUCHING = 1e-3
"""F counts as non-negative from minus this share of what lowering lambda by the dual loss adds to it."""

SHIFTS = 100
"""Newton steps allowed for the dual shift; the slope falls from at most E to at least 1, a dozen are typical."""


def refine_outputs(program: UnbiasedProgram, it: Iterate, pricing: Pricing, gap: float, loss: float) -> Iterate:
    """Return the iterate on refined outputs.

    Parameters
    ----------
    it : Iterate
        Primal feasible, dual feasible on its own outputs.
    pricing : Pricing
        Of the iterate's multipliers.
    gap : float
        Complementarity gap on the present outputs.
    loss : float
        Dual objective minus the certified bound: what the present outputs cost.
    """
    # A column of floor t is worth F t; the floors add up to sum t, so F is of size gap / sum t where it matters.
    scale = 1 / it.t.sum()
    near = NEAR * max(gap, loss) * scale
    own = program.column_values(program.reduced_costs(program.offsets(it.outputs), it.lam, it.nu))
    keep = (it.t * len(it.t) > MASS) | (own < near)
    keep[[0, -1]] = True
    outputs = _merge(
        it.outputs[keep],
        _candidates(program, it, pricing, near),
        SEPARATION * np.sqrt(near / NEAR / program.ratio),
    )
    kernel = _spread_kernel(program, it, keep, outputs, SPREAD_COST * gap)
    lam = _lowered(program, it, outputs, CLEARANCE * loss)
    g = program.reduced_costs(program.offsets(outputs), lam, it.nu)
    zs, zu, _ = centre_slacks(g, program.ratio, program.barrier_weights)
    return replace(it, outputs=outputs, lam=lam, t=it.t @ kernel, s=it.s @ kernel, u=it.u @ kernel, zs=zs, zu=zu)


def _candidates(program: UnbiasedProgram, it: Iterate, pricing: Pricing, near: float) -> Array:
    minima = pricing.outputs
    candidates = np.concatenate([minima, 0.5 * (minima[1:] + minima[:-1])])
    values = program.column_values(program.reduced_costs(program.offsets(candidates), it.lam, it.nu))
    return np.sort(candidates[values < near])


def _merge(kept: Array, added: Array, separation: float) -> Array:
    """Return the union, without added points closer than `separation` to a kept or an earlier added one."""
    after = np.clip(np.searchsorted(kept, added), 0, len(kept) - 1)
    distance = np.minimum(np.abs(added - kept[np.maximum(after - 1, 0)]), np.abs(kept[after] - added))
    added = added[distance > separation]
    if len(added):
        added = added[np.concatenate([[True], np.diff(added) > separation])]
    return np.union1d(kept, added)


def _spread_kernel(program: UnbiasedProgram, it: Iterate, keep: Flags, outputs: Array, allowance: float) -> Array:
    """Return the row-stochastic, mean-preserving (m_old, m_new) kernel."""
    old = it.outputs
    stay = np.zeros((len(old), len(outputs)))
    spread = np.zeros_like(stay)
    rise = np.zeros(len(old))
    home = np.searchsorted(outputs, old)
    kept = home[keep]
    for a in range(len(old)):
        left, right = _targets(kept, home[a], bool(keep[a]), len(outputs))
        if keep[a]:
            stay[a, home[a]] = 1
        if not left or not right:
            spread[a, home[a]] = 1
            continue
        pairs = max(len(left), len(right))
        for k in range(pairs):
            low, high = left[-1 - k % len(left)], right[k % len(right)]
            up = (old[a] - outputs[low]) / (outputs[high] - outputs[low])
            spread[a, low] += (1 - up) / pairs
            spread[a, high] += up / pairs
            rise[a] += (outputs[high] - old[a]) * (old[a] - outputs[low]) / pairs
    stay[~keep] = spread[~keep]
    cost = float(program.weights @ it.probabilities[:, keep] @ rise[keep])
    share = min(LARGEST_SPREAD, allowance / cost) if cost > 0 else LARGEST_SPREAD
    return share * spread + (1 - share) * stay


def _targets(kept: Indices, home: int, is_kept: bool, count: int) -> tuple[list[int], list[int]]:
    """Return the positions left and right of an old output that may take over some of its column.

    They are the new outputs up to the next kept ones, or these where there are none; both lists are empty where a
    kept output has no new neighbour.
    """
    below = int(np.searchsorted(kept, home))
    above = below + 1 if is_kept else below
    low = int(kept[below - 1]) if below > 0 else -1
    high = int(kept[above]) if above < len(kept) else count
    left = list(range(low + 1, home))
    right = list(range(home + 1 if is_kept else home, high))
    if is_kept and not left and not right:
        return [], []
    if not left and low >= 0:
        left = [low]
    if not right and high < count:
        right = [high]
    return left, right


def _lowered(program: UnbiasedProgram, it: Iterate, outputs: Array, clearance: float) -> Array:
    """Return lambda lowered along the barrier weights until F >= 0 on the outputs, and by the clearance more.

    That costs what it lowers.  A clearance in F itself would cost the most where F rises least, at outputs of which
    no row has much.  F is concave and increasing in the shift, so Newton's method approaches its zero from the left.
    """
    w = program.barrier_weights[:, None]
    g = program.reduced_costs(program.offsets(outputs), it.lam, it.nu)
    shift = 0.0
    for _ in range(SHIFTS):
        shifted = g + shift * w
        slope = (np.where(shifted < 0, program.ratio, 1.0) * w).sum(0)
        lack = float((-program.column_values(shifted) / slope).max())
        if lack <= TOUCHING * clearance:
            return it.lam - (shift + clearance) * w[:, 0]
        shift += lack
    raise SolverError("the multipliers could not be made feasible on the refined outputs")
