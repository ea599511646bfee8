"""Mean squared error of the mean (domain [0, 1], times 1e6) over several services, 100,000 users: the best single
service, plain averages (UA), each user's own weights (UWA), weights for the population, and the joint decoder.
Configurations of "Privacy for Free": equal budgets; A1 to A4, budgets of [SR, Laplace, PM, SW]; one mechanism at four
budgets; 4 to 16 services, the four mechanisms over and over at 0.1; eleven groups G1 to G11 of users who report at 0.1
to two, three or four of the services. Laplace reports are decoded by output, which takes noise out of its tails."""

import itertools
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import ReportCounts, Service, estimate_combined_mean
from optldp.estimators.methods import MeanMethod
from optldp.mechanisms import duchi, laplace, piecewise, square_wave
from redone.experiment.drawn_values import all_sets

from ..full_tables import Row, chosen, geometric, ratios, values
from ..repetitions import Errors, repeat

TITLE = "Means over several services"
USERS, KNOTS = 100_000, np.linspace(0.0, 1.0, 65)
FAMILIES = {"SR": duchi, "Laplace": laplace, "PM": piecewise, "SW": square_wave}
FOUR = tuple(FAMILIES)
METHODS: dict[str, MeanMethod] = {"UA": "ua", "UWA": "uwa", "population": "population", "decoder": "decoder"}

Config = tuple[tuple[str, float], ...]


def configurations() -> dict[str, Config]:
    """The services of each configuration: mechanism and budget."""
    found = {f"all at {e:g}": tuple((name, e) for name in FOUR) for e in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
    mixed = {
        "A1": (0.1, 0.2, 0.3, 0.4),
        "A2": (0.2, 0.4, 0.1, 0.3),
        "A3": (0.3, 0.1, 0.4, 0.2),
        "A4": (0.4, 0.3, 0.2, 0.1),
    }
    return found | {name: tuple(zip(FOUR, budgets, strict=True)) for name, budgets in mixed.items()}


def special() -> dict[str, Config]:
    """Configurations looked at for one data set only."""
    found = {f"{name} at 0.1, 0.2, 0.3, 0.4": tuple((name, e) for e in (0.1, 0.2, 0.3, 0.4)) for name in FOUR}
    found |= {f"m = {m}": tuple((name, 0.1) for name in FOUR * (m // 4)) for m in (4, 8, 12, 16)}
    return found | {"G1 to G11": tuple((name, 0.1) for name in FOUR)}


def groups() -> list[tuple[int, ...]]:
    """The services of each group G1 to G11."""
    return [chosen for size in (2, 3, 4) for chosen in itertools.combinations(range(4), size)]


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each data set and configuration."""
    names = ("Beta(2,5)", "Beta+Sin", "SF benefits", "Adult age")
    cases = [(data, name, label, config) for name in names for label, config in configurations().items()]
    cases += [(data, "Beta+Sin", label, config) for label, config in special().items()]
    found = repeat(_errors, cases, repetitions, workers)
    return [
        {"data": name, "services": label} | {method: summary.show(method) for method in ("best single", *METHODS)}
        for (_, name, label, _), summary in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return errors as shares of that of the best single service, by configuration."""
    lines = []
    for label in values(found, "services"):
        some = chosen(found, services=label)
        lines.append((label, *(f"{geometric(ratios(some, m, 'best single')):.2f}" for m in METHODS)))
    said = (
        "As shares of the error of the best single service, geometric means over four data sets, of the nine last rows "
        "one:"
    )
    return "\n\n".join([said, table(("services", *METHODS), lines)])


def _errors(data: Path, name: str, label: str, config: Config, rng: np.random.Generator) -> Errors:
    values = all_sets(data)[name](USERS, rng)
    services = [Service(str(j), FAMILIES[family](KNOTS, e)) for j, (family, e) in enumerate(config)]
    outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in services], axis=1)
    if label.startswith("G1"):
        member = np.arange(USERS) % len(groups())
        for number, chosen in enumerate(groups()):
            silent = [j for j in range(len(services)) if j not in chosen]
            outputs[np.ix_(member == number, silent)] = -1
    counts = ReportCounts.from_outputs(services, outputs)
    truth = values.mean()
    singles = [estimate_combined_mean(counts.only([j]), method="ua").value for j in range(len(services))]
    found = {f"service {j}": 1e6 * (mean - truth) ** 2 for j, mean in enumerate(singles)}
    found["best single"] = found[f"service {_best(services)}"]
    for method, argument in METHODS.items():
        found[method] = 1e6 * (estimate_combined_mean(counts, method=argument).value - truth) ** 2
    return found


def _best(services: list[Service]) -> int:
    """The service of least variance at the middle of the domain, chosen without looking at results."""
    from optldp.estimators import plain_decoder

    middle = KNOTS.size // 2
    variances = []
    for service in services:
        row, decoder = service.mechanism.probabilities[middle], plain_decoder(service.mechanism)
        variances.append(row @ decoder**2 - (row @ decoder) ** 2)
    return int(np.argmin(variances))
