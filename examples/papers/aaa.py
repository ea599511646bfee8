"""AAA (Wei et al., 2024) redone: the optimal noise, its variance, and the errors of the mean in two phases.

    python examples/papers/aaa.py [--quick] [--data FOLDER] [--out FOLDER] [--figure NAME ...]

What was found: docs/papers/aaa.md. Figure 5 needs --data, a folder with the real data sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optldp.designer import two_phase
from optldp.estimators.plots.style import SHADE, empty_figure, method_style
from redone.aaa.attributes import attributes
from redone.aaa.data import DataSet, real, scaled, synthetic
from redone.aaa.errors import (
    DOMAIN,
    SHARE,
    Error,
    aaa_two_phases,
    closed_forms,
    optimum,
    our_two_phases,
    square_wave_mean,
)
from redone.aaa.noise import noise, printed, thin_tails
from redone.aaa.said import said
from redone.aaa.variance import lattice, variance
from redone.experiment.script import Check, Run, main

EPSILONS = (0.5, 1.0, 2.0, 4.0)
RIVALS = ("laplace", "duchi", "piecewise", "hybrid")
"""The paper's unbiased competitors; the square wave's mean is biased and stands for itself."""

METHODS = ("laplace", "duchi", "piecewise", "hybrid", "three-outputs", "square-wave, EMS", "AAA", "two phases, ours")
STYLES = {"AAA": "aaa", "square-wave, EMS": "square-wave", "two phases, ours": "optimal"}
ROUNDING = 1e-3
"""Rounding to knots adds to a table's variance what a closed form is free of: at 101 knots below a thousandth."""

NOISY = 4.0
"""A repetition's worth of noise, in standard errors, that a check allows for."""

Found = dict[tuple[str, float], dict[str, Error]]
"""Errors by data set and budget, then by method."""


def synthetic_means(run: Run) -> list[Check]:
    """Figure 4: the mean's squared error on synthetic data."""
    sizes = (10_000,) if run.quick else (1_000, 10_000, 100_000)
    found = _errors(run, synthetic(sizes), (0.5, 2.0) if run.quick else EPSILONS, case=4)
    _show(run, "aaa-figure-4", "Synthetic data", found)
    gaussian = [errors for (name, _), errors in found.items() if name.startswith("Gaussian")]
    bernoulli = [errors for (name, _), errors in found.items() if name.startswith("Bernoulli")]
    worse = [errors["AAA"].value / errors["duchi"].value for errors in bernoulli]
    tight = max(abs(errors["duchi"].value / errors["bound"].value - 1) for errors in bernoulli)
    ours = max(errors["two phases, ours"].value / errors["AAA"].value for errors in gaussian)
    return [
        *_floor(found),
        Check("Bernoulli: Duchi's mechanism is the optimum", tight < ROUNDING, f"apart by {tight:.1e}"),
        Check(
            "Bernoulli: so AAA errs a tenth more, or worse", min(worse) > 1.1, f"{min(worse):.3f} to {max(worse):.3f}"
        ),
        Check("Gaussian: reports of both phases and free outputs gain on AAA", ours < 1, f"at most {ours:.3f}"),
        _simulated(run),
    ]


def moved(run: Run) -> list[Check]:
    """Figure 4's Gaussian on three ranges: is the square wave only good because the mean is in the middle?"""
    raw = np.random.default_rng(run.seed).normal(size=10_000).clip(-5, 5)
    rows = []
    for number, domain in enumerate(((-5, 5), (-9, 5), (-5, 15))):
        values = scaled(raw, domain)
        for epsilon in (1.0,) if run.quick else (0.5, 1.0, 2.0):
            wave = square_wave_mean(values, epsilon, run.repetitions(100, 30), [run.seed, 9, number])
            bound = optimum(values, epsilon, 33 if run.quick else 101)["bound"].value
            rows.append((str(domain), epsilon, float(values.mean()), bound, wave, wave.value / bound))
    header = ("range", "epsilon", "mean on [-1, 1]", "bound of unbiased mechanisms", "square-wave, EMS", "ratio")
    run.table("aaa-moved", "Gaussian data, n = 10,000: n times the squared error", header, rows)
    sure = [row for row in rows if row[1] == 1.0 and row[4].value + NOISY * row[4].spread < row[3]]
    seen = f"at most {max(row[5] for row in rows if row[1] == 1.0):.2f} of the bound"
    return [Check("epsilon 1: the square wave's mean beats every unbiased one", len(sure) == 3, seen)]


