"""Ledgers changed at random refuse in one line or answer as before; `.ci/run` does more of the same."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / ".ci" / "fuzz" / "fuzz_ledgers.py"


@pytest.mark.nightly
def test_no_budget_comes_back_by_changes_at_random(tmp_path):
    """Some dozens, always the same ones."""
    command = [sys.executable, PROGRAM, "--ledgers", "60", "--seconds", "120", "--seed", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    words = done.stdout.split()
    assert words[:2] == ["fuzz:", "60"]
    assert int(words[3]) > 0  # some were left as they were
    assert int(words[6]) > 30
