"""The channel program is compared with mechanisms that others derive by optimisation, problem by problem."""

import numpy as np
from measured import Cell, Table, timed
from optldp.designer import Prior, WorstCase, design
from optldp.designer.objectives import AtMost, Workload
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import line, pure
from scipy import sparse
from scipy.optimize import linprog

TITLE = "Beside other derived mechanisms"
ABOUT = (
    "**Queries** are all cuts of n values, with an even prior at epsilon 1. The table has the sum of the variances "
    "that privacy adds, times users. The rival is workload factorisation (McKenna, Maity, Mazumdar and Miklau, "
    "PVLDB 2020), written here after "
    "their algorithms: 4n outputs, the best of five starts. It has no bound. **By distance** is the least worst "
    "squared error of biased reports on [-1, 1], with outputs 1/16 apart. libqif and GeoPrivacy state it as a "
    "linear program with a row for each pair of values and output; HiGHS solves it. **Few outputs** is the largest "
    "variance over [-1, 1] of N-output mechanisms (Baek and Chung 2025, as published), and of as many outputs "
    "placed by optldp at 33 knots. It includes the variance of rounding to knots. **Biased reports** is the largest "
    "squared error over 17 values of [-1, 1], and over 32 angles with the shorter way round as the distance, at "
    "pure privacy. The rival is the closed form of "
    "Optimal-GPM (Zheng, Mishra and Hu, PETS 2025, `closed_form_mechanism.py` of their code), the best of piecewise "
    "densities; ours reports multiples of 1/16, or of half the angle between values. Seconds are of the processor."
)
STARTS, STEPS = 5, 3000
PUBLISHED = {1.0: 4.267, 2.0: 0.984, 3.0: 0.355, 4.0: 0.154}
"""Worst cases of Baek and Chung, by epsilon."""
OUTPUTS = {1.0: 4, 2.0: 6, 3.0: 6, 4.0: 6}


def run() -> list[Table]:
    queries = {"values": "", "factorisation": ".2f", "s": ".1f", "ours": ".2f", "bound": ".2f", "s, ours": ".2f"}
    distance = {"values": "", "epsilon per unit": "g", "all pairs": ".6f", "s": ".2f", "ours": ".6f", "bound": ".6f"}
    few = {"epsilon": "g", "N-output": ".3f", "outputs": "", "ours": ".4f", "bound": ".4f", "s": ".1f"}
    biased = {"values": "", "epsilon": "g", "Optimal-GPM": ".4f", "ours": ".4f", "bound": ".4f", "s": ".2f"}
    return [
        Table(queries, [_cuts(n) for n in (16, 32, 64)], ABOUT),
        Table(distance | {"s, ours": ".2f"}, [_by_distance(n, e) for n in (17, 33) for e in (0.5, 1.0, 2.0, 4.0)]),
        Table(few, [_few(e) for e in PUBLISHED]),
        Table(biased, [_biased(space, e) for space in ("line", "circle") for e in (0.5, 1.0, 2.0, 4.0)]),
    ]


def _cuts(n: int) -> tuple[Cell, ...]:
    cuts, sampling = np.tril(np.ones((n, n)))[:-1], (n - 1) * (n + 1) / (6 * n)  # sum of F (1 - F)
    theirs, seconds = timed(lambda: min(factorised(cuts, 1.0, np.random.default_rng(seed)) for seed in range(STARTS)))
    prior = Prior.on_knots(np.arange(float(n)), np.ones(n), source="public")
    made, ours = timed(lambda: design(prior, 1.0, objective=Workload("prefix"), uniform_share=0.0))
    return n, theirs - sampling, seconds, made.value, made.bound, ours