def real_means(run: Run) -> list[Check]:
    """Figure 5: the mean's squared error on real data."""
    if run.data is None:
        print("\nneeds --data: left out")
        return []
    sets = real(run.data)[1:2] if run.quick else real(run.data)
    found = _errors(run, sets, (1.0,) if run.quick else EPSILONS, case=5)
    _show(run, "aaa-figure-5", "Real data", found)
    return _floor(found)


def parameters(run: Run) -> list[Check]:
    """Figure 6: AAA's share of the first phase, bin width, and range of the noise."""
    sizes = (10_000,) if run.quick else (1_000, 10_000)
    sets = [data for data in synthetic(sizes) if not data.name.startswith("exponential")]
    epsilons = (1.0,) if run.quick else (0.5, 1.0, 4.0)
    repeats = run.repetitions(8, 2)
    parts: dict[str, list[tuple[str, dict]]] = {
        "a: share of the first phase": [(f"{s:g}", {"share": s}) for s in (0.05, 0.1, 0.2, 0.3, 0.4)],
        "b: bin width": [(f"{2 / n:g}", {"share": 0.05, "intervals": n}) for n in (16, 8, 4, 2, 1)],
        "c: noise range over data range": [(f"{q}", {"share": 0.05, "range": q}) for q in (2, 4, 8, 16)],
    }
    checks = []
    for part, settings in parts.items():
        rows = []
        for number, data in enumerate(sets):
            for epsilon in epsilons:
                errors = [_with(data, epsilon, repeats, [run.seed, 6, number], **options) for _, options in settings]
                rows.append((data.name, epsilon, *errors))
        header = ("data", "epsilon", *(name for name, _ in settings))
        run.table(f"aaa-figure-6{part[0]}", f"AAA, n times the squared error; {part}", header, rows)
        if part.startswith("c"):
            gaussian = [row for row in rows if row[0].startswith("Gaussian") and row[1] >= 1]
            spread = max(abs(row[3].value / row[-1].value - 1) for row in gaussian)
            checks.append(
                Check("Gaussian, epsilon 1 and more: q = 4 is enough", spread < 0.01, f"{spread:.1e} from q = 16")
            )
    return checks


def _with(data: DataSet, epsilon: float, repeats: int, seed: list[int], **options: float) -> Error:
    """AAA with its parameters as asked; the bins of Bernoulli data stay as wide as their range allows."""
    fixed = 2 if data.name.startswith("Bernoulli") else 16
    intervals = int(options.get("intervals", fixed))
    window = round(options["range"] * intervals / 2) if "range" in options else None
    share = options.get("share", SHARE)
    return aaa_two_phases(data.values, epsilon, intervals, repeats, seed, share=share, window=window)


def _errors(run: Run, sets: Sequence[DataSet], epsilons: Sequence[float], case: int) -> Found:
    designs, waves = run.repetitions(10, 3), run.repetitions(40, 4)
    found: Found = {}
    for number, data in enumerate(sets):
        for epsilon in epsilons:
            seed = [run.seed, case, number, round(100 * epsilon)]
            found[data.name, epsilon] = {
                **optimum(data.values, epsilon, 33 if run.quick else 101),
                **closed_forms(data.values, epsilon),
                "square-wave, EMS": square_wave_mean(data.values, epsilon, waves, seed),
                "AAA": aaa_two_phases(data.values, epsilon, data.intervals, designs, seed),
                "two phases, ours": our_two_phases(data.values, epsilon, designs, seed),
            }
    return found


