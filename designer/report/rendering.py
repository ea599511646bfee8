"""A page of its template: style and script inside it, a policy that lets nothing else run and nothing be fetched."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from ...mechanisms.errors import InputError
from ...mechanisms.table.provenance import installed_version

MISSING = "reports need {0}: pip install {0}"


def require_report_tools() -> None:
    """Raise InputError unless what a report needs is installed; to be asked before the long work for one begins."""
    for name in ("jinja2", "matplotlib"):
        try:
            __import__(name)
        except ImportError:
            raise InputError(MISSING.format(name)) from None


def rendered(template: str, *, script: str = "", **context: Any) -> str:
    """Return a page as its template lays it out, each name and text in it escaped.

    Parameters
    ----------
    template : str
        Name of a file in `templates`.
    script : str
        Name of the one script of the page there; default: it has none.
    **context
        What the template lays out.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    code = _text(script) if script else ""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    environment = Environment(
        loader=FunctionLoader(_text), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {allowed}"
        "base-uri 'none'; form-action 'none'",
        style=Markup(_text("page.css")),
        script=Markup(code),
        version=installed_version(),
        **context,
    )


def _text(name: str) -> str:
    return resources.files("optldp.designer.report").joinpath("templates", name).read_text("utf-8")
