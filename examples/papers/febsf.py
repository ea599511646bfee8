"""Wu, Zhu, Zhang and Xie (2024), PLDP-FEBSF: figures 2 to 8 and two equations, redone.

The methods are in redone/febsf/methods.py. What was found: docs/papers/febsf.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from optldp.estimators import PersonalisedCounts, auem
from optldp.estimators.distributions.metrics import mse
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from redone.experiment.repeated import Errors, Scores, repeat, show_panels
from redone.experiment.script import Check, Run, main
from redone.febsf.emoa import emoa_printed
from redone.febsf.methods import (
    EPSILONS,
    LAWS,
    OTHERS,
    PROTECTED,
    as_printed,
    estimates,
    others,
    populations,
    protected,
    shares,
    two_budgets,
    zipf,
)
from redone.febsf.said import said
from redone.febsf.theorems import theorems

EVERY = (*OTHERS, *PROTECTED, "even")
PAIR = ("PBP, true shares", "PBP, random shares", *PROTECTED, "even")
UNITS = {"MSE": ("MSE x 10^4", 1e4), "MAE": ("MAE x 100", 1e2)}
EMOA = ("EMOA as printed", "EMOA as released")
STEEP = 0.4
"""The paper: below this epsilon_p the curve is steep, above it is flat."""


def level_budget(run: Run) -> list[Check]:
    """Figure 2: AUEM against epsilon_p; medians too, as an inversion by a share near zero spoils means."""
    panels, rows = {}, []
    budgets = EPSILONS if not run.quick else (0.1, 0.4, 1.0)
    for number, (name, population) in enumerate(populations(run).items()):
        mechanisms = {e: _rappors(population.labels, e) for e in budgets}

        def job(rng: np.random.Generator, population=population, mechanisms=mechanisms) -> Errors:
            levels = rng.integers(0, len(EPSILONS), population.codes.size)
            values, found = population.labels[population.codes], {}
            for e, mechanism in mechanisms.items():
                counts = PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng))
                off = auem(counts).value - population.truth
                found |= {f"MSE {e}": float(np.mean(off**2)), f"MAE {e}": float(np.abs(off).mean())}
            return found

        every = repeat(run, (2, number), run.repetitions(20, 8), job)
        panels[name] = [(e, every.renamed({f"{m} {e}": m for m in UNITS})) for e in budgets]
        for e in budgets:
            medians = (float(scale * np.median(every.values[f"{m} {e}"])) for m, (_, scale) in UNITS.items())
            rows.append((name, f"{e:g}", *medians))
    for measure, (unit, scale) in UNITS.items():
        show_panels(run, f"figure-2-{measure}", "AUEM, means", panels, (measure,), "epsilon_p", unit, scale=scale)
    run.table("figure-2-medians", "AUEM, medians", ("data", "epsilon_p", *(u for u, _ in UNITS.values())), rows)
    of = {(row[0], row[1]): row[3] for row in rows}
    steep = [of[name, "0.1"] / of[name, "0.4"] for name in panels]
    flat = [of[name, "0.4"] / of[name, "1"] for name in panels]
    spans = [f"{min(g):.1f} to {max(g):.1f} times" for g in (steep, flat)]
    seen = f"median MAE falls {spans[0]} from 0.1 to 0.4, {spans[1]} from 0.4 to 1"
    holds = min(steep) > 1 and min(flat) > 1 and sum(steep) > sum(flat)
    return [Check("AUEM's error falls with epsilon_p, steeply below 0.4", holds, seen)]


def _rappors(labels: np.ndarray, epsilon_p: float) -> PersonalisedMechanism:
    return PersonalisedMechanism([basic_rappor(labels.tolist(), e) for e in EPSILONS], epsilon_p)


def domain_size(run: Run) -> list[Check]:
    """Figures 3 and 4: more categories, Zipf's law, epsilon_p 0.3, budgets 0.1 to 1.0 chosen evenly."""
    sizes = (8, 16, 32, 64) if not run.quick else (8, 32)
    points = []
    for size in sizes:
        population = zipf(size, 32_561 if not run.quick else 8_000)
        points.append((float(size), _scores(run, population, "even", (3, size))))
    _show(run, "figure-3", "figure-4", "More categories, epsilon_p 0.3", {"Zipf": points}, "categories")
    found = points[-1][1]
    best = found.gain("MSE likelihood", "MSE EMOA as released")
    drop = [found.mean("MSE likelihood") < found.mean(f"MSE {m}") for _, found in points for m in ("AUEM", *EMOA)]
    seen = f"at {sizes[-1]} categories by {100 * best:.0f}% against EMOA as released"
    return [Check("the joint likelihood has a smaller squared error than AUEM and EMOA", all(drop), seen)]


