"""The analyst's day: what a column holds, a mechanism for it, reports, estimates, and whether next year's fit it."""

from __future__ import annotations

from .walk import Step, holds

SURE = "--confidence 0.9999"
"""Where an interval is held against the truth, so that a seed that is as good as another finds it inside."""


def numbers(truth: dict[str, float], knots: str = "--knots 9") -> list[Step]:
    """Return the walk through a column of numbers; `truth` of the values as counted: mean, share, north and south."""
    return [
        Step("describe {file} --column {column}", says=("smallest, largest", "next: optldp design {file}")),
        Step("{next} " + knots + " --n {n} --out mech.json", says=("mean within", "(95%) if their values follow")),
        Step("{next} " + knots + " --out mech.json", says=("which exists: --force replaces it",), fails=True),
        Step("show mech.json --n {n} --explain", says=("what they mean", "proved", "(95%)")),
        Step(
            "perturb mech.json {file} --column {column} {options} --key id --keep region --keep weight --seed 3 "
            "--out reports.csv",
            says=("wrote reports.csv ({n:,} reports)", "region, weight of each person stand in clear"),
        ),
        Step("estimate mech.json reports.csv", says=("mean of the values", "without privacy", "simulated")),
        Step("estimate mech.json reports.csv " + SURE, sense=holds("", truth["mean"])),
        Step(
            "estimate mech.json reports.csv --of distribution --between {middle} {high} " + SURE,
            sense=holds("between", truth["share"]),
        ),
        Step("estimate mech.json reports.csv --of quantiles", says=("quantiles of the values", "0.95")),
        Step(
            "estimate mech.json reports.csv --by region --simultaneous " + SURE,
            says=("the groups stand in clear",),
            sense=lambda told: (
                len(told["rows"]) == 3
                and all(each["low"] <= truth[each["group"]] <= each["high"] for each in told["rows"])
            ),
        ),
        Step("estimate mech.json reports.csv --weights weight " + SURE, sense=holds("", truth["weighted"])),
        Step(
            "perturb mech.json {next_file} --column {column} {options} --key id --seed 4 --out next.csv",
            says=("wrote next.csv",),
        ),
        Step(
            "estimate mech.json next.csv --versus mech.json reports.csv --key id " + SURE,
            sense=holds("", truth["next"] - truth["mean"]),
        ),
        Step(
            "evaluate mech.json --on {next_file} --column {column} {options} --n {n}",
            says=("new design", "mean within", "if their values are as these"),
        ),
    ]


def categories(shares: dict[str, float]) -> list[Step]:
    """Return the walk through a column of categories, whose shares are known."""
    return [
        Step("describe {file} --column {column} --categorical", says=("categories", "next: optldp design {file}")),
        Step("{next} --out jobs.json", says=("the categories are those that occur in DATA",)),
        Step("show jobs.json --explain", says=("what they mean", "How many different answers there are")),
        Step("perturb jobs.json {file} --column {column} --seed 3 --out reports.csv", says=("wrote reports.csv",)),
        Step("estimate jobs.json reports.csv --top {top}", says=("frequencies", "all at once with 95% confidence")),
        Step(
            "estimate jobs.json reports.csv --simultaneous --confidence 0.999",
            sense=lambda told: all(
                low <= shares[name] <= high
                for name, low, high in zip(told["category"], told["low"], told["high"], strict=True)
            ),
        ),
        Step("evaluate jobs.json --on {next_file} --column {column} --n {n}", says=("new design",)),
    ]


DATES = [
    Step(
        "describe visits.csv --column Besuch",
        says=("visits.csv is read as latin-1, semicolon separated", "--range 2019-01-01 2021-12-31"),
    ),
    Step("describe visits.csv --column Betrag", says=("decimal commas", "commonest 0")),
    Step("describe visits.csv --column Ort", says=("spelt differently 'Köln' = 'köln'",)),
    Step(
        "design visits.csv --column Besuch --range 2019-01-01 2021-12-31 --epsilon 2 --knots 9 --n 500 --out d.json",
        says=("mean within", "days (95%)"),
    ),
    Step("perturb d.json visits.csv --column Besuch --seed 1 --out d.csv"),
    Step("estimate d.json d.csv", says=("value 20", "days")),
    Step(
        "two-phase visits.csv --column Besuch --range 2019-01-01 2021-12-31 --epsilon 2 --knots 9 --seed 1 --n 500",
        says=("truth 2020-", "+-", "days (95%) if they are drawn from people like these"),
    ),
    Step(
        "design visits.csv --column Betrag --range 0 1000 --epsilon 1 --knots 9",
        says=("outside it", "or count them as its ends by --clip"),
        fails=True,
    ),
    Step(
        "design visits.csv --column Betrag --range 0 1000 --clip --epsilon 1 --knots 9",
        says=("lie outside the range and count as its ends",),
    ),
]
"""A file as a German spreadsheet writes it: semicolons, decimal commas, dates, near duplicates."""
