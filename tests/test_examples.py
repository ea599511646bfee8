"""The examples that nothing else runs: they end well and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .test_documentation import without_numbers

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


@pytest.mark.nightly  # by day it is the README's main job
def test_the_first_example_prints_what_its_page_shows_and_its_intervals_hold(tmp_path):
    """Last digits may differ; that 95% intervals held in 200 collections is within three standard errors of it."""
    page = (EXAMPLES.parent / "docs" / "what-is-local-privacy.md").read_text()
    (shown,) = re.findall(r"```text\n(Doctor visits.*?)```", page, re.DOTALL)
    done = subprocess.run(
        [sys.executable, EXAMPLES / "rand_health.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert without_numbers(done.stdout) == without_numbers(shown)
    (held,) = re.findall(r"200 times: .* held the mean as counted (\d+) times", done.stdout)
    assert abs(int(held) - 190) <= 3 * (200 * 0.95 * 0.05) ** 0.5


@pytest.mark.nightly
def test_models_keep_more_of_unbiased_labels_though_these_are_noisier():
    """What Badanidiyuru et al. found: seeded, and the least of several repetitions would do."""
    arguments = ["--epsilon", "2", "--repeat", "10"]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "label_privacy.py", *arguments], capture_output=True, text=True, check=True
    )
    rows = dict(re.findall(r"^  (best unbiased|least error|Laplace) +(.*)$", done.stdout, re.MULTILINE))
    label, bound, model = (np.array([row.split()[i] for row in rows.values()][:2], float) for i in range(3))
    assert np.all(bound <= label)
    assert np.all(label <= 1.001 * bound + 0.01)  # two decimals are printed
    assert label[0] > 5 * label[1]
    assert model[0] < model[1] - 0.2
