"""The page of the bundle format says what the package does."""

import json
import re
from pathlib import Path

import numpy as np
from optldp.mechanisms import load_mechanism
from optldp.mechanisms.categorical import CategoricalTable
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.combinators.level_report import MOST_REPORTS
from optldp.mechanisms.files.bundle import bundle_kinds, bundle_to_document
from optldp.mechanisms.key_value import KeyValueMechanism

from ..files.test_bundle import BUNDLES
from ..integers.test_finite_field import MODULI

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("", "-of-categories", "-of-several", "-over-time")
PAGE = "".join((DOCS / f"bundle-format{page}.md").read_text() for page in PAGES)


def test_the_example_loads_and_has_its_checksum(tmp_path):
    (tmp_path / "m.json").write_text(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    made = load_mechanism(tmp_path / "m.json")
    assert isinstance(made, CategoricalTable)
    assert made.probabilities.tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_the_table_of_hashes_is_that_of_the_package():
    """Five seeds, six categories."""
    made = local_hashing(range(6), 1.0, n_values=4)
    rows = re.findall(r"\| (\d) \| ([\d ]+) \| ((?:\d ){5}\d) \|", PAGE)
    assert len(rows) == made.n_hashes
    for seed, coefficients, hashes in rows:
        assert made.coefficients(np.array([int(seed)]))[0].tolist() == [int(a) for a in coefficients.split()]
        assert made.hashes(np.arange(6), np.full(6, int(seed))).tolist() == [int(h) for h in hashes.split()]


def test_the_polynomials_are_those_that_the_field_is_tested_with():
    """All sixteen fields that are not of a prime."""
    section = PAGE[PAGE.index("| g | e |") : PAGE.index("- *Privacy.* The ratio is V / W")]
    printed = {int(g): tuple(map(int, e.split())) for g, e in re.findall(r"(\d+) \| ((?:\d )+\d)", section)}
    assert printed == MODULI


def test_every_kind_has_its_members_on_the_page():
    """By its heading."""
    headings = set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^## .*$", PAGE, re.MULTILINE))))
    assert headings == set(bundle_kinds())


def test_members_of_a_file_are_named_on_the_page():
    """Those that are not in its section are in the part that all kinds share."""
    for made in BUNDLES.values():
        names = set(json.loads(json.dumps(bundle_to_document(made), default=str)))
        section = PAGE[: PAGE.index("## `categorical")] + PAGE[PAGE.index(f"## `{made.kind}`") :]
        assert all(f"`{name}`" in section for name in names)


def test_the_fake_law_is_the_list_of_one_row_that_the_page_says():
    """A reader in another language takes the page at its word."""
    assert "| `fake` | a list of one row" in PAGE
    for made in BUNDLES.values():
        if isinstance(made, KeyValueMechanism):
            assert np.shape(bundle_to_document(made)["fake"]) == (1, made.value.low.size)


def test_the_limit_of_reports_of_a_level_is_on_the_page():
    assert f"at most {MOST_REPORTS} different reports" in PAGE
    assert MOST_REPORTS == 2**12
    assert "so t is at most 12" in PAGE
