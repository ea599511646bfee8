"""Bias where it pays: the error of a mean over priors trusted within a factor, of tables and of decoders.

Seconds are of the processor, on one thread: OMP_NUM_THREADS=1 python benchmarks objectives.biased.
"""

import time
from typing import Any, cast

import numpy as np
from markdown_table import table
from optldp.designer import Error, FactorAmbiguity, Prior, compare, confidence_region, design
from optldp.designer.designs.judging import problem_for
from optldp.mechanisms import FAMILIES, laplace, piecewise, square_wave
from optldp.solvers import RobustProgram, solve_robust, solve_unbiased
from optldp.solvers.biased import DecoderProgram, ErrorProgram, solve_decoder, solve_error, trusted
from optldp.solvers.robust import BoxSet
from scipy.optimize import minimize_scalar
from statsmodels.datasets import randhie

KNOTS = np.arange(0, 78, 2.0)
HALF = 38.0
"""Visits to the doctor in a year, 0 to 76, and half of that."""

SHARE = 1e-3
"""Of even weights in the prior."""

CASES = ((1.0, 20_000, 1.25), (1.0, 20_000, 2.0), (1.0, 20_000, 5.0), (0.5, 20_000, 2.0), (4.0, 10**6, 2.0))


def run() -> str:
    return "\n\n".join(
        [
            "RAND visits, 39 knots; errors of the mean in visits:",
            _visits(),
            "Decoders of given tables on these knots, epsilon 1, trust 2:",
            _decoders(),
            "Closed forms, 20,000 users, trust 2: error over the optimum's, unbiased and with their best clip:",
            _closed_forms(),
            "What reports of a first phase leave open of the tail, epsilon 1, confidence 0.95:",
            _first_phase(),
            "Where the optimum is no clip:",
            _no_clips(),
            "Exponential prior exp(-6 (x + 1)), 20,000 users, trust 2, gap 1e-4:",
            _seconds(),
        ]
    )


def visits_prior() -> np.ndarray:
    """Weights of the knots, values between them split linearly."""
    values = np.minimum(cast("Any", randhie.load_pandas()).data["mdvis"].to_numpy(float), KNOTS[-1])
    hats = np.maximum(1 - np.abs(values[:, None] - KNOTS) / 2, 0).mean(0)
    return (1 - SHARE) * hats + SHARE / len(KNOTS)


def _visits() -> str:
    prior, x, rows = visits_prior(), KNOTS / HALF - 1, []
    for epsilon, users, trust in CASES:
        program = ErrorProgram(x, float(np.exp(epsilon)), trusted(prior, trust), users)
        started = time.process_time()
        best = solve_error(program)
        seconds = time.process_time() - started
        known = solve_unbiased(x, prior, program.ratio)
        unbiased = program.error(*known.solution).rmse * HALF
        outputs, P, clip = best.solution
        cut = "-" if clip is None else f"{(clip.high + 1) * HALF:.2f}"
        shift = "-" if clip is None else f"{clip.shift * HALF:.4f}"
        rows.append(
            (epsilon, f"{users:,}", trust, f"{unbiased:.4f}", f"{best.value * HALF:.5f}",
             f"{program.error(outputs, P).bias_bound * HALF:.4f}", cut, shift, f"{best.gap:.0e}", f"{seconds:.2f}")
        )  # fmt: skip
    header = ("epsilon", "users", "trust", "unbiased", "R", "bias bound", "cut at", "shift", "gap", "s")
    return table(header, rows)


def _decoders() -> str:
    prior, n, E = visits_prior(), len(KNOTS), float(np.e)
    tables = {
        "optimal unbiased": solve_unbiased(KNOTS / HALF - 1, prior, E).solution.probabilities,
        "piecewise": piecewise(KNOTS, 1.0).probabilities,
        "square wave": square_wave(KNOTS, 1.0).probabilities,
        "Laplace": laplace(KNOTS, 1.0).probabilities,
        "randomised response": (np.ones((n, n)) + (E - 1) * np.eye(n)) / (n - 1 + E),
    }
    rows = []
    for name, P in tables.items():
        row: list[object] = [name, P.shape[1]]
        for users in (20_000, 10**6):
            started = time.process_time()
            best = solve_decoder(DecoderProgram(KNOTS, P, trusted(prior, 2.0), users))
            row += [f"{best.value:.4f}", f"{best.gap:.0e}", f"{time.process_time() - started:.3f}"]
        rows.append(row)
    return table(("table", "reports", "R, 20,000 users", "gap", "s", "R, 1,000,000 users", "gap", "s"), rows)


