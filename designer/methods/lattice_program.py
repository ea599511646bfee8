"""The linear program of AAA's lattice noise, and the repair that makes its answer exactly private.

Row i = 0..N is the input i, column k = -M..N+M the output k, both in lattice steps; the first and the last
column stand for their whole tail. The variables are those of the tails, u_i and v_i, and the probabilities
between them, all divided by the scale of their column,

    scale_k = (1-r) r^(k - M) for k >= M,   (1-r) r^(N - M - k) for k <= N - M,   1 between,

so that a tied entry is simply u_i or v_i in every column of the tail, and a column's privacy is a statement
about numbers of like size however small r^k or 1 - r is: T_k / e^epsilon <= X[i, k] <= T_k.

Where windows are wide no output on any row's tail has a probability, and what is left is the program of
`solvers.unbiased` on given outputs, which takes some hundredths of a second. That it is so is proved by multipliers.
With c_ik what is left of the cost of a unit of X[i, k] (tails summed up) and v_i the heights of a tail, all between 1
and e^epsilon if the least is 1, a tail and whatever else stands in its columns, at floors from e^-epsilon to 1, costs

    sum_i min(G_i, e^epsilon G_i) + sum_k min(F_k, e^-epsilon F_k),

or more, where G_i sums row i's tied c_ik and F_k = sum min(c_ik, e^epsilon c_ik) over the rows that are free at k.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...mechanisms.errors import SolverError
from ...solvers.linear_program import LinearProgram, Solver, solve_linear_program
from ...solvers.unbiased.fixed_outputs import solve_on_outputs
from ...solvers.unbiased.sparse_support import sparse_mechanism
from ...solvers.unbiased.unbiased_program import UnbiasedProgram

ATTEMPTS: tuple[tuple[float, Solver, float], ...] = (
    (1e-8, "ipm", 1e-10),
    (1e-6, "ipm", 1e-9),
    (1e-4, "simplex", 1e-9),
)
"""Share of the budget kept back for the repair, solver, and its tolerance: tried in turn. The first, with the
tightest tolerance that HiGHS accepts, is enough for budgets above 0.05; the others are for tiny ones."""

NOISE = 1e-12
"""Columns whose scaled probabilities are all below this are the solver's rounding, and are dropped."""

WITHIN = 1e-8
"""Relative gap of the program without tails."""

SPARE = 1e-9
"""The program without tails is solved for outputs nearer by this share, so that those meant reach all the means."""

FEWEST = 3
"""Outputs on no tail that make a program."""

RESTORE_STEPS = 3
"""Newton-like steps that restore sums and means; the second already works on rounding errors."""


