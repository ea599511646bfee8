"""UWA over four services (Duchi, Laplace, piecewise, square wave at epsilon 0.5, Beta(2, 5), 257 knots).

Target: under 3 s for 1e6 users, counting apart. The reference is Algorithms 1 and 2 in numpy, user by user.
"""

import time

import numpy as np
from markdown_table import table
from optldp.estimators.counting.counts import ReportCounts, Service
from optldp.estimators.input_grid import InputGrid
from optldp.estimators.means.combined import estimate_combined_mean
from optldp.estimators.means.decoding import plain_decoders
from optldp.mechanisms import duchi, laplace, piecewise, square_wave

TITLE = "User-level weighted averaging"
KNOTS = np.linspace(-1, 1, 257)
EPSILON = 0.5
LOOP_USERS = 10_000
USERS = (LOOP_USERS, 100_000, 1_000_000)


def run() -> str:
    families = (duchi, laplace, piecewise, square_wave)
    services = [Service(family.__name__, family(KNOTS, EPSILON)) for family in families]
    header = (
        "users", "distinct combinations", "counting, s", "UWA, s", "population weights, s", "UWA user by user, s",
        "difference of the two", "error of UWA", "error of population weights",
    )  # fmt: skip
    return table(header, [_row(services, n_users) for n_users in USERS])


def _row(services: list[Service], n_users: int) -> tuple[str, ...]:
    rng = np.random.default_rng(n_users)
    x = 2 * rng.beta(2, 5, n_users) - 1
    outputs = [service.mechanism.output_index(service.mechanism.sample(x, rng)) for service in services]
    matrix = np.stack(outputs, axis=1).astype(np.int32)
    started = time.perf_counter()
    counts = ReportCounts.from_outputs(services, matrix)
    counted = time.perf_counter()
    uwa = estimate_combined_mean(counts, method="uwa")
    averaged = time.perf_counter()
    population = estimate_combined_mean(counts, method="population")
    weighed = time.perf_counter()
    loop = ("", "")
    if n_users <= LOOP_USERS:
        mean = _user_by_user(services, matrix)
        loop = f"{time.perf_counter() - weighed:.2f}", f"{abs(mean - uwa.value):.0e}"
    distinct = sum(group.counts.size for group in counts.groups)
    seconds = [f"{step:.2f}" for step in (counted - started, averaged - counted, weighed - averaged)]
    errors = [f"{found.value - x.mean():+.4f} (standard error {found.std_error:.4f})" for found in (uwa, population)]
    return f"{n_users:,}", f"{distinct:,}", *seconds, *loop, *errors


def _user_by_user(services: list[Service], outputs: np.ndarray) -> float:
    """Algorithms 1 and 2 as printed, with arrays over the buckets and a loop over users and services."""
    decoders = plain_decoders(services)
    likelihoods = [InputGrid.knots(KNOTS).rows(service.mechanism) for service in services]
    variances = [rows @ decoder**2 - KNOTS**2 for rows, decoder in zip(likelihoods, decoders, strict=True)]
    total = 0.0
    for row in outputs:
        posterior = np.full(KNOTS.size, 1 / KNOTS.size)
        for likelihood, output in zip(likelihoods, row, strict=True):
            posterior = posterior * likelihood[:, output]
            posterior /= posterior.sum()
        precision = [1 / (posterior @ variance) for variance in variances]
        decoded = [decoder[output] for decoder, output in zip(decoders, row, strict=True)]
        total += float(np.dot(precision, decoded) / np.sum(precision))
    return total / len(outputs)