def _scores(run: Run, population, law: str, case: Sequence[int]) -> Scores:
    def job(rng: np.random.Generator) -> Errors:
        levels = rng.choice(len(EPSILONS), population.codes.size, p=shares(law))
        return others(population, levels, rng) | protected(population, levels, 0.3, rng)

    return repeat(run, case, run.repetitions(20, 4), job)


def _show(run: Run, first: str, second: str, title: str, panels, x: str, methods: Sequence[str] = EVERY) -> None:
    """Keep the same scores as a figure of squared and one of absolute errors."""
    for name, (measure, (unit, scale)) in zip((first, second), UNITS.items(), strict=True):
        view = {}
        for label, points in panels.items():
            view[label] = [(at, _only(found, measure, methods)) for at, found in points]
        show_panels(run, name, title, view, methods, x, unit, scale=scale)


def _only(found: Scores, measure: str, methods: Sequence[str]) -> Scores:
    return found.renamed({f"{measure} {m}": m for m in methods})


def two_levels(run: Run) -> list[Check]:
    """Figures 5 and 6: budgets 0.1 and 0.2 alone, epsilon_p 0.1, with PBP."""
    panels = {}
    for number, (name, population) in enumerate(populations(run).items()):
        points = []
        for i, law in enumerate(LAWS):

            def job(rng: np.random.Generator, population=population, law=law) -> Errors:
                return two_budgets(population, law, rng)

            points.append((law, repeat(run, (5, number, i), run.repetitions(20, 6), job)))
        panels[name] = points
    _show(run, "figure-5", "figure-6", "Budgets 0.1 and 0.2", panels, "users", PAIR)
    every = [found for points in panels.values() for _, found in points]
    random = [100 * found.gain("MSE AUEM", "MSE PBP, random shares") for found in every]
    true = [100 * found.gain("MSE AUEM", "MSE PBP, true shares") for found in every]
    print()
    for method, share in itertools.product(EMOA, ("random", "true")):
        gains = [100 * found.gain(f"MSE {method}", f"MSE PBP, {share} shares") for found in every]
        print(f"Gain in MSE of {method} over PBP, {share} shares: {', '.join(f'{gain:+.0f}%' for gain in gains)}.")
    nothing = [100 * found.gain("MSE even", "MSE PBP, random shares") for found in every]
    spans = [f"{min(g):+.0f}% to {max(g):+.0f}%" for g in (random, true, nothing)]
    print(f"\nGain in MSE: AUEM over PBP with random shares {spans[0]}, with true shares {spans[1]}.", end=" ")
    print(f"Even frequencies, that is no estimate at all, over PBP with random shares: {spans[2]}.")
    better = sum(gain > 0 for gain in random) > len(random) / 2
    return [Check("AUEM errs less than PBP with random shares in most cases", better, spans[0])]


def user_laws(run: Run) -> list[Check]:
    """Figures 7 and 8: even users and a power law, epsilon_p 0.3."""
    panels = {}
    for number, (name, population) in enumerate(populations(run).items()):
        panels[name] = [(law, _scores(run, population, law, (7, number, i))) for i, law in enumerate(LAWS)]
    _show(run, "figure-7", "figure-8", "Even users and a power law, epsilon_p 0.3", panels, "users")
    pairs = [[found for _, found in points] for points in panels.values()]
    harder = [b.mean(f"MSE {m}") / a.mean(f"MSE {m}") for a, b in pairs for m in OTHERS]
    every = [found for pair in pairs for found in pair]
    rivals = ("AUEM", "AUEM clipped", *EMOA)
    least = [found.mean("MSE likelihood") < min(found.mean(f"MSE {m}") for m in rivals) for found in every]
    print()
    for method in ("AUEM", *EMOA):
        gains = [f"{100 * found.gain('MSE PPDA', f'MSE {method}'):+.0f}%" for found in every]
        print(f"PPDA's gain in MSE over {method}, case by case: {', '.join(gains)}")
    recycled = [f"{100 * found.gain('MSE RCF, recycling', 'MSE RCF'):+.0f}%" for found in every]
    print(f"Gain in MSE of RCF by recycling, case by case: {', '.join(recycled)}")
    seen = f"{min(harder):.2f} to {max(harder):.2f} times the squared error (RCF, APLDP, PPDA)"
    return [
        Check("errors are larger under the power law", float(np.mean(harder)) > 1, seen),
        Check(
            "the likelihood errs least of what protects levels", all(least), f"in {sum(least)} of {len(least)} cases"
        ),
    ]