@dataclass(frozen=True)
class LatticeShape:
    """Shape of the program: N intervals, noise free up to M steps (2 M > N), tails of ratio r."""

    intervals: int
    window: int
    ratio: float

    @cached_property
    def columns(self) -> np.ndarray:
        """Outputs -M, ..., N + M in steps; (K,)."""
        return np.arange(-self.window, self.intervals + self.window + 1)

    @cached_property
    def noise(self) -> np.ndarray:
        """k - i; (n, K)."""
        return self.columns - np.arange(self.intervals + 1)[:, None]

    @cached_property
    def scale(self) -> np.ndarray:
        """Factor between X[., k] and the probability of output k alone; (K,)."""
        beyond = np.maximum(self.columns - self.window, self.intervals - self.window - self.columns)
        return np.where(beyond < 0, 1.0, (1 - self.ratio) * self.ratio ** np.maximum(beyond, 0))

    @cached_property
    def tied(self) -> np.ndarray:
        """Whether an entry is on its row's tail; (n, K)."""
        return np.abs(self.noise) >= self.window

    @cached_property
    def variable(self) -> np.ndarray:
        """Number of the variable behind X[i, k]: u_i, then v_i, then the free entries; (n, K)."""
        n = self.intervals + 1
        row = np.arange(n)[:, None]
        numbers = np.where(self.noise > 0, row, n + row)
        numbers[~self.tied] = 2 * n + np.arange(np.count_nonzero(~self.tied))
        return numbers

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mass, first and second noise moment per unit of X, end columns summed over their tail; (n, K) each.

        With d the noise at the start of a tail: sum_l r^l = 1/(1-r), sum_l l r^l = r/(1-r)^2 and
        sum_l l^2 r^l = r (1+r)/(1-r)^3 give sum_l r^l (d+l)^2. Over a row's whole tail these add up to the
        edge weight M^2/(1-r) + (2M-1) r/(1-r)^2 + 2 r/(1-r)^3 of AAA's objective (eq. 14).
        """
        r, noise = self.ratio, self.noise.astype(np.float64)
        mass, first, second = np.ones_like(noise), noise.copy(), noise**2
        for column, sign in ((0, -1.0), (-1, 1.0)):
            distance = np.abs(noise[:, column])
            mass[:, column] = 1 / (1 - r)
            first[:, column] = sign * (distance / (1 - r) + r / (1 - r) ** 2)
            second[:, column] = distance**2 / (1 - r) + 2 * distance * r / (1 - r) ** 2 + r * (1 + r) / (1 - r) ** 3
        return self.scale * mass, self.scale * first, self.scale * second


def optimal_noise(lattice: LatticeShape, weights: np.ndarray, epsilon: float) -> np.ndarray:
    """Probabilities of every output given every input, of least expected noise variance.

    Parameters
    ----------
    lattice : LatticeShape
    weights : (n,) ndarray of float
        Prior of the inputs.
    epsilon : float
        Budget that must never be exceeded.

    Returns
    -------
    probabilities : (n, K) ndarray of float
        Rows sum to one and have mean x_i to rounding; the first and last column hold the whole tail's mass.

    Raises
    ------
    SolverError
        The family holds no unbiased private mechanism, or the solver or the repair failed.
    """
    mass, first, _ = lattice.moments()
    failure = ""
    reserve = ATTEMPTS[0][0]
    if (found := _without_tails(lattice, weights, float(np.exp(epsilon * (1 - reserve))))) is not None:
        restored, strain = _restored(lattice, found, mass, first)
        if _repaired(strain, epsilon, reserve):
            return restored * mass
    for reserve, solver, tolerance in ATTEMPTS:
        ratio = float(np.exp(epsilon * (1 - reserve)))
        program = _program(lattice, weights, ratio)
        try:
            solution = solve_linear_program(program, solver=solver, tolerance=tolerance).x
        except SolverError as error:
            failure = failure or str(error)
            continue
        restored, strain = _restored(lattice, _pressed(lattice, solution, ratio), mass, first)
        if _repaired(strain, epsilon, reserve):
            return restored * mass
        failure = f"the solver's answer is too coarse to repair (rows would change by {strain:.1e})"
    raise SolverError(failure)


def _repaired(strain: float, epsilon: float, reserve: float) -> bool:
    """Whether factors in [1 - s, 1 + s], which change a log-ratio by less than 2 s/(1 - s), keep the budget."""
    return strain < 0.5 and 2 * strain / (1 - strain) < epsilon * reserve


def _without_tails(lattice: LatticeShape, weights: np.ndarray, ratio: float) -> np.ndarray | None:
    """The best probabilities (n, K) with none on any tail; None unless they are proved to be the best of all."""
    free = np.flatnonzero(~lattice.tied.any(axis=0))
    knots = 2 * np.arange(lattice.intervals + 1) / lattice.intervals - 1
    outputs = 2 * lattice.columns[free] / lattice.intervals - 1
    if len(outputs) < FEWEST:
        return None
    try:
        program = UnbiasedProgram(knots, weights / weights.sum(), ratio)
        found = solve_on_outputs(knots, program.weights, outputs / (1 + SPARE), ratio, tolerance=WITHIN)
        used, rows = sparse_mechanism(program, outputs, found.solution.floor)
    except SolverError:
        return None
    column = np.rint((used + 1) * lattice.intervals / 2).astype(np.intp) + lattice.window
    if np.abs(used - (2 * lattice.columns[column] / lattice.intervals - 1)).max() > 10 * SPARE * outputs[-1]:
        return None
    if min(_tail_costs(lattice, program, **found.multipliers)) < 0:
        return None
    probabilities = np.zeros(lattice.noise.shape)
    probabilities[:, column] = rows
    return probabilities


def _tail_costs(lattice: LatticeShape, program: UnbiasedProgram, lam: np.ndarray, nu: np.ndarray) -> list[float]:
    """The least that a left and a right tail can cost beyond what they are worth, per unit of their least height."""
    step, ratio = 2 / lattice.intervals, program.ratio
    mass, first, second = lattice.moments()
    costs = program.weights[:, None] * step**2 * second - lam[:, None] * mass - nu[:, None] * step * first
    found = []
    for side in (lattice.noise < 0, lattice.noise > 0):
        tied = lattice.tied & side
        own = np.where(tied, costs, 0.0).sum(axis=1)
        others = np.where(tied, 0.0, np.minimum(costs, ratio * costs)).sum(axis=0)[tied.any(axis=0)]
        found.append(float(np.minimum(own, ratio * own).sum() + np.minimum(others, others / ratio).sum()))
    return found


def _program(lattice: LatticeShape, weights: np.ndarray, ratio: float) -> LinearProgram:
    """Rows: sums, means in units of the reach, T - X >= 0, X - T/e^epsilon >= 0; columns: X's, then T."""
    n, k = lattice.noise.shape
    mass, first, second = lattice.moments()
    row, output = np.indices((n, k))
    size = int(lattice.variable.max()) + 1
    # The noise's reach, by its window or by its tails: the solver wants numbers near one.
    unit = max(lattice.window, 1 / (1 - lattice.ratio))

    def collected(data: np.ndarray, rows: np.ndarray, count: int) -> sparse.csc_array:
        return sparse.csc_array((data.ravel(), (rows.ravel(), lattice.variable.ravel())), shape=(count, size))

    entry = row * k + output
    entries = collected(np.ones((n, k)), entry, n * k)
    caps = sparse.csc_array((np.ones(n * k), (entry.ravel(), output.ravel())), shape=(n * k, k))
    matrix = sparse.block_array(
        [
            [collected(mass, row, n), sparse.csc_array((n, k))],
            [collected(first / unit, row, n), sparse.csc_array((n, k))],
            [-entries, caps],
            [entries, -caps / ratio],
        ],
        format="csc",
    )
    cost = np.bincount(lattice.variable.ravel(), (weights[:, None] * second).ravel(), size)
    equal = np.concatenate([np.ones(n), np.zeros(n)])
    return LinearProgram(
        cost=np.concatenate([cost / unit**2, np.zeros(k)]),
        matrix=sparse.csc_array(matrix),
        row_lower=np.concatenate([equal, np.zeros(2 * n * k)]),
        row_upper=np.concatenate([equal, np.full(2 * n * k, np.inf)]),
        lower=np.zeros(size + k),
        upper=np.full(size + k, np.inf),
    )


