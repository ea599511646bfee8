"""Means over several services: UA and UWA of "Privacy for Free", figures 4 to 8, parts on means.

The mean squared error of an unbiased estimate is its variance, and the spread over the users of one repetition gives
that variance to a percent, where the squares of 50 errors give it to 20%.  So the columns are the variance of the
estimate about the mean of these users' values; squared errors stand beside it, as they have the bias too.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from optldp.estimators import ReportCounts, Service, estimate_combined_mean, plain_decoder
from optldp.estimators.methods import MeanMethod
from optldp.mechanisms import duchi, laplace, piecewise, square_wave

from ..experiment.drawn_values import Draw, beta, beta_waves, services_sets
from ..experiment.repeated import Errors, Scores, repeat, show_panels
from ..experiment.script import Check, Run

FAMILIES = {"SR": duchi, "Laplace": laplace, "PM": piecewise, "SW": square_wave}
FOUR = tuple(FAMILIES)
METHODS: dict[str, MeanMethod] = {"UA": "ua", "UWA": "uwa", "population": "population"}
OURS: dict[str, MeanMethod] = {**METHODS, "joint decoder, ours": "decoder"}
"""With the library's decoder of least variance for all services' reports together, which takes seconds."""
SHOWN = ("SR", "Laplace", "PM", "SW", "UA", "UWA", "population")
KNOTS = np.linspace(0.0, 1.0, 65)
UNIT, SCALE = "variance of the mean x 10^6", 1e6
EQUAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
UNEQUAL = {
    "A1": (0.1, 0.2, 0.3, 0.4),
    "A2": (0.2, 0.4, 0.1, 0.3),
    "A3": (0.3, 0.1, 0.4, 0.2),
    "A4": (0.4, 0.3, 0.2, 0.1),
}

PAPER_USERS = 1_000_000
"""Users of the paper's experiments."""

Config = Sequence[tuple[str, float]]
"""The services: mechanism and budget of each."""


def users(run: Run) -> int:
    """Users of each repetition: variances fall as 1/n, so that ratios do not depend on it."""
    return 20_000 if not run.quick else 4_000


def scores(
    run: Run,
    draw: Draw,
    config: Config,
    case: Sequence[int],
    *,
    ragged: bool = False,
    methods: Mapping[str, MeanMethod] = METHODS,
    repetitions: tuple[int, int] = (50, 4),
) -> Scores:
    """Return variances and squared errors of all methods over the repetitions of one configuration."""
    services = [Service(f"{family} {j}", FAMILIES[family](KNOTS, e)) for j, (family, e) in enumerate(config)]
    n = users(run)

    def job(rng: np.random.Generator) -> Errors:
        values = draw(n, rng)
        outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in services], axis=1)
        if ragged:
            _silence(outputs)
        return _errors(services, outputs, values, methods)

    return repeat(run, case, run.repetitions(*repetitions), job)


def _silence(outputs: np.ndarray) -> None:
    """Deal the users into the groups G1 to G11 and drop what they did not report."""
    member = np.arange(len(outputs)) % len(groups())
    for number, chosen in enumerate(groups()):
        silent = [j for j in range(outputs.shape[1]) if j not in chosen]
        outputs[np.ix_(member == number, silent)] = -1


def groups() -> list[tuple[int, ...]]:
    """The services of G1 to G11: all sets of two, three and four."""
    return [chosen for size in (2, 3, 4) for chosen in itertools.combinations(range(4), size)]


def _errors(
    services: Sequence[Service], outputs: np.ndarray, values: np.ndarray, methods: Mapping[str, MeanMethod]
) -> Errors:
    truth, found = values.mean(), {}
    for j, service in enumerate(services):
        here = outputs[:, j] >= 0
        decoded = plain_decoder(service.mechanism)[outputs[here, j]]
        found[f"service {j}"] = (decoded.var() - values.var()) / here.sum()
    counts = ReportCounts.from_outputs(services, outputs)
    for name, method in methods.items():
        estimate = estimate_combined_mean(counts, method=method)
        found[name] = estimate.std_error**2 - values.var() / values.size
        found[f"square {name}"] = (estimate.value - truth) ** 2
        found[f"error {name}"] = estimate.value - truth
    found["best single"] = min(found[f"service {j}"] for j in range(len(services)))
    return found


def _named(found: Scores, config: Config) -> Scores:
    """The same scores with each service under its mechanism's name, where these are all different."""
    for j, (family, _) in enumerate(config):
        found.values[family] = found.values[f"service {j}"]
    return found


