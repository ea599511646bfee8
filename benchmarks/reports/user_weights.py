"""This is UWA over four services (Duchi, Laplace, piecewise, square wave at epsilon 0.5, Beta(2, 5), 257 knots).

The target is under 3 s for 1e6 users, without counting. The reference is Algorithms 1 and 2 in numpy, user by user.
"""

import numpy as np
from measured import Cell, Table, timed
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_combined_mean
from optldp.estimators.means.decoding import plain_decoders
from optldp.mechanisms import duchi, laplace, piecewise, square_wave

TITLE = "User-level weighted averaging"
KNOTS = np.linspace(-1, 1, 257)
EPSILON = 0.5
LOOP_USERS = 10_000
USERS = (LOOP_USERS, 100_000, 1_000_000)


def run() -> list[Table]:
    families = (duchi, laplace, piecewise, square_wave)
    services = [Service(family.__name__, family(KNOTS, EPSILON)) for family in families]
    columns = {
        "users": ",", "distinct combinations": ",", "counting, s": ".2f", "UWA, s": ".2f",
        "population weights, s": ".2f", "UWA user by user, s": ".2f", "difference of the two": ".0e",
        "error of UWA": "+.4f", "its standard error": ".4f", "error of population weights": "+.4f",
        "their standard error": ".4f",
    }  # fmt: skip
    return [Table(columns, [_row(services, n_users) for n_users in USERS])]


def _row(services: list[Service], n_users: int) -> tuple[Cell, ...]:
    rng = np.random.default_rng(n_users)
    x = 2 * rng.beta(2, 5, n_users) - 1
    outputs = [service.mechanism.output_index(service.mechanism.sample(x, rng)) for service in services]
    matrix = np.stack(outputs, axis=1).astype(np.int32)
    counts, counting = timed(lambda: ReportCounts.from_outputs(services, matrix))
    uwa, averaging = timed(lambda: estimate_combined_mean(counts, method="uwa"))
    population, weighing = timed(lambda: estimate_combined_mean(counts, method="population"))
    loop: tuple[Cell, ...] = (None, None)
    if n_users <= LOOP_USERS:
        mean, seconds = timed(lambda: _user_by_user(services, matrix))
        loop = seconds, abs(mean - uwa.value)
    distinct = sum(group.counts.size for group in counts.groups)
    errors = [cell for found in (uwa, population) for cell in (found.value - x.mean(), found.std_error)]
    return n_users, distinct, counting, averaging, weighing, *loop, *errors


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
