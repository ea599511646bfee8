"""The page of the floor form says what the package does; its Python blocks are run with those of all pages."""

import re
from pathlib import Path

from optldp.mechanisms import load_mechanism
from optldp.mechanisms.compact_tables import FloorForm
from optldp.mechanisms.compact_tables.document import KEYS

PAGE = (Path(__file__).parents[3] / "docs" / "floor-form.md").read_text()


def test_the_example_loads_and_has_its_checksum(tmp_path):
    """It is Duchi's mechanism with a ratio of three."""
    (tmp_path / "m.json").write_text(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    form = load_mechanism(tmp_path / "m.json")
    assert isinstance(form, FloorForm)
    assert form.expand().probabilities.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert form.proof().bias == 0


def test_every_member_is_in_the_table():
    """By its name."""
    rows = re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(KEYS)
