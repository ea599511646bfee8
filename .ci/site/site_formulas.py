"""Formulas of the pages as MathML, which browsers draw by themselves: no script, no font, nothing fetched.

On a page they are `$...$` in a line and `$$...$$` by themselves, in LaTeX, which GitHub shows as well. The extension
`pymdownx.arithmatex` keeps Markdown's hands off them and marks them; here the marks become formulas.
"""

import html
import re
from xml.etree import ElementTree

MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>([.,:;)]*)', re.DOTALL)
MATHML = "http://www.w3.org/1998/Math/MathML"
SIGNS = set("{}⌊⌋⌈⌉±")
"""Signs that latex2mathml writes as names."""

LIMITS = {"min", "max", "sup", "inf"}
FUNCTIONS = LIMITS | {"log", "exp", "arctan"}
"""Names that it writes without the space on either side; what stands below some of them it writes beside them."""

ElementTree.register_namespace("", MATHML)


def with_formulas(page: str) -> str:
    """Return the HTML of a page with its marked formulas drawn."""
    return MARKED.sub(_placed, page)


def _placed(mark: re.Match[str]) -> str:
    """Return a formula in a box that scrolls, or in a line together with its stop, so that no line begins with one."""
    made = drawn(html.unescape(mark[2]).strip(), "block" if mark[1] == "div" else "inline")
    if mark[1] == "div":
        return f'<div class="formula" tabindex="0">{made}</div>{mark[3]}'
    return f'<span class="with-stop">{made}{mark[3]}</span>' if mark[3] else made


def drawn(formula: str, display: str) -> str:
    """Return a formula as MathML; a command that is not known is refused, as it would be shown as it stands."""
    from latex2mathml.converter import convert

    root = ElementTree.fromstring(convert(formula, display=display))
    for element in list(root.iter()):
        _mended(element, display)
    made = ElementTree.tostring(root, encoding="unicode")
    unknown = re.search(r"\\[A-Za-z]+", made)
    if unknown:
        raise ValueError(f"a formula must be of known commands, got {unknown[0]} in ${formula}$")
    return made


def _mended(element: ElementTree.Element, display: str) -> None:
    """Change what latex2mathml writes otherwise than TeX draws it."""
    name, text = element.tag.removeprefix(f"{{{MATHML}}}"), element.text or ""
    if name == "mi" and text in SIGNS:
        element.tag = f"{{{MATHML}}}mo"
        element.set("stretchy", "false")
    elif name in ("mi", "mo") and text in FUNCTIONS:
        element.tag = f"{{{MATHML}}}mo"
        element.attrib.update(movablelimits="false", lspace="0.17em", rspace="0.17em")
    elif name == "msub" and display == "block" and element[0].text in LIMITS:
        element.tag = f"{{{MATHML}}}munder"