def _pressed(lattice: LatticeShape, solution: np.ndarray, ratio: float) -> np.ndarray:
    """X with every column exactly within its ratio: first the tails, then what is free to follow them."""
    caps = solution[-lattice.columns.size :]
    caps = np.where(caps < NOISE, 0.0, caps)
    entries = solution[lattice.variable]
    right, left = lattice.noise >= lattice.window, lattice.noise <= -lattice.window
    for tail, end in ((right, -1), (left, 0)):
        held = np.clip(entries[:, end], caps[end] / ratio, caps[end])
        entries = np.where(tail, held[:, None], entries)
    highest = np.where(lattice.tied, entries, 0.0).max(axis=0)
    lowest = np.where(lattice.tied, entries, np.inf).min(axis=0)
    caps = np.minimum(np.maximum(caps, highest), ratio * lowest)
    return np.where(lattice.tied, entries, np.clip(entries, caps / ratio, caps))


def _restored(
    lattice: LatticeShape, entries: np.ndarray, mass: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, float]:
    """Rows times 1 + a + b j (noise j cut at the window) of sum one and mean zero; and the largest change."""
    lever = np.clip(lattice.noise, -lattice.window, lattice.window) / lattice.window
    factor = np.ones_like(entries)
    for _ in range(RESTORE_STEPS):
        current = entries * factor
        system = np.empty((entries.shape[0], 2, 2))
        missing = np.empty((entries.shape[0], 2, 1))
        for equation, moment in enumerate((mass, first)):
            system[:, equation, 0] = np.sum(moment * current, axis=1)
            system[:, equation, 1] = np.sum(moment * current * lever, axis=1)
            missing[:, equation, 0] = (1.0 if equation == 0 else 0.0) - system[:, equation, 0]
        try:
            step = np.linalg.solve(system, missing)
        except np.linalg.LinAlgError:
            return entries, np.inf
        factor = factor * (1.0 + step[:, 0] + step[:, 1] * lever)
    return entries * factor, float(np.abs(factor - 1.0).max())
