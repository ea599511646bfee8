"""Notebooks as pages of the site: their cells are run here and now, in plain Python, and shown with what they say.

Nothing of Jupyter is needed: a cell's last line is shown as a notebook would, by `_repr_html_`, as a picture if it is
axes, else by its one line. A warning or an error in a cell fails the build. Notebooks are kept without outputs.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import tempfile
import warnings
from html import escape
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def cells_of(path: Path) -> list[tuple[str, str]]:
    """Return kind and source of each cell; ValueError for a notebook that keeps outputs."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
        raise ValueError(f"{path.name} must be kept without outputs: clear them")
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def page_of(path: Path) -> str:
    """Return a notebook as a page in Markdown, run in an empty folder."""
    parts, names = [], {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, (kind, source) in enumerate(cells_of(path), 1):
            if kind == "markdown":
                parts.append(source)
                continue
            printed, shown = run(source, names, f"{path.name}, cell {number}")
            parts += [f"```python\n{source}\n```", *([f"```text\n{printed.rstrip()}\n```"] if printed else []), shown]
    note = f"This page is `{os.path.join('examples', 'notebooks', path.name)}`, run when the site was built."
    return "\n\n".join(filter(None, [*parts, note])) + "\n"


def run(source: str, names: dict[str, Any], where: str) -> tuple[str, str]:
    """Run one cell among the names of those before it; return what it prints, and what its last line shows, as HTML."""
    tree, value = ast.parse(source), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, where, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return printed.getvalue(), "" if value is None else shown_as(value)


def shown_as(value: Any) -> str:
    """Return what a notebook shows of a value, on one line, which Markdown leaves alone."""
    if hasattr(value, "get_figure"):
        picture = io.BytesIO()
        value.get_figure().savefig(picture, format="png", dpi=100)
        code = base64.b64encode(picture.getvalue()).decode("ascii")
        return f'<img alt="{escape(value.get_title() or "figure", quote=True)}" src="data:image/png;base64,{code}">'
    if hasattr(value, "_repr_html_"):
        return f'<div class="shown">{" ".join(value._repr_html_().split())}</div>'
    return f"<pre>{escape(repr(value))}</pre>".replace("\n", "&#10;")