def _floor(found: Found) -> list[Check]:
    """Nothing unbiased may be below the bound: closed forms and designs that all use, and phases on average."""
    unbiased = [name for name in METHODS if name != "square-wave, EMS"]
    least = min(
        (errors[name].value + NOISY * np.nan_to_num(errors[name].spread)) / errors["bound"].value
        for errors in found.values()
        for name in unbiased
    )
    return [Check("nothing unbiased is below the certified bound", least > 1 - ROUNDING, f"smallest ratio {least:.4f}")]


def _against_rivals(errors: dict[str, Error]) -> float:
    return errors["AAA"].value / min(errors[rival].value for rival in RIVALS)


def _simulated(run: Run) -> Check:
    """Run the whole of `two_phase` on one set: its squared errors against the formula of `our_two_phases`."""
    data, epsilon, repeats = synthetic((10_000,))[0], 1.0, run.repetitions(400, 40)
    expected = our_two_phases(data.values, epsilon, 10, [run.seed, 7])
    squares = []
    for r in range(repeats):
        rng = np.random.default_rng([run.seed, 8, r])
        mean = two_phase(data.values, epsilon, domain=DOMAIN, rng=rng, share=SHARE, knots=33).value
        squares.append(data.values.size * (mean - data.values.mean()) ** 2)
    seen = Error.of(squares)
    apart = abs(seen.value - expected.value) / seen.spread
    return Check(f"two_phase errs as calculated, {repeats} runs", apart < NOISY, f"{seen} against {expected.value:.4g}")


def _show(run: Run, name: str, title: str, found: Found) -> None:
    header = ("data", "epsilon", "bound", "optimum, data known", *METHODS, "AAA / best unbiased rival")
    rows = [
        (data, epsilon, *(errors[method] for method in header[2:-1]), _against_rivals(errors))
        for (data, epsilon), errors in found.items()
    ]
    run.table(name, f"{title}: n times the squared error of the mean on [-1, 1]", header, rows)
    if run.out is not None:
        _draw(run, name, found)


def _draw(run: Run, name: str, found: Found) -> None:
    """Draw squared errors over the certified bound: the errors themselves span decades, their differences do not."""
    sets = list(dict.fromkeys(data for data, _ in found))
    across = 2 if len(sets) in (2, 4) else min(3, len(sets))
    down = -(-len(sets) // across)
    figure = empty_figure(3.4 * across, 2.9 * down + 1.0)
    places = figure.subplots(down, across, squeeze=False)
    for axes, data in zip(places.ravel(), sets, strict=False):
        points = [(epsilon, errors) for (place, epsilon), errors in found.items() if place == data]
        epsilons = [epsilon for epsilon, _ in points]
        for method in METHODS:
            ratios = [errors[method].value / errors["bound"].value for _, errors in points]
            axes.plot(epsilons, ratios, label=method, **method_style(STYLES.get(method, method)))
        axes.axhspan(0.1, 1, color=SHADE)
        axes.set(title=data, xlabel="privacy budget ε", yscale="log", ylim=(0.25, 8), yticks=(0.3, 0.5, 1, 2, 4, 8))
        axes.set_yticklabels(["0.3", "0.5", "1", "2", "4", "8"])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    for axes in places[:, 0]:
        axes.set_ylabel("squared error / bound")
    for spare in places.ravel()[len(sets) :]:
        spare.set_axis_off()
    handles = places[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=across + 1, fontsize=8.5)
    note = "shaded: out of reach of unbiased mechanisms (the square wave's mean is biased); beyond the top: larger"
    figure.suptitle(note, fontsize=9)
    run.figure(name, figure)


if __name__ == "__main__":
    main(
        "aaa",
        "AAA redone: figures 2 to 6, and equation (15) as printed",
        {
            "2": noise,
            "15": printed,
            "tails": thin_tails,
            "3": variance,
            "lattice": lattice,
            "4": synthetic_means,
            "4, moved": moved,
            "5": real_means,
            "6": parameters,
            "attributes": attributes,
        },
        said,
    )
