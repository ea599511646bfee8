"""An analyst, a privacy engineer and a researcher walk through a day, on columns of the character of real ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from . import analyst, privacy_engineer, researcher
from .columns import Column, columns_of, made_categories, made_numbers
from .take import ends_of, walk_categories, walk_numbers
from .walk import Walk

NUMBERS = made_numbers()
AGE = NUMBERS[1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder, as a day begins in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def walk(folder) -> Walk:
    """A walk through ages, few enough people for a ledger to be quick."""
    Column(AGE.name, AGE.values[:300]).write(folder)
    low, high = ends_of(AGE)
    descriptor = os.open("secret", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(descriptor, bytes(range(32)))
    os.close(descriptor)
    return Walk(
        {"file": "age.csv", "column": "age", "options": "", "range": f"--range {low:g} {high:g}", "n": 300,
         "ends": f"{low:g}:{high:g}", "error": (high - low) / 10}
    )  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: column.name)
def test_an_analyst_learns_of_numbers(folder, column):
    walk_numbers(column, folder)


@pytest.mark.slow
@pytest.mark.parametrize("column", made_categories(), ids=lambda column: column.name)
def test_an_analyst_learns_of_categories(folder, column):
    walk_categories(column, folder)


@pytest.mark.slow
def test_an_analyst_takes_a_file_as_a_spreadsheet_wrote_it(folder):
    rng = np.random.default_rng(8)
    days = np.datetime64("2019-01-01") + rng.integers(0, 1096, 500)
    rows = ["Besuch;Betrag;Ort"]
    for place, day in enumerate(days):
        amount = f"{0 if place % 5 == 0 else rng.lognormal(5, 1.2):,.2f}".translate(str.maketrans(",.", ".,"))
        rows.append(f"{day};{amount};{'köln' if place % 50 == 0 else ('Köln', 'Bonn')[place % 2]}")
    (folder / "visits.csv").write_text("\n".join(rows) + "\n", "latin-1")
    Walk({}).go(analyst.DATES)


@pytest.mark.slow
def test_a_privacy_engineer_signs(walk, folder):
    walk.go(privacy_engineer.STEPS)
    page = (folder / "report.html").read_text()
    assert "Somebody who thinks something about a person" in page
    assert {"index.html", "mech.html", "both.html"} <= {path.name for path in (folder / "reports").iterdir()}


@pytest.mark.slow
def test_a_privacy_engineer_audits(walk):
    walk.go(privacy_engineer.AUDIT)


@pytest.mark.slow
def test_a_researcher_compares(walk):
    walk.go(researcher.STEPS)


@pytest.mark.slow
def test_a_researcher_is_advised(walk):
    walk.go(researcher.RACE)


@pytest.mark.slow
def test_a_researcher_goes_on_in_python(walk):
    walk.take(privacy_engineer.STEPS[0])
    given = {"values": AGE.values, "low": 15.0, "high": 95.0, "path": "mech.json", "rng": np.random.default_rng(1)}
    exec(researcher.PYTHON, given)
    mean = given["mean"]
    interval = mean.interval(0.9999)
    assert interval.low <= AGE.values.mean() <= interval.high
    assert json.dumps(mean.to_dict())


def test_columns_of_a_folder_are_those_of_its_archives(folder):
    """What `python -m tests.walks.all_columns --data FOLDER` walks."""
    np.savez(
        folder / "a.npz", x=np.arange(5), job=np.array([0, 1, 1]).repeat([2, 2, 1]), job_vocab=np.array(["u", "v"])
    )
    np.savez(folder / "b_hist.npz", h=np.array([0, 3, 0]))
    found = {column.name: column for column in columns_of(folder)}
    assert list(found) == ["a__x", "a__job", "b_hist__h"]
    assert found["a__job"].is_text
    assert set(found["b_hist__h"].values) == {1.0}