def factorised(queries: np.ndarray, epsilon: float, rng: np.random.Generator) -> float:
    """Return the sum of variances of unbiased answers times users, by projected gradients on a strategy (4n, n).

    McKenna et al. (2020), algorithms 1 and 2: columns of Q sum to 1 and lie in [z, e^epsilon z]; for the even prior the
    loss is tr((Q^T D^-1 Q)^-1 W^T W) / n with D = diag(Q 1), so that Q^T D^-1 Q = M. z is moved
    beside Q, through the projection; steps grow while they gain, and end where none does.
    """
    n = queries.shape[1]
    gram, up = queries.T @ queries, np.exp(epsilon)
    low = np.full(4 * n, (1 + np.exp(-epsilon)) / (8 * n))
    table = projected(rng.random((4 * n, n)), low, up)
    value, gradient = loss(table, gram)
    step = step_low = 1.0 / np.abs(gradient).max() / n
    for _ in range(STEPS):
        moved = projected(table - step * gradient, low, up)
        new, new_gradient = loss(moved, gram)
        if new < value:
            table, value, gradient, step = moved, new, new_gradient, step * 1.3
        else:
            step /= 2

        below, above = table <= low[:, None] * (1 + 1e-9), table >= up * low[:, None] * (1 - 1e-9)
        between = ~(below | above)
        steep = gradient - (gradient * between).sum(0) / np.maximum(between.sum(0), 1)  # these make up for the sums
        of_low = (steep * below).sum(1) + up * (steep * above).sum(1)
        new_low = np.clip(low - step_low * of_low / n, 1e-9, None)
        new = np.inf
        if new_low.sum() < 0.999 and up * new_low.sum() > 1.001:  # else no column can sum to 1
            moved = np.where(above, up * new_low[:, None], np.where(below, new_low[:, None], table))
            moved = projected(moved, new_low, up)
            new, new_gradient = loss(moved, gram)
        if new < value:
            table, low, value, gradient, step_low = moved, new_low, new, new_gradient, step_low * 1.3
        else:
            step_low /= 2
        if max(step, step_low) < 1e-13:
            break
    return value


def loss(table: np.ndarray, gram: np.ndarray) -> tuple[float, np.ndarray]:
    """Return tr(M^-1 W'W) / n, M = Q^T D^-1 Q, and its gradient in Q."""
    n = table.shape[1]
    of_output = table.sum(1, keepdims=True)
    scaled = table / of_output
    inverse = np.linalg.pinv(table.T @ scaled, hermitian=True)
    middle = inverse @ gram @ inverse
    spread = scaled @ middle
    return float(np.trace(inverse @ gram)) / n, (-2 * spread + (spread * scaled).sum(1, keepdims=True)) / n


def projected(table: np.ndarray, low: np.ndarray, up: float) -> np.ndarray:
    """Return the nearest table whose columns sum to 1 within [low, up low]: clipped after a shift, by bisection."""
    below, above = low[:, None], up * low[:, None]
    least, most = (below - table).min(0), (above - table).max(0)
    for _ in range(60):
        shift = (least + most) / 2
        over = np.clip(table + shift, below, above).sum(0) > 1
        least, most = np.where(over, least, shift), np.where(over, shift, most)
    return np.clip(table + (least + most) / 2, below, above)


def _by_distance(n: int, epsilon: float) -> tuple[Cell, ...]:
    x, y = np.linspace(-1, 1, n), np.arange(-16, 17) / 16
    losses = (y - x[:, None]) ** 2
    program = ChannelProgram(line(x, epsilon), np.full(n, 1 / n), losses, 1.0)
    found, seconds = timed(lambda: solve_channel(program, tolerance=1e-6))
    theirs, taken = timed(lambda: all_pairs(losses, epsilon * abs(x - x[:, None])))
    return n, epsilon, theirs, taken, found.value, found.bound, seconds


