"""The table of a page, one row a module."""

import re
from pathlib import Path


def record(page: Path, module: str, killed: int, equivalent: int, survive: int) -> None:
    """Write a module's counts into its row of the page's table, or SystemExit where the page has no such row."""
    row = f"| `{module}` | {killed + equivalent + survive} | {killed} | {equivalent} | {survive} |"
    text, replaced = re.subn(rf"^\| `{re.escape(module)}` \|.*$", row, page.read_text(), flags=re.MULTILINE)
    if replaced != 1:
        raise SystemExit(f"{page} must have one row for `{module}`, found {replaced}")
    page.write_text(text)
