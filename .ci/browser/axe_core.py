"""axe-core in a page of headless Chromium: what it finds serious."""

from importlib import resources
from pathlib import Path

from chromium import Chromium

SERIOUS = {"serious", "critical"}

ASK = """axe.run(%s, {resultTypes: ['violations'], iframes: false}).then(found => found.violations.map(rule =>
  [rule.impact, rule.id, rule.nodes.length, rule.nodes.slice(0, 3).map(node => node.target.join(' '))]))"""


def axe_core(path: Path | None) -> str:
    """Return the script: that of axe-core-python, or the one that is named."""
    return (path or resources.files("axe_core_python") / "axe.min.js").read_text("utf-8")


def serious(browser: Chromium, axe: str, where: str) -> list[str]:
    """Return what is serious in a part of the page that is open, a JavaScript expression, one line for each rule."""
    browser.run(f"{{{axe}}}")
    return [
        f"{impact}, {rule}, {many} times, such as {'; '.join(named)}"
        for impact, rule, many, named in browser.run(ASK % where)
        if impact in SERIOUS
    ]
