"""The auditor's verifier of ways proves what the package proves, and refuses what spends more."""

import json
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from optldp.mechanisms import save_bundle
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.over_time import Way

from .small_channels import SMALL

PROGRAM = Path(__file__).parents[1] / "examples" / "verify_way.py"
WAYS = {name: made for name, made in SMALL.items() if isinstance(made, Way)}


@pytest.fixture(scope="module")
def program():
    return runpy.run_path(str(PROGRAM))


def signed(document: dict) -> dict:
    return document | {"checksum": checksum({name: part for name, part in document.items() if name != "checksum"})}


@pytest.mark.parametrize("name", WAYS)
def test_it_proves_each_way_and_none_that_promises_less(tmp_path, program, name):
    save_bundle(WAYS[name], tmp_path / "way.json")
    document = json.loads((tmp_path / "way.json").read_text())
    _, ratio = program["prove"](document, 2**31)
    assert 1 < ratio <= Fraction(program["table"].below(Fraction(document["epsilon"])), 2**128)
    with pytest.raises(ValueError, match=r"at most epsilon|within e"):
        program["prove"](signed(document | {"epsilon": 0.9 * document["epsilon"]}), 2**31)
    with pytest.raises(ValueError, match="checksum"):
        program["prove"](document | {"epsilon": 2 * document["epsilon"]}, 2**31)


def test_it_runs_by_the_standard_library_alone(tmp_path):
    save_bundle(WAYS["memoised jobs"], tmp_path / "way.json")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), str(tmp_path / "way.json")], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "which is no promise of a life" in done.stdout
