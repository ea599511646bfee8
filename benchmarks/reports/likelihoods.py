"""Distributions are fitted by maximum likelihood, for the services of "Privacy for Free" (SR, PM, SW; Beta(2, 5)) and
the piecewise mechanism of EM-MR. "EM to the papers' rule" stops at a change of the log-likelihood below 0.001; the
certificate bounds what any weights could still gain per report. Counting is a column of its own; nothing after it
depends on users. For comparison, the papers and their released code need these times. ULE with 256 cells takes 124 s
for 1e6 users and 12,621 s for 1e7, on a GPU. With 1024 cells it takes about 540 s and 4.1 GiB for 1e5 users. Rows have
the times of UWA's and EM-MR's code."""

import numpy as np
from measured import Cell, Table, timed
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of, mixture_reduction
from optldp.estimators.distributions.smooth import smooth_likelihood
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import TabulatedMechanism, duchi, piecewise, square_wave
from optldp.mechanisms.table.output_cells import with_output_cells
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood.em import em

TITLE = "Distributions by likelihood"
EPSILON = 0.5
STOP = 1e-3
STEPS = 50
FEW_CELLS, FEW_USERS = 256, 1_000_000
"""Up to which the smooth fit is timed."""


def run(largest: int = 10_000_000) -> list[Table]:
    cases = [(256, n) for n in (1_000_000, 10_000_000) if n <= largest] + [(1024, 100_000)]
    columns = {
        "cells in and out": "", "users": ".0e", "distinct tuples": "", "counting, s": ".1f", "EM step, s": ".4f",
        "EM to the papers' rule, s": ".1f", "its steps": "", "its certificate": ".1e",
        "EMS to the papers' rule, s": ".1f", "EMS steps": "", "to a certificate of 1e-5, s": ".2f", "steps": "",
        "smooth, s": ".1f",
    }  # fmt: skip
    rows = [_three_services(cells, users) for cells, users in cases]
    return [Table(columns, rows, "These are three services, SR, PM and SW at epsilon 0.5:"), _one_service()]


def _three_services(cells: int, users: int) -> tuple[Cell, ...]:
    rng = np.random.default_rng(1)
    values = rng.beta(2, 5, users)
    services = [Service(m.provenance.method, m) for m in _tables(cells)]
    outputs = np.empty((users, 3), dtype=np.int32)
    for j, service in enumerate(services):
        outputs[:, j] = service.mechanism.output_index(service.mechanism.sample(values, rng))
    counts, counting = timed(lambda: ReportCounts.from_outputs(services, outputs))
    grid = InputGrid.equal_cells(0.0, 1.0, cells)
    likelihood = likelihood_of(counts, grid)
    steps = em(likelihood, np.full(cells, 1.0 / cells))
    _, stepping = timed(lambda: [next(steps) for _ in range(STEPS)])
    plain, plain_s = timed(lambda: fit_mixture(likelihood, method="em", loglik_change=STOP))
    smoothed, smoothed_s = timed(lambda: ems(likelihood, loglik_change=STOP))
    exact, exact_s = timed(lambda: fit_mixture(likelihood_of(counts, grid), certificate=1e-5))
    few = cells <= FEW_CELLS and users <= FEW_USERS
    smooth_s = timed(lambda: smooth_likelihood(counts, grid))[1] if few else None
    return (
        cells, users, sum(g.counts.size for g in counts.groups), counting, stepping / STEPS,
        plain_s, plain.iterations, plain.certificate, smoothed_s, smoothed.iterations, exact_s, exact.iterations,
        smooth_s,
    )  # fmt: skip


def _one_service() -> Table:
    cases = (
        (10_000, 0.5, "EM 1.8 s (536), MR 2.0 s"),
        (10_000, 1.0, "EM 1.7 s (575), MR 1.9 s"),
        (300_000, 0.5, "EM 12.3 s (4109), MR 11.2 s"),
        (300_000, 1.0, "EM 6.4 s (2154), MR 6.5 s"),
    )
    columns = {
        "users": ".0e", "epsilon": "", "EM, s": ".2f", "EM steps": "", "EMS, s": ".2f", "EMS steps": "",
        "MR, s": ".2f", "MR steps": "", "exact maximum, s": ".2f", "its steps": "", "its certificate": ".0e",
        "EM-MR's released code (its EM is EMS)": "",
    }  # fmt: skip
    rows = [(*_piecewise(users, epsilon), reference) for users, epsilon, reference in cases]
    return Table(columns, rows, "This is one service, PM with 1024 cells in and out:")


def _piecewise(users: int, epsilon: float) -> tuple[Cell, ...]:
    rng = np.random.default_rng(2)
    mechanism = _grouped(piecewise(np.linspace(-1.0, 1.0, 1025), epsilon), 1024)
    values = np.concatenate([rng.normal(0.7, 0.2, users * 6 // 10), rng.normal(0.2, 0.1, users * 4 // 10)])
    counts = ReportCounts.from_reports(mechanism, mechanism.sample(values.clip(-1, 1), rng))
    likelihood = likelihood_of(counts, InputGrid.equal_cells(-1.0, 1.0, 1024))
    plain, plain_s = timed(lambda: fit_mixture(likelihood, method="em", loglik_change=STOP))
    smoothed, smoothed_s = timed(lambda: ems(likelihood, loglik_change=STOP))
    reduced, reduced_s = timed(lambda: mixture_reduction(likelihood))
    exact, exact_s = timed(lambda: fit_mixture(likelihood))
    return (
        users, epsilon, plain_s, plain.iterations, smoothed_s, smoothed.iterations, reduced_s, reduced.fit.iterations,
        exact_s, exact.iterations, exact.certificate,
    )  # fmt: skip


def _tables(cells: int) -> list[TabulatedMechanism]:
    knots = np.linspace(0.0, 1.0, cells + 1)
    return [
        duchi(knots, EPSILON),
        _grouped(piecewise(knots, EPSILON), cells),
        _grouped(square_wave(knots, EPSILON), cells),
    ]


def _grouped(mechanism: TabulatedMechanism, cells: int) -> TabulatedMechanism:
    return with_output_cells(mechanism, np.linspace(mechanism.low.min(), mechanism.high.max(), cells + 1))
