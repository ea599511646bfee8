"""Every figure of this library: the pictures of docs/figures.md and docs/problem.md.

    python examples/figures.py --out docs

Incomes in thousands of euros, skewed, between 0 and 100: a guess, so the prior is public. The same files in every run.
"""

import argparse
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from optldp.designer import (
    METHODS,
    Error,
    Information,
    Prior,
    Pure,
    WorstCase,
    bounds,
    compare,
    design,
    plots,
    trade_off_curve,
)
from optldp.designer.designs import clip_curve
from optldp.designer.objectives import AtMost, Loss
from optldp.estimators import bias_aware_mean, count, estimate_distribution, estimate_frequencies
from optldp.mechanisms import frequency_oracle
from optldp.mechanisms.promise import Blocks, ByValue, Metric, Promise, Ratios, Sensitive
from PIL import Image  # comes with matplotlib
from scipy import stats

DOMAIN = (0, 100)
GUESSES = {
    "skewed": stats.beta(2, 5, 0, 100),
    "flat": stats.uniform(0, 100),
    "narrow": stats.truncnorm(-10, 10, loc=50, scale=5),
}
RARE = stats.lognorm(1.0, scale=8)
"""Of which one in two hundred lies above the domain's 100, and few near it."""

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
EPSILON = 2.0
USERS, REPETITIONS = 200, 4_000
OUTPUTS = (2, 3, 4, 6, 8)
SIMULATED = ("optimal", "aaa", "piecewise", "hybrid", "three-outputs", "duchi", "laplace")

PIXELS_PER_INCH = 144
COLORS = 256
"""Sharp on a screen, and small files."""


def prior_of(name: str) -> Prior:
    return Prior.from_distribution(GUESSES[name], knots=41, domain=DOMAIN, source="public", units="kEUR")


def against_budget(prior: Prior) -> dict[str, Axes]:
    """Variance, ratio and worst case of every method, with the minimax as the floor of the worst case."""
    rows = compare(prior, EPSILONS, objectives=[WorstCase()])
    return {
        "variance": rows.plot(),
        "ratio": rows.plot(relative=True),
        "worst-case": rows.plot(worst_case=True, relative=True),
    }


def at_one_budget(prior: Prior) -> dict[str, Axes]:
    tables = {method: design(prior, EPSILON, method=method).mechanism for method in METHODS}
    front = trade_off_curve(prior, EPSILON)
    few = {method: tables[method] for method in ("optimal", "ptt", "hybrid", "three-outputs", "duchi", "laplace")}
    few["minimax"] = front[-1].mechanism
    return {
        "conditional-variance": plots.by_value(few, prior=prior),
        "trade-off": plots.trade_off(front, mechanisms=tables, prior=prior),
        "least-favourable": plots.least_favourable(design(prior, EPSILON, objective=WorstCase()), prior=prior),
        "heat-map": plots.heat_map(tables["optimal"]),
    }


def where_bias_pays() -> dict[str, Axes]:
    """The error of a mean against the clip point, and what the best table and the best Laplace noise count as what."""
    rare = Prior.from_distribution(RARE, knots=41, domain=DOMAIN, source="public", units="kEUR")
    best, laplace = (design(rare, 1.0, objective=Error(20_000), method=method) for method in ("optimal", "laplace"))
    return {
        "clip-errors": plots.clip_errors(clip_curve(best)),
        "bias": plots.bias({"error": best.mechanism, "laplace": laplace.mechanism}, prior=rare),
    }


def errors_of_means() -> Axes:
    """Simulated squared errors of the mean of a few users, for every guess and some methods."""
    rng = np.random.default_rng(20)
    errors, spread = {}, {}
    for name, guess in GUESSES.items():
        values = np.clip(guess.rvs(USERS, random_state=rng), *DOMAIN)
        for method in SIMULATED:
            table = design(prior_of(name), EPSILON, method=method).mechanism
            means = table.sample(np.tile(values, REPETITIONS), rng).reshape(REPETITIONS, USERS).mean(axis=1)
            squares = (means - values.mean()) ** 2
            errors[name, method], spread[name, method] = squares.mean(), squares.std() / REPETITIONS**0.5
    return plots.error_table(
        errors,
        title=f"Mean of {USERS:,} users, ε = {EPSILON:g}",
        quantity=f"mean squared error [kEUR²] in {REPETITIONS:,} repetitions",
        standard_errors=spread,
    )


def distribution(prior: Prior) -> Axes:
    table, rng = design(prior, EPSILON).mechanism, np.random.default_rng(21)
    values = np.clip(GUESSES["skewed"].rvs(20_000, random_state=rng), *DOMAIN)
    axes = estimate_distribution(count(table, table.sample(values, rng))).plot(units="kEUR")
    places = np.linspace(*DOMAIN, 401)
    truth = GUESSES["skewed"].pdf(places)  # pyright: ignore[reportAttributeAccessIssue] -- it is continuous
    axes.plot(places, truth, color="#d95f02", linewidth=2.4, label="truth: the density that the values were drawn from")
    axes.legend(loc="upper right", frameon=False, fontsize="small")
    return axes


def counted(prior: Prior) -> Axes:
    """What each report counts as in a mean of 2,000 people, while the prior may be off by a factor."""
    table, rng = design(prior, 1.0).mechanism, np.random.default_rng(22)
    values = np.clip(GUESSES["skewed"].rvs(2_000, random_state=rng), *DOMAIN)
    return plots.counted_as(bias_aware_mean(count(table, table.sample(values, rng)), prior.weights), units="kEUR")


