"""A column through the analyst's walk: what is true of its values as counted, in the folder where one stands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
from optldp.designer.command_line import app
from typer.testing import CliRunner

from . import analyst
from .columns import Column
from .walk import Walk


def ends_of(column: Column) -> tuple[float, float]:
    """Return round ends of a range for a column of numbers."""
    held = column.values[~np.isnan(column.values)]
    step = 10.0 ** np.floor(np.log10(np.ptp(held)))
    return float(np.floor(held.min() / step) * step), float(np.ceil(held.max() / step) * step)


def walk_numbers(column: Column, folder: Path, knots: str = "--knots 9") -> Walk:
    """Walk through a column of numbers."""
    column.write(folder)
    told = json.loads(
        CliRunner().invoke(app, ["describe", f"{column.name}.csv", "--column", column.name, "--json"]).stdout
    )
    words = shlex.split(told["next"])
    options = " ".join(option for option in ("--clip", "--drop-missing") if option in words)
    low, high = told["low"], told["high"]
    middle = (low + 3 * high) / 4 if told["quantiles"][3][1] <= low else float(told["quantiles"][3][1])
    if told["whole"]:  # half a step below, so that the range holds all who have the value
        middle, end = middle - 0.5, high + 0.5
    else:
        end = high
    values, region, weight = (held_of(column, low, high, of) for of in ("values", "region", "weight"))
    with (folder / f"{column.name}_next.csv").open(encoding="utf-8") as opened:
        cells = [line.rstrip("\n").split(",")[-1] for line in opened][1:]
    following = np.clip([float(cell) for cell in cells if cell], low, high)
    share = np.nan if told["narrow"] else np.mean(values >= middle)
    truth = {
        "mean": values.mean(), "share": share, "next": following.mean(),
        "weighted": np.average(values, weights=weight), **{name: values[region == name].mean() for name in "abc"},
    }  # fmt: skip
    walk = Walk(
        {"file": f"{column.name}.csv", "next_file": f"{column.name}_next.csv", "column": column.name,
         "options": options, "n": values.size, "middle": middle, "high": end}
    )  # fmt: skip
    walk.go(analyst.numbers(truth, knots))
    return walk


def held_of(column: Column, low: float, high: float, of: str) -> np.ndarray:
    """Return the values of who has one as they count, or the regions or weights of these people."""
    held = ~np.isnan(column.values)
    places = np.arange(column.values.size)[held]
    if of == "region":
        return np.array(list("abc"))[places % 3]
    return 1 + places % 3 if of == "weight" else np.clip(np.round(column.values[held], 2), low, high)


def walk_categories(column: Column, folder: Path) -> Walk:
    """Walk through a column of categories."""
    column.write(folder)
    names, counts = np.unique(column.values, return_counts=True)
    shares = dict(zip(names.tolist(), counts / counts.sum(), strict=True))
    walk = Walk(
        {"file": f"{column.name}.csv", "next_file": f"{column.name}_next.csv", "column": column.name,
         "n": column.values.size, "top": min(3, len(shares) - 1)}
    )  # fmt: skip
    walk.go(analyst.categories(shares))
    return walk