def users_and_errors(run: Run) -> list[Check]:
    """Figures 7 and 8 at the paper's own sizes: nine jobs, and 48,842 draws from Adult's countries."""
    found = {name: _scores(run, one, "even", (8, i)) for i, (name, one) in enumerate(as_printed(run).items())}
    rows = [(name, *(one.show(f"MSE {m}", 1e4) for m in EVERY)) for name, one in found.items()]
    run.table("figure-8-sizes", "Squared errors x 10^4 at the paper's own sizes", ("data", *EVERY), rows)
    least = [m for m in EVERY if min(found, key=lambda name: found[name].mean(f"MSE {m}")) == list(found)[-1]]
    shares = [one.mean("MSE likelihood") / one.mean("MSE even") for one in found.values()]
    seen = f"least for {', '.join(least) or 'no method'}"
    return [Check(f"the likelihood learns from users of {list(found)[-1]}", max(shares) < 1, seen)]


def equation_5(run: Run) -> list[Check]:
    """Equation 5 as printed, summed over all vectors of k bits: a probability would give one."""
    rows, sums = [], []
    for k in (2, 3, 4, 8):
        made = basic_rappor([str(i) for i in range(k)], 1.0)
        p, q = made.own_support, made.other_support
        bits = itertools.product((0, 1), repeat=k)
        total = sum(p if vector[0] else q for vector in bits)
        sums.append(total / 2 ** (k - 1))
        rows.append((k, float(total), 2 ** (k - 1), p / q, float(made.largest_ratio) ** 0.5))
    header = ("k", "sum of equation 5", "2^(k-1)", "its largest ratio", "e^(epsilon / 2)")
    run.table("equation-5", "Equation 5, basic RAPPOR, epsilon 1", header, rows)
    wrong = bool(np.allclose(sums, 1.0))
    return [Check("equation 5 sums to 2^(k-1), so that it is no probability", wrong, f"{rows[-1][1]:.0f} at k = 8")]


def drift(run: Run) -> list[Check]:
    """Equation 15 as printed: step by step away from AUEM's start, k-RR at budgets 1 and 2, epsilon_p 3."""
    population = zipf(8, 100_000 if not run.quick else 20_000)
    mechanism = PersonalisedMechanism([categorical_grr(population.labels.tolist(), e) for e in (1.0, 2.0)], 3.0)
    rng = np.random.default_rng([run.seed, 15])
    levels = rng.integers(0, 2, population.codes.size)
    sent = mechanism.sample(population.labels[population.codes], levels, rng)
    counts = PersonalisedCounts.from_reports(mechanism, sent)
    even = np.full(8, 1 / 8)
    found = {"AUEM": auem(counts).value, "likelihood": estimates(counts)["likelihood"]}
    found |= {f"EMOA, {n} steps": emoa_printed(counts, max_steps=n, max_gap=0.0).frequencies for n in (1, 2, 4, 16)}
    rows = [(name, 1e4 * mse(f, population.truth), 1e4 * mse(f, even)) for name, f in found.items()]
    run.table("drift", "EMOA step by step", ("estimate", "MSE x 10^4", "the same from even frequencies"), rows)
    last, start = rows[-1], rows[0]
    holds = last[2] < start[2] / 2 and last[1] > 10 * start[1]
    seen = f"{last[1] / start[1]:.0f} times AUEM's MSE"
    return [Check("EMOA's iteration drifts towards even frequencies", holds, seen)]


FIGURES = {
    "figure-2": level_budget,
    "figures-3-4": domain_size,
    "figures-5-6": two_levels,
    "figures-7-8": user_laws,
    "figure-8-sizes": users_and_errors,
    "equation-5": equation_5,
    "drift": drift,
    "theorems": theorems,
}

if __name__ == "__main__":
    main("febsf", __doc__ or "", FIGURES, said)