def equal_budgets(run: Run) -> list[Check]:
    """Figure 4, (a) to (d)."""
    budgets = EQUAL if not run.quick else (0.1, 0.6)
    panels = {}
    for number, (name, draw) in enumerate(services_sets(run).items()):
        configs = [[(family, e) for family in FOUR] for e in budgets]
        points = [_named(scores(run, draw, c, (4, number, i)), c) for i, c in enumerate(configs)]
        panels[name] = list(zip(budgets, points, strict=True))
    show_panels(
        run, "figure-4-means", f"Equal budgets, {users(run):,} users", panels, SHOWN, "epsilon", UNIT, scale=SCALE
    )
    every = [(name, e, found) for name, points in panels.items() for e, found in points]
    _errors_seen(run, every)
    gains = [found.gain(method, "best single") for *_, found in every for method in ("UA", "UWA")]
    better = [found.gain("UWA", "UA") for *_, found in every]
    population = [found.gain("population", "UWA") for *_, found in every]
    run.table(
        "figure-4-gains",
        "Gains at equal budgets, in % of the variance",
        ("gain", "least", "most"),
        [
            (label, f"{100 * min(seen):.1f}", f"{100 * max(seen):.1f}")
            for label, seen in (
                ("UA or UWA over the best single", gains),
                ("UWA over UA", better),
                ("population over UWA", population),
            )
        ],
    )
    return [
        Check(
            "UA and UWA at equal budgets are 53% to 85% better than the best single mechanism (here: by half or more)",
            min(gains) > 0.5,
            f"{100 * min(gains):.0f}% to {100 * max(gains):.0f}%",
        )
    ]


def _errors_seen(run: Run, every: list[tuple[str, float, Scores]]) -> None:
    """Squared errors against the variances; and UWA's bias, its paired difference from population weights."""
    rows = []
    for epsilon in dict.fromkeys(e for _, e, _ in every):
        here = [found for _, e, found in every if e == epsilon]
        ratios = [np.mean([found.mean(f"square {m}") / found.mean(m) for found in here]) for m in ("UA", "UWA")]
        pairs = [found.values["error UWA"] - found.values["error population"] for found in here]
        pair = Scores.of({"d": np.concatenate(pairs)})
        variance = np.mean([found.mean("UWA") for found in here]) * users(run) / PAPER_USERS
        share = (pair.mean("d") ** 2 - pair.error("d") ** 2) / variance  # less what noise adds to a square
        rows.append((f"{epsilon:g}", *(f"{r:.2f}" for r in ratios), pair.show("d", 1e3), f"{100 * share:+.1f}%"))
    header = ("epsilon", "squared error / variance, UA", "the same, UWA", "UWA - population x 1000")
    header = (*header, "its square / variance at 1M users")
    run.table("figure-4-bias", "Squared errors against variances, and UWA's bias, all data sets together", header, rows)


def unequal_budgets(run: Run) -> list[Check]:
    """Figure 5, (a) to (d)."""
    panels = {}
    for number, (name, draw) in enumerate(services_sets(run).items()):
        points = []
        for i, (label, budgets) in enumerate(UNEQUAL.items()):
            config = list(zip(FOUR, budgets, strict=True))
            points.append((label, _named(scores(run, draw, config, (5, number, i)), config)))
        panels[name] = points
    show_panels(run, "figure-5-means", f"A1 to A4, {users(run):,} users", panels, SHOWN, "budgets", UNIT, scale=SCALE)
    every = [found for points in panels.values() for _, found in points]
    worse = [-found.gain("UA", "best single") for found in every]
    gains = [found.gain("UWA", "best single") for found in every]
    return [
        Check("UA is worse than the best single mechanism", min(worse) > 0, f"by {_span(worse)}"),
        Check(
            "UWA is better than the best single mechanism by 11.51% to 72.41%, over 40% on average (here: over 11%)",
            min(gains) > 0.11,
            f"{_span(gains)}, {100 * np.mean(gains):.0f}% on average",
        ),
    ]


def joint_decoder(run: Run) -> list[Check]:
    """Figures 4 and 5, Beta(2,5), with the library's own best: one repetition tells a variance to a percent."""
    configs = {f"all at {e:g}": (e,) * len(FOUR) for e in (0.1, 0.6)} | UNEQUAL
    points = []
    for i, (label, budgets) in enumerate(list(configs.items())[: 1 if run.quick else None]):
        config = list(zip(FOUR, budgets, strict=True))
        points.append((label, scores(run, beta, config, (45, i), methods=OURS, repetitions=(2, 1))))
    title, shown = f"With the joint decoder, {users(run):,} users", ("best single", *OURS)
    show_panels(run, "figure-4-ours", title, {"Beta(2,5)": points}, shown, "budgets", UNIT, scale=SCALE)
    gains = [found.gain("joint decoder, ours", "UWA") for _, found in points]
    return [Check("the joint decoder has less variance than UWA", min(gains) > 0, f"by {_span(gains)}")]


