"""The tables of Unicode that clients have are those of this Python, where it has the same version."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from clients.conformance.manifest import CLIENTS
from clients.conformance.normal_forms import FILES, about, file_of


@pytest.mark.nightly
@pytest.mark.parametrize("name", FILES)
def test_a_client_has_the_forms_of_its_version_of_unicode(name):
    text = (CLIENTS / name).read_text("utf-8")
    if about() not in text:
        pytest.skip("this Python has another version of Unicode")
    assert text == file_of(name)
