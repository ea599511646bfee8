"""The pages of figures: their pictures are there, and the example makes them; their code runs with all pages'."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "docs" / name for name in ("figures.md", "problem.md")]
PICTURES = ROOT / "docs" / "figures"
MOST_BYTES, MOST_IN_ALL = 60_000, 1_500_000
"""Of one picture of the page; of all pictures in docs."""


def test_every_picture_is_on_a_page_and_small():
    named = set(re.findall(r"\]\(figures/([\w-]+\.png)\)", "".join(page.read_text() for page in PAGES)))
    assert named == {path.name for path in PICTURES.iterdir()}
    assert len(named) == 23
    for path in PICTURES.iterdir():
        assert path.stat().st_size < MOST_BYTES
        with Image.open(path) as picture:
            assert 900 < picture.width < 1200
    everything = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".png", ".svg")]
    assert sum(path.stat().st_size for path in everything) < MOST_IN_ALL


@pytest.mark.nightly
def test_the_example_makes_the_pictures_of_the_page(tmp_path):
    """All of them, in the size they have there; pixels may differ with the version of matplotlib."""
    command = [sys.executable, "-W", "error", ROOT / "examples" / "figures.py", "--out", tmp_path / "new"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = {path.name: path for path in (tmp_path / "new" / "figures").iterdir()}
    assert set(made) == {path.name for path in PICTURES.iterdir()}
    for name, path in made.items():
        with Image.open(path) as new, Image.open(PICTURES / name) as kept:
            assert new.size == kept.size
