"""Pages of accuracy are what is kept, and a run that was stopped goes on where it was."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
import run_accuracy
from accuracy import full_tables
from accuracy.repetitions import repeat

DOCS = Path(__file__).parents[2] / "docs" / "accuracy"
NAMES = sorted(path.stem for path in full_tables.FOLDER.glob("*.csv"))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_in_docs_is_what_its_csv_says(name):
    """Made anew by `python benchmarks/run_accuracy.py --data FOLDER --render --write docs/accuracy`."""
    page = run_accuracy.page_of(name, argparse.Namespace(render=True, data=None, repetitions=0, workers=1))
    assert (DOCS / f"{name}.md").read_text() == page


def test_every_part_that_is_summarised_has_a_csv():
    assert sorted(name for name, part in run_accuracy.PARTS.items() if part not in run_accuracy.SHORT) == NAMES


def drawn(scale: float, rng: np.random.Generator) -> dict[str, float]:
    return {"error": scale * rng.random()}


def test_what_is_kept_is_not_run_again_and_more_repetitions_begin_with_it(tmp_path):
    cases = [(1.0,), (2.0,)]
    whole = repeat(drawn, cases, 3, 1)
    assert [one.values["error"].tolist() for one in repeat(drawn, cases, 2, 1, tmp_path)] == [
        one.values["error"][:2].tolist() for one in whole
    ]
    (kept,) = tmp_path.iterdir()
    lines = kept.read_text().splitlines()
    assert len(lines) == 4
    label, _ = json.loads(lines[0])
    kept.write_text("\n".join([json.dumps([label, {"error": 7.0}]), *lines[1:], '["half a li']))
    again = repeat(drawn, cases, 3, 1, tmp_path)
    assert again[0].values["error"].tolist() == [7.0, *whole[0].values["error"][1:]]
    assert again[1].values["error"].tolist() == whole[1].values["error"].tolist()
    assert len(kept.read_text().splitlines()) == 6


def test_rows_are_read_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr(full_tables, "FOLDER", tmp_path / "full")
    rows = [{"data": "a, b", "em": "1.5 ± 0.2"}, {"data": "c", "smooth": "2 ± 0.1"}]
    full_tables.keep("part", rows, "3 repetitions, 1 minutes")
    again, took = full_tables.kept("part")
    assert again == [{"data": "a, b", "em": "1.5 ± 0.2", "smooth": ""}, {"data": "c", "em": "", "smooth": "2 ± 0.1"}]
    assert took == "3 repetitions, 1 minutes"
    assert full_tables.number(again[0]["em"]) == 1.5
    assert full_tables.error(again[0]["em"]) == 0.2
