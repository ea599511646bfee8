"""AAA for several attributes: each client reports one of them, in the learning phase or after it (section 3.2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from optldp.designer import Lattice, TwoPhasePlan
from optldp.designer.protocols.two_phase import two_phase_attributes

from ..experiment.script import Check, Run
from .data import DataSet, scaled, synthetic
from .errors import DOMAIN, Error, aaa_two_phases, closed_forms, optimum, our_two_phases

RIVALS = ("laplace", "duchi", "piecewise", "hybrid")
CLIENTS = 100_000
ADULT = {"age": 16, "education_num": 15, "capital_gain": 16, "capital_loss": 16, "hours_per_week": 16}
"""Numeric columns, with AAA's lattice intervals."""

NOISY = 4.0
"""A simulation's deviation, in standard errors, that its check allows for."""


def attributes(run: Run) -> list[Check]:
    """The experiment of the full version: the mean squared error over d attributes."""
    cases = {f"synthetic, d = {d}": _mixed(d) for d in ((4,) if run.quick else (4, 16))}
    if run.data is not None:
        cases["Adult, d = 5"] = _adult(run.data)
    repeats, rows = run.repetitions(5, 2), []
    for number, (name, sets) in enumerate(cases.items()):
        for epsilon in (1.0,) if run.quick else (0.5, 1.0, 2.0, 4.0):
            rows.append((name, epsilon, *_errors(sets, epsilon, repeats, [run.seed, 10, number], run.quick)))
    header = ("data", "epsilon", "bound", *RIVALS, "AAA, EM", "AAA, linear program", "two phases, ours")
    run.table("aaa-attributes", "n / d times the squared error of a mean on [-1, 1], over d attributes", header, rows)
    ours = max(row[-1].value / row[-3].value for row in rows)
    fits = [row[-2].value / row[-3].value for row in rows]
    floor = min((cell.value + NOISY * np.nan_to_num(cell.spread)) / row[2].value for row in rows for cell in row[3:])
    return [
        Check("nothing unbiased is below the certified bound", floor > 1 - 1e-3, f"smallest ratio {floor:.4f}"),
        Check("free outputs and reports of both phases gain on AAA", ours < 1, f"at most {ours:.3f}"),
        Check("the linear program is as good as EM for AAA", max(fits) < 1.05, f"{min(fits):.3f} to {max(fits):.3f}"),
        _simulated(run),
    ]


def _errors(sets: list[DataSet], epsilon: float, repeats: int, seed: list[int], quick: bool) -> list[Error]:
    """Return the mean over the attributes; alike ones are worked out once."""
    known: dict[str, list[Error]] = {}
    d = len(sets)
    for number, data in enumerate(sets):
        if data.name in known:
            continue
        closed = closed_forms(data.values, epsilon, d)
        own = [*seed, number, round(100 * epsilon)]
        known[data.name] = [
            optimum(data.values, epsilon, 33 if quick else 65, d)["bound"],
            *(closed[rival] for rival in RIVALS),
            aaa_two_phases(data.values, epsilon, data.intervals, repeats, own, attributes=d),
            aaa_two_phases(
                data.values, epsilon, data.intervals, repeats, own, attributes=d, estimator="least-absolute"
            ),
            our_two_phases(data.values, epsilon, repeats, own, d),
        ]
    columns = zip(*(known[data.name] for data in sets), strict=True)
    return [
        Error(
            float(np.mean([one.value for one in column])) / d,
            float(np.sqrt(np.nansum([one.spread**2 for one in column]))) / d**2,
        )
        for column in columns
    ]


def _mixed(d: int) -> list[DataSet]:
    """d attributes of the same clients: the paper's Gaussian, exponential and Bernoulli in turn."""
    drawn = synthetic((CLIENTS,))
    return [drawn[j % len(drawn)] for j in range(d)]


def _adult(folder: Path) -> list[DataSet]:
    with np.load(folder / "adult.npz", allow_pickle=False) as arrays:
        columns = {name: arrays[name].astype(np.float64) for name in ADULT}
    return [
        DataSet(name, scaled(column, (column.min(), column.max())), ADULT[name]) for name, column in columns.items()
    ]


def _simulated(run: Run) -> Check:
    """Run the whole protocol for three attributes: squared errors against the formula."""
    sets, epsilon, repeats = synthetic((10_000,)), 2.0, run.repetitions(60, 10)
    plans = {
        data.name: TwoPhasePlan(
            DOMAIN, epsilon, knots=data.intervals + 1, phase_one="grr", estimator="least-absolute", method=Lattice()
        )
        for data in sets
    }
    expected = [
        aaa_two_phases(
            data.values, epsilon, data.intervals, 10, [run.seed, 11], attributes=3, estimator="least-absolute"
        ).value
        for data in sets
    ]
    ratios = []
    for r in range(repeats):
        rng = np.random.default_rng([run.seed, 12, r])
        found = two_phase_attributes({data.name: data.values for data in sets}, plans, rng=rng)
        ratios += [
            data.values.size * (found[data.name].second_mean.value - data.values.mean()) ** 2 / error
            for data, error in zip(sets, expected, strict=True)
        ]
    seen = Error.of(ratios)
    return Check(
        f"two_phase_attributes errs as calculated, {repeats} runs", abs(seen.value - 1) < NOISY * seen.spread, str(seen)
    )
