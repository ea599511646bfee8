"""The examples that nothing else runs: they end well and print what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [("categories.py", "Designed table"), ("several_attributes.py", "attributes"), ("many_rows.py", "peak")],
    ids=str,
)
def test_an_example_runs(tmp_path, name, says):
    """In an empty folder, leaving nothing behind."""
    done = subprocess.run([sys.executable, EXAMPLES / name], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert not list(tmp_path.iterdir())