def same_mechanism(run: Run) -> list[Check]:
    """Figure 6 (a): four services with one mechanism, at 0.1 to 0.4."""
    points, checks = [], []
    budgets = {f"service {j}": f"at {e:g}" for j, e in enumerate(UNEQUAL["A1"])}
    for i, family in enumerate(FOUR):
        found = scores(run, beta_waves, [(family, e) for e in UNEQUAL["A1"]], (6, i))
        points.append((family, found.renamed(budgets | {m: m for m in METHODS})))
        for claim, gain in (
            ("UA is worse than the service at 0.4", -found.gain("UA", "service 3")),
            ("UWA has the smallest error", found.gain("UWA", "best single")),
        ):
            checks.append(Check(f"{family}: {claim}", gain > 0, f"by {100 * gain:.0f}%"))
    shown = (*budgets.values(), *METHODS)
    show_panels(run, "figure-6-means", "One mechanism", {"Beta+Sin": points}, shown, "mechanism", UNIT, scale=SCALE)
    return checks


def number_of_services(run: Run) -> list[Check]:
    """Figure 7 (a): 4 to 16 services at 0.1, the four mechanisms over and over."""
    sizes = (4, 8, 12, 16) if not run.quick else (4, 16)
    points = [(float(m), scores(run, beta, [(f, 0.1) for f in FOUR] * (m // 4), (7, m))) for m in sizes]
    methods = ("best single", "UA", "UWA", "population")
    show_panels(run, "figure-7-means", "More services", {"Beta(2,5)": points}, methods, "services", UNIT, scale=SCALE)
    first, last = points[0][1], points[-1][1]
    ratio = first.mean("UWA") / last.mean("UWA")
    return [Check("UWA's error falls as services are added", ratio > 2, f"{ratio:.1f} times less at m = {sizes[-1]}")]


def direct_collection(run: Run) -> list[Check]:
    """Figure 8 (a): a report of one's own at 0.1 more, or the four services' reports at no further budget."""
    config = [(family, 0.1) for family in FOUR]
    found = _named(scores(run, beta_waves, config, (8, 1)), config)
    whole = scores(run, beta_waves, [("SR", 0.4)], (8, 2))
    rows = [
        *((f"{m} asked once more at 0.1", "0.5", found.show(m, SCALE)) for m in FOUR),
        ("UA of the four", "0.4", found.show("UA", SCALE)),
        ("UWA of the four", "0.4", found.show("UWA", SCALE)),
        ("one SR report at 0.4, no services", "0.4", whole.show("service 0", SCALE)),
    ]
    run.table("figure-8-means", f"Who asks, Beta+Sin: {UNIT}", ("reports", "budget spent", UNIT), rows)
    gain = found.gain("UWA", "best single")
    return [Check("the services' reports beat a report of one's own at 0.1", gain > 0, f"UWA by {100 * gain:.0f}%")]


def user_groups(run: Run) -> list[Check]:
    """Figure 8 (c): eleven groups with two, three or four services, each by itself and all together."""
    points = []
    for i, chosen in enumerate(groups()):
        print(f"\nG{i + 1}: {', '.join(FOUR[j] for j in chosen)}", end="")
        points.append((f"G{i + 1}", scores(run, beta, [(FOUR[j], 0.1) for j in chosen], (83, i))))
    gains = [found.gain("UWA", "best single") for _, found in points]
    over_ua = [found.gain("UWA", "UA") for _, found in points]
    points.append(("all", scores(run, beta, [(family, 0.1) for family in FOUR], (83, 11), ragged=True)))
    title, shown = f"Groups, {users(run):,} users each", ("best single", *METHODS)
    show_panels(run, "figure-8-groups", title, {"Beta(2,5)": points}, shown, "group", UNIT, scale=SCALE)
    return [
        Check("UWA is better than the best single service in every group", min(gains) > 0, _span(gains)),
        Check("UWA is as good as UA in every group, within 2%", min(over_ua) > -0.02, f"{_span(over_ua)} better"),
    ]


def _span(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.1f}% to {100 * max(shares):.1f}%"
