"""All that a part finds, a row of text for each case, in a CSV in the folder `full`; its page shows a summary of it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "full"
Row = dict[str, str]
"""From a column's name to "mean ± standard error", or to what names the case."""


def keep(name: str, rows: Sequence[Row], took: str) -> None:
    """Write the rows, and in a line before them what they took."""
    FOLDER.mkdir(exist_ok=True)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with (FOLDER / f"{name}.csv").open("w", newline="") as file:
        file.write(f"# {took}\n")
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def kept(name: str) -> tuple[list[Row], str]:
    """Return the rows of a part, and what they took."""
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        took = file.readline().removeprefix("# ").strip()
        return list(csv.DictReader(file)), took


def chosen(rows: Iterable[Row], **asked: str) -> list[Row]:
    """Return the rows that have certain values in certain columns."""
    return [row for row in rows if all(row[column] == value for column, value in asked.items())]


def number(shown: str) -> float:
    """Return the mean of "mean ± standard error"."""
    return float(shown.split(" ± ")[0])


def error(shown: str) -> float:
    """Return its standard error."""
    return float(shown.split(" ± ")[1])


def values(rows: Iterable[Row], column: str) -> list[str]:
    """Return what stands in a column, each once."""
    return list(dict.fromkeys(row[column] for row in rows))


def ratios(rows: Iterable[Row], column: str, to: str) -> list[float]:
    """Return the means in a column as multiples of those in another."""
    return [number(row[column]) / number(row[to]) for row in rows]


def mean_and_worst(found: Sequence[float]) -> str:
    """Return "geometric mean (largest)"."""
    return f"{geometric(found):.3f} ({max(found):.2f})"


def geometric(values: Iterable[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))