def _closed_forms() -> str:
    """Every family's error over the optimum's at four budgets, unbiased and with its own best clip."""
    prior, objective = Prior.on_knots(KNOTS, visits_prior(), source="public"), Error(20_000, FactorAmbiguity(2.0))
    epsilons = (0.5, 1.0, 2.0, 4.0)
    rows: dict[str, list[str]] = {name: [] for name in ("optimal", *FAMILIES)}
    for epsilon in epsilons:
        found = compare(prior, [epsilon], methods=list(rows), objectives=[objective], uniform_share=0.0, tolerance=1e-4)
        fitted = {row.method: row for row in found if row.objective == "error"}
        problem = problem_for(prior, epsilon, objective, uniform_share=0.0)
        for name, cells in rows.items():
            made = design(prior, epsilon, method=name, exact=False).mechanism
            best, row = fitted["error"].value or 1.0, fitted[name]
            cells.append(f"{objective.value(made, problem) / best:.2f}")
            cells.append("" if name == "optimal" else f"{(row.value or 0) / best:.3f}, {row.clip_high:.1f}")
    header = ["family", *(text for epsilon in epsilons for text in (f"unbiased, epsilon {epsilon:g}", "clipped, at"))]
    return table(header, [(name, *cells) for name, cells in rows.items()])


def _first_phase() -> str:
    """The largest share beyond some values that the region of some reports allows."""
    prior, rng = Prior.on_knots(KNOTS, visits_prior(), source="public"), np.random.default_rng(1)
    made, rows = design(prior, 1.0).mechanism, []
    for reports in (2_000, 20_000, 200_000):
        values = rng.choice(KNOTS, size=reports, p=prior.weights)
        region = confidence_region(made, made.sample(values, rng), KNOTS, 0.95).around(prior)
        tails = [(cut < KNOTS).astype(float) for cut in (20, 40, 60)]
        rows.append((f"{reports:,}", *(f"{region.largest(tail)[0]:.3f}" for tail in tails)))
        true = [f"{prior.weights @ tail:.4f}" for tail in tails]
    return table(("reports", "above 20, at most", "above 40", "above 60"), [*rows, ("the prior", *true)])


def best_clip(program: ErrorProgram, box: BoxSet) -> float:
    """The least R of the best unbiased table on an interval between two knots, what is outside cut, with a shift."""
    x, found = (
        program.knots,
        [program.error(np.array([c]), np.ones((len(program.knots), 1))).rmse for c in program.knots],
    )
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            place = np.clip(np.arange(len(x)), i, j) - i
            low, high = (np.bincount(place, bound).astype(np.float64) for bound in (box.low, np.minimum(box.high, 1)))
            middle, half = 0.5 * (x[j] + x[i]), 0.5 * (x[j] - x[i])
            inner = RobustProgram((x[i : j + 1] - middle) / half, program.ratio, BoxSet(low, high))
            made = solve_robust(inner, tolerance=1e-4).solution
            outputs, P = middle + half * made.outputs, made.probabilities[place]

            def error(shift: float, outputs: np.ndarray = outputs, P: np.ndarray = P) -> float:
                return program.error(outputs + shift, P).rmse

            best = cast("Any", minimize_scalar(error, bounds=(-0.5, 0.5), method="bounded"))
            found.append(float(best.fun))
    return min(found)


def _no_clips() -> str:
    rows = []
    for knots, decay, epsilon, users, trust in (
        (9, 2.0, 1.0, 10, 2.0),
        (9, 5.2, 0.22, 108, 58.0),
        (13, 3.0, 4.0, 5, 1.3),
        (13, 3.0, 6.0, 30, 1.3),
    ):
        x = np.linspace(-1, 1, knots)
        prior = np.exp(-decay * (x + 1))
        prior = (1 - SHARE) * prior / prior.sum() + SHARE / knots
        box = trusted(prior, trust)
        program = ErrorProgram(x, float(np.exp(epsilon)), box, users)
        best, clipped = solve_error(program, tolerance=1e-5), best_clip(program, box)
        rows.append(
            (knots, decay, epsilon, users, trust, f"{best.value:.5f}", f"{best.bound:.5f}", f"{clipped:.5f}",
             "yes" if best.solution.clip else "no")
        )  # fmt: skip
    return table(
        ("knots", "decay", "epsilon", "users", "trust", "R", "lower bound", "best clip at knots", "a clip"), rows
    )


def _seconds() -> str:
    rows = []
    for knots in (41, 101, 201):
        x = np.linspace(-1, 1, knots)
        prior = np.exp(-6 * (x + 1)) + 1e-5
        box = trusted(prior / prior.sum(), 2.0)
        for epsilon in (0.5, 1.0, 2.0, 4.0):
            started = time.process_time()
            best = solve_error(ErrorProgram(x, float(np.exp(epsilon)), box, 20_000))
            middle = time.process_time()
            solve_robust(RobustProgram(x, float(np.exp(epsilon)), box), tolerance=1e-4)
            ended = time.process_time()
            rows.append(
                (
                    knots,
                    epsilon,
                    best.steps,
                    f"{best.gap:.0e}",
                    f"{middle - started:.2f}",
                    f"{ended - middle:.2f}",
                )
            )
    return table(("knots", "epsilon", "steps", "gap", "s", "s of one robust design"), rows)


if __name__ == "__main__":
    print(run())
