"""The notebooks: the site's build runs them (`.ci/docs_site`); here is held what it takes for granted."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def site_notebooks():
    sys.path.insert(0, str(ROOT / ".ci" / "site"))
    try:
        yield importlib.import_module("site_notebooks")
    finally:
        sys.path.remove(str(ROOT / ".ci" / "site"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_stands_on_the_site_and_needs_one_import_of_this_library(
    site_notebooks, path
):
    code = [source for kind, source in site_notebooks.cells_of(path) if kind == "code"]
    assert len(code) >= 8
    assert re.findall(r"^(?:import|from) optldp.*$", "\n".join(code), re.MULTILINE) == ["import optldp"]
    assert f"notebooks/{path.stem}.md" in (ROOT / "mkdocs.yml").read_text()


def test_a_cell_shows_its_last_line_and_what_it_prints(site_notebooks):
    names = {}
    assert site_notebooks.run("x = 2\nprint(x)\n'<b>' * x", names, "here") == (
        "2\n",
        "<pre>&#x27;&lt;b&gt;&lt;b&gt;&#x27;</pre>",
    )
    assert site_notebooks.run("x", names, "here") == ("", "<pre>2</pre>")
    axes = "import optldp\noptldp.Prior.even([0.0, 1.0]).plot()"
    assert site_notebooks.run(axes, names, "here")[1].startswith('<img alt="figure" src="data:image/png;base64,')
    assert site_notebooks.run("optldp.Prior.even([0.0, 1.0])", names, "here")[1].startswith('<div class="shown"><div')


def test_a_notebook_with_outputs_is_refused(site_notebooks, tmp_path):
    path = tmp_path / "kept.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": ["1"], "outputs": ["1"]}]}')
    with pytest.raises(ValueError, match=r"kept\.ipynb must be kept without outputs: clear them"):
        site_notebooks.cells_of(path)
