"""What the site has beside the pages in docs: the reference from the packages, the command line, and linked sources.

Everything is made at build time from the code itself, so that none of it can go stale:

- the reference's tables and pages, see `site_reference`;
- `<!-- sliders: people and epsilon -->` becomes two sliders, over numbers that `examples/story.py` has computed;
- `<!-- command line -->` becomes every command with its arguments, options and examples;
- the notebooks of `examples/notebooks` are run, and become pages with what they show;
- a picture leads to itself, to be seen larger;
- a link to a file outside docs leads to a page with that file; the pages of ROOT_PAGES are pages by themselves;
- formulas become MathML.
"""

from __future__ import annotations

import base64
import posixpath
import re
import shutil
import tempfile
import tomllib
from html import escape
from pathlib import Path
from typing import Any

import docstring_text  # noqa: F401 # griffe needs it, when the folder is off the path again
from site_command_line import command_line  # mkdocs loads a hook with its folder on the path
from site_formulas import with_formulas
from site_notebooks import NOTEBOOKS, page_of
from site_reference import addresses, object_pages, with_tables

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("mechanisms", "solvers", "estimators", "designer")
ROOT_PAGES = {name: name.lower() for name in ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")}
LANGUAGES = {".py": "python", ".js": "js", ".html": "html", ".css": "css", ".toml": "toml", ".md": "markdown", "": ""}
COMMANDS = "<!-- command line -->"
SLIDERS = "<!-- sliders: people and epsilon -->"
WORDS = tomllib.loads(Path(__file__).with_name("search.toml").read_text())["words"]
BOOST = {"reference": 0.002, "accuracy": 0.1, "papers": 0.1, "changelog.md": 0.05}
"""What a page counts in a search, by its folder; guides with words of their own 1, others 0.2."""

LINK = re.compile(r"(?<=\]\()([^)\s#]+)((?:#[^)\s]*)?)(?=\))")

INLINE = re.compile(r'src="data:image/png;base64,([^"]+)"')
NUMBERS = re.compile(r"<td( [^>]*)?>([-+\d.,e%± ]*\d[-+\d.,e%± ]*)</td>")
PICTURE = re.compile(r'(?:<a [^>]*>)?<img [^>]*?src="([^"]+)"[^>]*>')

_sources = tempfile.TemporaryDirectory(prefix="optldp-sources-")  # gone when the build ends, however it ends


# The packages, where griffe looks for them: the folders at the root are installed under other names.
def on_config(config: Any) -> Any:
    package = Path(_sources.name, "optldp")
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()  # one package, whatever else is installed
    for layer in LAYERS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / layer, package / layer, ignore=ignore, dirs_exist_ok=True)
    python = config.plugins["mkdocstrings"].config.handlers["python"]
    python["paths"] = [_sources.name]
    python["options"]["extensions"] = [str(Path(__file__).with_name("site_docstrings.py"))]
    return config


on_config.mkdocs_priority = 100  # before mkdocstrings reads what is set here; what mkdocs' own decorator sets


# Pages made from files outside docs.
def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File, InclusionLevel

    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, content=_from_root((ROOT / name).read_text())))
    for path in NOTEBOOKS.glob("*.ipynb"):
        text, pictures = _pictures_apart(page_of(path), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    for uri, content in object_pages().items():
        files.append(File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    linked = {source for page in files.documentation_pages() for source in _linked(page.src_uri, page.content_string)}
    for source in sorted(linked):
        content, level = _listing(source), InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, _page_of(source), content=content, inclusion=level))
    return files


def _pictures_apart(text: str, name: str) -> tuple[str, dict[str, bytes]]:
    """Return a page whose pictures are files beside it, which can be opened by themselves, and these files."""
    pictures: dict[str, bytes] = {}

    def kept(code: re.Match[str]) -> str:
        picture = f"{name}-{len(pictures) + 1}.png"
        pictures[picture] = base64.b64decode(code[1])
        return f'src="../{picture}"'  # from the page's folder

    return INLINE.sub(kept, text), pictures


def _linked(uri: str, text: str) -> list[str]:
    """Return the files outside docs that a page links to, from the root of the repository."""
    targets = [_outside(uri, link) for link, _ in LINK.findall(text)]
    return [target for target in dict.fromkeys(targets) if target and target not in ROOT_PAGES]


def _outside(uri: str, link: str) -> str | None:
    """Return the file of the repository outside docs that a link of a page means, if it means one."""
    if "://" in link or link.startswith("/"):
        return None
    target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(uri), link))
    file = ROOT / target
    return target if file.is_file() and file.suffix in LANGUAGES and not target.startswith(("docs/", "..")) else None


def _page_of(source: str) -> str:
    return ROOT_PAGES.get(source, f"source/{source}.md")


def _listing(source: str) -> str:
    text = (ROOT / source).read_text()
    fence = "````" if "```" in text else "```"
    return f"# {source}\n\n{fence}{LANGUAGES[Path(source).suffix]}\n{text.rstrip()}\n{fence}\n"


def _from_root(text: str) -> str:
    """Return a page of the root with its links as they are from docs."""

    def moved(link: re.Match[str]) -> str:
        if "://" in link[1]:
            return link[0]
        inside = link[1].startswith("docs/")
        return (link[1].removeprefix("docs/") if inside else f"../{link[1]}") + link[2]

    return LINK.sub(moved, text)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    uri = page.file.src_uri
    page.meta |= searched(uri)
    here = posixpath.dirname(uri)

    def led(link: re.Match[str]) -> str:
        target = _outside(uri, link[1])
        page = _page_of(target) if target else addresses().get(link[2].removeprefix("#"))
        anchor = link[2] if target else ""
        return posixpath.relpath(page, here or ".") + anchor if page else link[0]

    if uri.startswith("source/"):
        return markdown
    return expanded(uri, LINK.sub(led, markdown))


def searched(uri: str) -> dict[str, Any]:
    """Return what the search is told of a page: guides come first, sources never, and words that people say for it."""
    if uri.startswith("source/"):
        return {"search": {"exclude": True}}
    words = WORDS.get(uri.removesuffix(".md"))
    if words:
        return {"search": {"boost": 1.0}, "tags": words.split(", ")}
    return {"search": {"boost": BOOST.get(uri.split("/")[0], 0.2)}}


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Return a page with formulas drawn, on which a press on a picture opens it: on telephones letters are small.

    The search leaves out cells of nothing but numbers: looking for words that begin with 1 ended in an error otherwise.
    """

    def pressed(found: re.Match[str]) -> str:
        linked = found[0].startswith("<a ")
        return found[0] if linked else f'<a class="picture" href="{found[1]}">{found[0]}</a>'

    return with_formulas(NUMBERS.sub(r"<td data-search-exclude\1>\2</td>", PICTURE.sub(pressed, html)))


def expanded(uri: str, markdown: str) -> str:
    """Return a page with its marks replaced by what they stand for."""
    markdown = with_tables(uri, markdown)
    if SLIDERS in markdown:
        markdown = markdown.replace(SLIDERS, _sliders())
    return markdown.replace(COMMANDS, command_line()) if COMMANDS in markdown else markdown


def _sliders() -> str:
    """Return two sliders with the numbers beside them, so that nothing is fetched; `people-and-error.js` moves them."""
    numbers = (ROOT / "docs" / "reference" / "people-and-error.json").read_text().strip()
    return Path(__file__).with_name("site_sliders.html").read_text().replace("NUMBERS", escape(numbers))
