"""The commands whose answers are recorded: every kind with every method that estimates of it, and what is designed."""

from collections.abc import Iterator
from pathlib import Path

from optldp.estimators.methods import DISTRIBUTION_METHODS, FREQUENCY_METHODS, MEAN_METHODS

from ..small_channels import DRAWN_BY, SMALL, columns, save, write_people

Words = tuple[str, ...]

NUMBERS = ("numbers", "intervals", "wave", "unit", "floor")
CATEGORIES = ("categories", "bits", "hashes", "subsets", "points", "adopted")
REMEMBERS = tuple(name for name, made in SMALL.items() if getattr(made, "remembers", ""))
"""Ways whose reports need a state, which draws by no seed."""

DRAWN = tuple(name for name in SMALL if DRAWN_BY.get(name) != "none" and name not in REMEMBERS)
SAMPLED = tuple(name for name in DRAWN if name not in DRAWN_BY)

ALONE = (*(name for name in MEAN_METHODS if name not in ("ua", "uwa")), "bias-aware")
"""Of one service; those that are left weigh several."""

FITTED = ("em", "smooth", "ems", "mr", "ule")
OF_PAIRS = ("unbiased", "em", "mr", "mle")

PEOPLE = ("--epsilon", "1", "--range", "0", "60", "--knots", "5")
DESIGNS: dict[str, Words] = {
    "numbers": ("--column", "pay", *PEOPLE),
    "minimax": ("--column", "pay", *PEOPLE, "--objective", "minimax"),
    "information": ("--column", "pay", *PEOPLE, "--objective", "information"),
    "trade-off": ("--column", "pay", *PEOPLE, "--objective", "trade-off", "--worst", "0.5"),
    "robust": ("--column", "pay", *PEOPLE, "--objective", "robust", "--ambiguity", "tv", "--radius", "0.1"),
    "error": ("--column", "pay", *PEOPLE, "--objective", "error", "--n", "1000"),
    "aaa": ("--column", "pay", *PEOPLE, "--method", "aaa"),
    "piecewise": ("--column", "pay", *PEOPLE, "--method", "ptt"),
    "per unit": ("--range", "0", "60", "--epsilon", "1", "--knots", "5", "--per-unit"),
    "delta": ("--range", "0", "60", "--epsilon", "1", "--knots", "5", "--delta", "1e-6"),
    "floor": ("--column", "pay", *PEOPLE, "--form", "floor"),
    "categories": ("--column", "job", "--categorical", "--epsilon", "1"),
    "optimal categories": ("--column", "job", "--categorical", "--epsilon", "1", "--method", "optimal"),
    "pairs": ("--column", "job", "--categorical", "--value-column", "pay", *PEOPLE),
    "attributes": ("--attribute", "pay=0:60", "--attribute", "more=0:60", "--epsilon", "1", "--knots", "5"),
    "levels": ("--column", "pay", "--levels", "1,2", *PEOPLE[2:]),
    "levels of categories": ("--column", "job", "--categorical", "--levels", "1,2"),
}
VALUES: dict[str, Words] = {
    "compare": ("people.csv", "--column", "pay", *PEOPLE),
    "compare categories": ("people.csv", "--column", "job", "--categorical", "--epsilon", "1"),
    "bounds": ("people.csv", "--column", "pay", *PEOPLE),
    "bounds categories": ("people.csv", "--column", "job", "--categorical", "--epsilon", "1"),
    "plan": ("people.csv", "--column", "pay", *PEOPLE, "--n", "1000"),
    "plan categories": ("people.csv", "--column", "job", "--categorical", "--epsilon", "1", "--n", "1000"),
    "two-phase": ("people.csv", "--column", "pay", *PEOPLE, "--seed", "1"),
}