def of_categories() -> dict[str, Axes]:
    """Answers of 5,000 people, by randomised response: its windows, and what the reports tell."""
    names, shares = ["none", "once", "monthly", "weekly", "daily"], [0.45, 0.25, 0.15, 0.1, 0.05]
    oracle, rng = frequency_oracle(names, EPSILON), np.random.default_rng(23)
    reports = oracle.sample(rng.choice(names, 5_000, p=shares), rng)
    return {
        "categories": plots.support_map(oracle),
        "frequencies": estimate_frequencies(count(oracle, reports)).plot(),
    }


def of_privacies() -> dict[str, Axes]:
    """For each privacy what it allows of every two of 24 hours, and the best table for the error of one report."""
    hours = np.arange(24.0)
    prior = Prior.on_knots(hours, 2 + np.cos((hours - 8) / 24 * 2 * np.pi), source="public", units="h")
    day = (hours >= 7) & (hours < 19)
    said = {
        "pure": Pure(1.0),
        "metric": Metric(0.5),
        "circle": Metric(0.5, period=24),
        "by-value": ByValue(np.where(day, 3.0, 0.5)),
        "blocks": Blocks(day.astype(int), within=0.5, across=3.0),
        "sensitive": Sensitive(0.5, ~day),
        "ratios": Ratios(np.where(hours > hours[:, None], 0.25, 0.5) * np.abs(hours - hours[:, None])),
    }
    return {f"privacy-{name}": _allowed_and_made(name, promise, prior) for name, promise in said.items()}


def _allowed_and_made(name: str, promise: Promise, prior: Prior) -> Axes:
    made = design(prior, promise, objective=Loss("absolute"), outputs=prior.knots)
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.9), layout="constrained")
    allowed = promise.limits(prior.knots)
    shown = left.imshow(np.where(np.isfinite(allowed), allowed, np.nan), origin="lower", cmap="viridis_r", vmin=0)
    left.set_facecolor("black")
    figure.colorbar(shown, ax=left, label="log-ratio at most" + ", black: any" * bool(np.isinf(allowed).any()))
    left.set(title=f"allowed: {name}", xlabel="value [h]", ylabel="value [h]")
    law = np.zeros((prior.knots.size, prior.knots.size))
    law[:, np.searchsorted(prior.knots, made.mechanism.low)] = made.mechanism.probabilities
    shown = right.imshow(law.T, origin="lower", cmap="Greys", vmin=0)
    figure.colorbar(shown, ax=right, label="probability")
    right.set(title=f"least error: {made.value:.2f} h", xlabel="value [h]", ylabel="report [h]")
    for ax in (left, right):
        ax.set(xticks=range(0, 24, 6), yticks=range(0, 24, 6))
        ax.title.set_fontsize("medium")
    return right


def of_outputs() -> Axes:
    """What few outputs cost: the variance of the best table of so many against them, and what no table is below."""
    prior = Prior.from_distribution(GUESSES["skewed"], knots=11, domain=DOMAIN, source="public", units="kEUR")
    _, panels = plt.subplots(1, 2, figsize=(6.3, 2.9), layout="constrained")
    for ax, epsilon in zip(panels, (1.0, 3.0), strict=True):
        made = [design(prior, epsilon, outputs=AtMost(m), uniform_share=0.0) for m in OUTPUTS]
        ax.plot(OUTPUTS, [each.value for each in made], "o-", color="#1f6fb4", markersize=4, label="at most so many")
        bound = made[-1].bound
        ax.axhline(bound, color="black", linewidth=1, linestyle="--", label=f"no table is below {bound:,.4g}")
        ax.set_xscale("log", base=2)
        ax.set_xticks(OUTPUTS, [f"{m}" for m in OUTPUTS])
        ax.minorticks_off()
        ax.set(title=f"ε = {epsilon:g}", xlabel="outputs: 2, 4, 8 are 1 to 3 bits", ylim=(0, None))
        ax.set_ylabel("n · variance of the mean [kEUR²]")
        ax.title.set_fontsize("medium")
        ax.legend(loc="lower right", frameon=False, fontsize="small")
    return panels[0]


def told() -> Axes:
    """What reports tell of the distribution: the design that wants that most, and others."""
    prior = Prior.from_distribution(GUESSES["skewed"], knots=17, domain=DOMAIN, source="public", units="kEUR")
    asked = Information("cumulative")
    methods = ["optimal", "piecewise", "square-wave", "grr"]
    return bounds(prior, [0.5, 1.0, 2.0, 4.0], methods=methods, objectives=[asked]).plot(objective=asked)


def save_small(axes: Axes, path: Path) -> None:
    buffer = io.BytesIO()
    axes.figure.canvas.figure.savefig(buffer, dpi=PIXELS_PER_INCH, metadata={"Software": None})
    picture = Image.open(buffer).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/figures.md and docs/problem.md.")
    parser.add_argument("--out", type=Path, required=True, help="folder for them; made if it does not exist")
    out = parser.parse_args().out
    (out / "figures").mkdir(parents=True, exist_ok=True)
    prior = prior_of("skewed")
    pictures = against_budget(prior) | at_one_budget(prior) | where_bias_pays() | of_categories()
    pictures |= {"error-table": errors_of_means(), "distribution": distribution(prior), "counted-as": counted(prior)}
    pictures |= {"objective": told(), "outputs": of_outputs()} | of_privacies()
    places = {f"figures/{name}.png": axes for name, axes in pictures.items()}
    for name, axes in places.items():
        path = out / name
        save_small(axes, path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