def all_pairs(
    losses: np.ndarray,
    logs: np.ndarray,
    prior: np.ndarray | None = None,
    means: tuple[np.ndarray, np.ndarray] | None = None,
) -> float:
    """Return the least worst loss of a table with P(y | i) <= e^logs[i, k] P(y | k) for all pairs of values.

    With a prior the least expected loss; with means, values and outputs, of unbiased tables. Pairs of infinite
    log-ratio are free. It is infinite where there is no such table.
    """
    n, m = losses.shape
    i, k = np.nonzero(~np.eye(n, dtype=bool) & np.isfinite(logs))
    pairs = sparse.coo_array((np.ones(i.size), (np.arange(i.size), i)), (i.size, n))
    pairs -= sparse.coo_array((np.exp(logs[i, k]), (np.arange(i.size), k)), (i.size, n))
    private = sparse.hstack([sparse.kron(pairs, sparse.eye_array(m)), sparse.csr_array((i.size * m, 1))])
    worst = sparse.hstack([sparse.block_diag([row[None] for row in losses]), np.full((n, 1), -1.0)])
    sums = sparse.hstack([sparse.kron(sparse.eye_array(n), np.ones((1, m))), sparse.csr_array((n, 1))])
    ones = np.ones(n)
    if means is not None:
        values, outputs = means
        of_outputs = sparse.kron(sparse.eye_array(n), outputs[None])
        sums = sparse.vstack([sums, sparse.hstack([of_outputs, sparse.csr_array((n, 1))])])
        ones = np.r_[ones, values]
    if prior is None:
        costs, rows, most = np.r_[np.zeros(n * m), 1.0], sparse.vstack([private, worst]).tocsr(), i.size * m + n
    else:
        costs, rows, most = np.r_[(prior[:, None] * losses).ravel(), 0.0], private.tocsr(), i.size * m
    found = linprog(costs, rows, np.zeros(most), sums, ones, method="highs-ipm")
    return np.inf if found.fun is None else float(found.fun)


def _few(epsilon: float) -> tuple[Cell, ...]:
    prior = Prior.on_knots(np.linspace(-1, 1, 33), np.ones(33), source="public")
    asked = AtMost(OUTPUTS[epsilon])
    made, seconds = timed(lambda: design(prior, epsilon, objective=WorstCase(), outputs=asked))
    between = (1 / 16) ** 2 / 4  # knots are 1/16 apart: rounding at random adds at most a quarter of its square
    return epsilon, PUBLISHED[epsilon], OUTPUTS[epsilon], made.value + between, made.bound, seconds


def _biased(space: str, epsilon: float) -> tuple[Cell, ...]:
    if space == "line":
        x, y = np.linspace(-1, 1, 17), np.arange(-16, 17) / 16
        losses, theirs = (y - x[:, None]) ** 2, max(piecewise(value, epsilon) for value in x)
    else:
        x, y = np.arange(32) * np.pi / 16, np.arange(64) * np.pi / 32
        away = np.abs(y - x[:, None])
        losses, theirs = np.minimum(away, 2 * np.pi - away) ** 2, piecewise_circular(epsilon)
    program = ChannelProgram(pure(x.size, epsilon), np.full(x.size, 1 / x.size), losses, 1.0)
    found, seconds = timed(lambda: solve_channel(program, tolerance=1e-6))
    return f"{x.size} on a {space}", epsilon, theirs, found.value, found.bound, seconds


def piecewise(value: float, epsilon: float) -> float:
    """Return E (y - x)^2 on [-1, 1] of the closed form for [0, 1]: a dense piece about the value, within the ends."""
    half = np.expm1(epsilon / 2) / (2 * np.expm1(epsilon))
    dense, x = np.exp(epsilon / 2), (value + 1) / 2
    low = float(np.clip(x - half, 0, 1 - 2 * half))
    near, whole = ((high - x) ** 3 / 3 - (least - x) ** 3 / 3 for least, high in ((low, low + 2 * half), (0, 1)))
    thin = dense * np.exp(-epsilon)
    return 4 * float(thin * whole + (dense - thin) * near)


def piecewise_circular(epsilon: float) -> float:
    """Return the mean square of the shorter way round, which is the same of all angles."""
    half = np.pi * np.expm1(epsilon / 2) / np.expm1(epsilon)
    dense = np.exp(epsilon / 2) / (2 * np.pi)
    thin = dense * np.exp(-epsilon)
    return float(2 * (thin * np.pi**3 + (dense - thin) * half**3) / 3)
