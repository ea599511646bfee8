"""How far last year's prior is off: the evidence that the default trust rests on.

python benchmarks objectives.trust --data FOLDER, a folder with the real data sets, npz files.

statsmodels has the others.
"""

import argparse
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior
from optldp.designer.priors import measure_trust
from optldp.mechanisms import InputError
from years import Pair, pairs

KNOTS = 41
FACTORS = (1.25, 2.0, 3.0, 4.0, 5.0)
MOST = 0.99
"""Share of the mass that a factor shall cover."""


def ratios(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """By what factor (n,) each knot's weight is off that of the earlier prior, either way, and the later weights (n,).

    The earlier prior has its uniform share, as in a design.
    """
    domain = (pair.low, pair.high)
    older = Prior.from_data(pair.older, knots=KNOTS, domain=domain, source="public").mixed().weights
    newer = Prior.from_data(pair.newer, knots=KNOTS, domain=domain, source="public").weights
    with np.errstate(divide="ignore"):
        return np.maximum(newer / older, older / newer), newer


def covering(factors: np.ndarray, mass: np.ndarray) -> float:
    """The least factor within which so much of the mass lies."""
    order = np.argsort(factors)
    return float(factors[order][np.searchsorted(np.cumsum(mass[order]), MOST * mass.sum())])


def measured(pair: Pair) -> str:
    try:
        return f"{measure_trust(pair.older, pair.newer, knots=KNOTS, domain=(pair.low, pair.high)).factor:.2f}"
    except InputError:
        return "none"


def rows(folder: Path) -> list[tuple[str, ...]]:
    found = []
    for pair in pairs(folder):
        factors, mass = ratios(pair)
        within = [f"{100 * mass[factors <= factor].sum():.1f}" for factor in FACTORS]
        people = f"{len(pair.older):,}, {len(pair.newer):,}"
        found.append((pair.name, pair.how, people, *within, f"{covering(factors, mass):.2f}", measured(pair)))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    header = ("column", "earlier, later", "values", *(f"within {factor:g}" for factor in FACTORS), "99 % within",
              "measured")  # fmt: skip
    print(table(header, rows(parser.parse_args().data)))
