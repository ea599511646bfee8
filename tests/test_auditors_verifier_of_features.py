"""The auditor's verifier of features proves what the package proves, and refuses what spends more."""

import json
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from optldp.mechanisms import save_bundle
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.checksum import checksum

from .small_channels import SMALL

PROGRAM = Path(__file__).parents[1] / "examples" / "verify_features.py"


@pytest.fixture
def document(tmp_path):
    made = SMALL["features"]
    assert isinstance(made, Bundle)
    save_bundle(made, tmp_path / "two.json")
    return json.loads((tmp_path / "two.json").read_text())


def signed(document: dict) -> dict:
    return document | {"checksum": checksum({name: part for name, part in document.items() if name != "checksum"})}


def test_it_proves_features_and_none_that_promise_less(document):
    prove = runpy.run_path(str(PROGRAM))["prove"]
    assert prove(document, 2**31) == max(
        Fraction(max(column), min(column))
        for each in document["mechanisms"]
        for column in zip(*each["numerators"], strict=True)
        if max(column)
    )
    with pytest.raises(ValueError, match="no table may spend more than epsilon"):
        prove(signed(document | {"epsilon": 0.9 * document["epsilon"]}), 2**31)
    with pytest.raises(ValueError, match="checksum"):
        prove(document | {"epsilon": 2 * document["epsilon"]}, 2**31)
    first, *others = document["features"]
    with pytest.raises(KeyError, match="code"):
        prove(signed(document | {"features": [first | {"formula": "code"}, *others]}), 2**31)
    with pytest.raises(ValueError, match="a table of each"):
        prove(signed(document | {"features": others}), 2**31)


def test_it_runs_by_the_standard_library_alone(document, tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), str(tmp_path / "two.json")], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith("proved of any two records: largest ratio ")
