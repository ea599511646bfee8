"""The pictures that tell what local privacy does, from one value to a mean, and the numbers behind the sliders.

    python examples/story.py --out docs

Made-up weekly hours between 0 and 80, designed for a made-up survey of other people. The same files in every run.
"""

import argparse
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from optldp.designer import Prior, design
from optldp.estimators import count, estimate_mean
from optldp.estimators.differences import ratio_to_no_privacy
from optldp.estimators.plots.style import BLUE, GREY, ORANGE, VERMILLION, empty_figure, new_axes
from optldp.mechanisms import TabulatedMechanism

EPSILON, PEOPLE = 1.0, 20_000
VALUE, NEIGHBOURS = 40.0, (20.0, 60.0)
CELLS = np.arange(-160.0, 241.0, 20.0)
"""Ranges of reports that a bar counts together."""

WIDTH, HEIGHT = 4.4, 2.7
"""Inches: at 390 pixels of a telephone the letters are as high as those of the text."""

NORMAL = 1.959964
"""Standard errors to either side, 19 times of 20."""

BUDGETS = [round(0.25 * k, 2) for k in range(1, 33)]
SHOWN = {0.5: "-.", 1.0: "-", 2.0: "--", 4.0: ":"}


def survey_table(rng: np.random.Generator) -> TabulatedMechanism:
    survey = rng.normal(37, 9, 3_000).clip(0, 80)
    prior = Prior.from_data(survey, knots=41, domain=(0, 80), source="public", units="hours")
    return design(prior, EPSILON).mechanism


def chances(table: TabulatedMechanism, value: float) -> np.ndarray:
    """Return the probability of each range of reports for a value that is a knot."""
    law = table.probabilities[int(np.searchsorted(table.knots, value))]
    return np.histogram(0.5 * (table.low + table.high), bins=CELLS, weights=law)[0]


def one_report(table: TabulatedMechanism) -> Axes:
    axes = new_axes(WIDTH, HEIGHT)
    law = 100 * chances(table, VALUE)
    axes.stairs(law, CELLS, fill=True, color=BLUE, alpha=0.6)
    axes.set_ylim(0, 1.2 * law.max())
    axes.axvline(VALUE, color=VERMILLION, linewidth=2)
    axes.text(VALUE, 1.17 * law.max(), f"  {VALUE:g}, the value", color=VERMILLION, va="top")
    axes.set(xlabel="report [hours]", ylabel="chance [%]", title="Where one person's report may fall")
    return axes


def two_people(table: TabulatedMechanism) -> Axes:
    first, second = (chances(table, value) for value in NEIGHBOURS)
    upper, lower = empty_figure(WIDTH, 1.5 * HEIGHT).subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for law, value, color, line in zip((first, second), NEIGHBOURS, (BLUE, ORANGE), ("-", "--"), strict=True):
        upper.stairs(100 * law, CELLS, color=color, linewidth=2, linestyle=line, label=f"{value:g} hours")
    upper.set(ylabel="chance [%]", title="Two people's reports, laid over each other")
    upper.legend(frameon=False, fontsize="small")
    seen = (first > 0) & (second > 0)
    ratio = np.divide(second, first, out=np.full_like(first, np.nan), where=seen)
    lower.stairs(ratio, CELLS, color=GREY, linewidth=2, baseline=None)
    for limit, name in ((np.exp(EPSILON), "e"), (np.exp(-EPSILON), "1/e")):
        lower.axhline(limit, color=VERMILLION, linewidth=1.4)
        lower.text(CELLS[0], limit, f"{name}, the limit", va="bottom", fontsize="small", color=VERMILLION)
    lower.set_yscale("log", base=np.e)
    lower.set(xlabel="report [hours]", ylabel="ratio", ylim=(0.25, 5.5), yticks=[0.37, 1, 2.72])
    lower.set_yticklabels(["0.37", "1", "2.72"])
    return upper


def all_reports(values: np.ndarray, reports: np.ndarray) -> Axes:
    axes = new_axes(WIDTH, HEIGHT)
    axes.hist(values, bins=np.arange(0.0, 81.0, 5.0).tolist(), color=GREY, alpha=0.6, label="values: nobody sees them")
    axes.hist(reports, bins=CELLS.tolist(), histtype="step", color=BLUE, linewidth=2, label="reports: collected")
    axes.legend(frameon=False, fontsize="small", loc="upper right")
    axes.set(xlabel="hours", ylabel="people", title=f"{values.size:,} people", ylim=(0, 10_500))
    axes.set_yticks([0, 2_000, 4_000, 6_000, 8_000], ["0", "2,000", "4,000", "6,000", "8,000"])
    return axes


def interval(table: TabulatedMechanism, values: np.ndarray, reports: np.ndarray) -> Axes:
    counts = count(table, reports)
    mean, axes = estimate_mean(counts), new_axes(WIDTH, 1.9)
    axes = mean.plot(axes, truth=values.mean(), ratio_to_no_privacy=ratio_to_no_privacy(mean, counts), units="hours")
    axes.set_title(f"The mean of {values.size:,} people")
    return axes


def people_and_error(variances: dict[float, float]) -> Axes:
    axes, people = new_axes(WIDTH, 1.3 * HEIGHT), np.geomspace(100, 1e6, 50)
    for epsilon, line in SHOWN.items():
        reach = 100 * NORMAL * np.sqrt(variances[epsilon] / people)
        axes.loglog(people, reach, line, color=BLUE, linewidth=2)
        axes.text(1.2 * people[-1], reach[-1], f"ε = {epsilon:g}", fontsize="small", va="center")
    axes.set_xticks([100, 1e3, 1e4, 1e5, 1e6], ["100", "1,000", "10,000", "100,000", "1 million"], fontsize="small")
    axes.set_yticks([0.1, 1, 10, 50], ["0.1%", "1%", "10%", "50%"])
    axes.minorticks_off()
    axes.grid(color="#EEEEEE")
    axes.set(
        xlabel="people",
        ylabel="mean within, of the range",
        title="People, epsilon and error",
        xlim=(80, 8e6),
        ylim=(0.02, 80),
    )
    return axes


def least_variances() -> dict[float, float]:
    """The least variance of a report, of values spread evenly over a range of length one, by budget."""
    prior = Prior.even(np.linspace(0, 1, 101))
    return {epsilon: design(prior, epsilon).expected_variance for epsilon in BUDGETS}


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/what-is-local-privacy.md.")
    parser.add_argument("--out", type=Path, required=True, help="folder for them; made if it does not exist")
    out = parser.parse_args().out
    (out / "reference").mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "optldp"  # the same names within the file in every run
    rng = np.random.default_rng(1)
    table = survey_table(rng)
    values = rng.normal(34, 11, PEOPLE).clip(0, 80)
    reports = table.sample(values, rng)
    variances = least_variances()
    pictures = {
        "one-report": one_report(table),
        "two-people": two_people(table),
        "reports": all_reports(values, reports),
        "mean": interval(table, values, reports),
        "people": people_and_error(variances),
    }
    for name, axes in pictures.items():
        path = out / f"story-{name}.svg"
        axes.figure.canvas.figure.savefig(path, metadata={"Date": None})
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    numbers = {"epsilons": BUDGETS, "variances": [float(f"{variances[each]:.6g}") for each in BUDGETS]}
    (out / "reference" / "people-and-error.json").write_text(json.dumps(numbers) + "\n")


if __name__ == "__main__":
    main()