def prepare(folder: Path) -> Iterator[Words]:
    """Write the files of all kinds and people.csv, and yield the commands that make their reports and counts."""
    write_people(folder / "people.csv")
    (folder / "even.csv").write_text("value,weight\n" + "".join(f"{value},1\n" for value in range(0, 61, 15)))
    for name, made in SMALL.items():
        save(made, folder / f"{name}.json")
    for name in SAMPLED:
        period = ("--period", "1") if "panel" in name else ()
        words = ("perturb", f"{name}.json", "people.csv", *columns(name), *period, "--key", "user", "--seed")
        yield (*words, "1", "--out", f"{name}.csv")
        yield (*words, "2", "--out", f"{name} again.csv")
    yield ("perturb", "categories.json", "people.csv", "--column", "job", "--seed", "1", "--out", "drawn.csv")


def others(folder: Path) -> None:
    """Write reports of another program: without a column that names the table that made them."""
    lines = (folder / "drawn.csv").read_text().splitlines()
    (folder / "adopted.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")


def commands() -> dict[str, Words]:
    """Every command whose answer is recorded, by a name that says what it asks."""
    asked: dict[str, Words] = {}
    for name in SMALL:
        asked[f"show {name}"] = ("show", f"{name}.json")
        asked[f"verify {name}"] = ("verify", f"{name}.json")
    for name in DRAWN:
        asked[f"estimate {name}"] = ("estimate", f"{name}.json", f"{name}.csv")
        asked[f"estimate users {name}"] = ("estimate", f"{name}.json", f"{name}.csv", "--target", "users")
    for name in NUMBERS:
        of_it = ("estimate", f"{name}.json", f"{name}.csv")
        for method in ALONE:
            prior = ("--prior", "even.csv") if method == "bias-aware" else ()
            asked[f"mean {method} {name}"] = (*of_it, "--method", method, *prior)
        for method in FITTED:
            asked[f"distribution {method} {name}"] = (*of_it, "--method", method, "--of", "distribution")
        asked[f"quantiles {name}"] = (*of_it, "--method", "em", "--of", "quantiles")
        ends = ("--between", "10", "30", "--above", "20")
        asked[f"ranges {name}"] = (*of_it, "--method", "em", "--of", "distribution", *ends)
        asked[f"winsorised {name}"] = (*of_it, "--winsorise", "0.1")
    for name in (*CATEGORIES, "levels of categories", "protected levels of categories"):
        for method in FREQUENCY_METHODS:
            asked[f"frequencies {method} {name}"] = ("estimate", f"{name}.json", f"{name}.csv", "--method", method)
    for name in (name for name in DRAWN if "pairs" in name):
        for method in OF_PAIRS:
            asked[f"pairs {method} {name}"] = ("estimate", f"{name}.json", f"{name}.csv", "--method", method)
    for name in (name for name in DRAWN if "levels of numbers" in name):
        for method in ("population", "em"):
            asked[f"levels {method} {name}"] = ("estimate", f"{name}.json", f"{name}.csv", "--method", method)
    services = ("numbers.json", "numbers.csv", "intervals.json", "intervals.csv", "--key", "user")
    for method in MEAN_METHODS:
        asked[f"services {method}"] = ("estimate", *services, "--method", method)
    for method in DISTRIBUTION_METHODS:
        asked[f"services distribution {method}"] = ("estimate", *services, "--method", method, "--of", "distribution")
    for name in ("numbers", "wave", "attributes"):
        again = (f"{name}.json", f"{name}.csv", f"{name}.json", f"{name} again.csv", "--key", "user", "--rounds")
        asked[f"rounds {name}"] = ("estimate", *again)
    asked |= {f"evaluate {n}": ("evaluate", f"{n}.json", "--on", "people.csv", *columns(n)[:2]) for n in NUMBERS}
    asked |= {f"evaluate {n}": ("evaluate", f"{n}.json", "--on", "people.csv", *columns(n)[:2]) for n in CATEGORIES}
    for name, words in DESIGNS.items():
        data = ("people.csv",) if "pay" in words or "job" in words or "--attribute" in words else ()
        asked[f"design {name}"] = ("design", *data, *words, "--out", "new.json", "--force")
    return asked | {name: (name.split()[0], *words) for name, words in VALUES.items()}
