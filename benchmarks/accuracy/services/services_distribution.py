"""Jensen-Shannon distance (with the root) between the estimated and the true distribution, 64 cells, 100,000 users:
SR, PM and SW each alone and all together (ULE), all by EMS as in the released code of "Privacy for Free". Equal
budgets; C1 to C4, budgets of [SR, PM, SW]; one mechanism at three budgets; 3, 9 and 15 services at 0.1, with 20,000
users; users who report at 0.1 to two or three of the services."""

import itertools
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of
from optldp.estimators.distributions.metrics import jensen_shannon_distance
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import TabulatedMechanism, duchi, piecewise, square_wave
from optldp.mechanisms.table.output_cells import with_output_cells
from redone.experiment.drawn_values import all_sets

from ..full_tables import Row, chosen, geometric, number, ratios, values
from ..repetitions import Errors, repeat

TITLE = "Distributions over several services"
CELLS = 64
SHOWN = ("SR, or first", "PM, or second", "SW, or third", "ULE")
USERS, FEWER = 100_000, 20_000
FAMILIES = {"SR": duchi, "PM": piecewise, "SW": square_wave}
THREE = tuple(FAMILIES)

Config = tuple[tuple[str, float], ...]


def configurations() -> dict[str, Config]:
    """The services of each configuration: mechanism and budget."""
    found = {f"all at {e:g}": tuple((name, e) for name in THREE) for e in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
    mixed = {"C1": (0.1, 0.2, 0.3), "C2": (0.2, 0.3, 0.1), "C3": (0.3, 0.1, 0.2), "C4": (0.2, 0.1, 0.3)}
    return found | {name: tuple(zip(THREE, budgets, strict=True)) for name, budgets in mixed.items()}


def special() -> dict[str, Config]:
    """Configurations looked at for one data set only."""
    found = {f"{name} at 0.1, 0.2, 0.3": tuple((name, e) for e in (0.1, 0.2, 0.3)) for name in THREE}
    found |= {f"m = {m}": tuple((name, 0.1) for name in THREE * (m // 3)) for m in (3, 9, 15)}
    return found | {"ragged": tuple((name, 0.1) for name in THREE)}


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each data set and configuration."""
    names = ("Beta(2,5)", "Beta+Sin", "SF benefits", "Adult age")
    cases = [(data, name, label, config) for name in names for label, config in configurations().items()]
    cases += [(data, "Beta+Sin", label, config) for label, config in special().items()]
    found = repeat(_errors, cases, repetitions, workers)
    return [
        {"data": name, "services": label}
        | {
            shown: summary.show(column)
            for shown, column in zip(SHOWN, ("first", "second", "third", "ULE"), strict=True)
        }
        for (_, name, label, _), summary in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return distances as multiples of that of all services together, by configuration."""
    lines = []
    for label in values(found, "services"):
        some = chosen(found, services=label)
        best = [min(number(row[one]) for one in SHOWN[:-1]) / number(row["ULE"]) for row in some]
        alone = (f"{geometric(ratios(some, one, 'ULE')):.2f}" for one in SHOWN[:-1])
        lines.append((label, *alone, f"{min(best):.2f} to {max(best):.2f}"))
    said = (
        "As multiples of the distance of ULE, geometric means over four data sets, of the seven last rows one; and the "
        "range of the best of the three:"
    )
    return "\n\n".join([said, table(("services", *SHOWN[:-1], "best of the three"), lines)])


def _errors(data: Path, name: str, label: str, config: Config, rng: np.random.Generator) -> Errors:
    users = FEWER if label.startswith("m =") else USERS
    grid = InputGrid.equal_cells(0.0, 1.0, CELLS)
    values = all_sets(data)[name](users, rng)
    truth = np.histogram(values, grid.edges)[0] / users
    services = [Service(str(j), _mechanism(family, e)) for j, (family, e) in enumerate(config)]
    outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in services], axis=1)
    if label == "ragged":
        sets = [chosen for size in (2, 3) for chosen in itertools.combinations(range(3), size)]
        for number, chosen in enumerate(sets):
            silent = [j for j in range(3) if j not in chosen]
            outputs[np.ix_(np.arange(users) % len(sets) == number, silent)] = -1
    counts = ReportCounts.from_outputs(services, outputs)
    parts = {"first": counts.only([0]), "second": counts.only([1]), "third": counts.only([2]), "ULE": counts}
    return {
        label: jensen_shannon_distance(ems(likelihood_of(part, grid)).weights, truth) for label, part in parts.items()
    }


def _mechanism(family: str, epsilon: float) -> TabulatedMechanism:
    made = FAMILIES[family](np.linspace(0.0, 1.0, CELLS + 1), epsilon)
    if made.is_discrete:
        return made
    return with_output_cells(made, np.linspace(made.low.min(), made.high.max(), CELLS + 1))
