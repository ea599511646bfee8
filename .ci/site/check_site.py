"""Check a built site by itself: python .ci/site/check_site.py FOLDER.

Every link and every anchor inside the site leads somewhere, every picture, script and style is there, nothing is loaded
from elsewhere, and every name that the four packages and rooms in them export has a page of its own in the reference.
"""

import importlib
import posixpath
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("mechanisms", "solvers", "estimators", "designer")
STUBS = [stub.relative_to(ROOT).parent for layer in LAYERS for stub in sorted((ROOT / layer).glob("*/**/*.pyi"))]
ROOMS = tuple(".".join(room.parts) for room in STUBS)
"""Rooms with public names of their own."""


class Page(HTMLParser):
    """What a page names, what it links to and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif (tag, name) in LOADS:
                self.loads.append(value)


def target_of(page: str, address: str) -> tuple[str, str]:
    """Return the file, from the site's root, and the anchor that a relative address on a page means."""
    parts = urlsplit(address)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
    path = "index.html" if path == "." else path
    folder = parts.path.endswith(("/", "..", ".")) or not posixpath.splitext(path)[1]
    return (posixpath.join(path, "index.html") if folder and path != "index.html" else path), unquote(parts.fragment)


def faults(site: Path) -> list[str]:
    """Return what is wrong with a site, one line each."""
    pages = {file.relative_to(site).as_posix(): Page(file.read_text()) for file in site.rglob("*.html")}
    if not pages:
        return [f"{site} must hold pages, got none"]
    wrong = []
    for name, page in pages.items():
        if name == "404.html":
            continue  # its links are from the root of a server
        wrong += [f"{name}: loads {url} from elsewhere" for url in page.loads if urlsplit(url).netloc]
        inside = [url for url in page.links + page.loads if not urlsplit(url).scheme and not urlsplit(url).netloc]
        for url in inside:
            target, anchor = target_of(name, url)
            if not (site / target).is_file():
                wrong.append(f"{name}: {url} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                wrong.append(f"{name}: {url} names no anchor")
    for style in site.rglob("*.css"):
        text = style.read_text()
        wrong += [f"{style.name}: loads from elsewhere"] if "url(http" in text or "@import" in text else []
    return wrong + undocumented(pages)


def undocumented(pages: dict[str, Page]) -> list[str]:
    """Return the exported names without an entry on a page of their own."""
    names = {f"optldp.{face}.{name}" for face in LAYERS + ROOMS for name in exported(face)}
    shown = {name: page.anchors & names for name, page in pages.items() if name.startswith("reference/")}
    found = {name for entries in shown.values() for name in entries}
    wrong = [f"{name} is exported and has no entry in the reference" for name in sorted(names - found)]
    return wrong + [f"{page}: holds {', '.join(sorted(held))}" for page, held in shown.items() if len(held) > 1]


def exported(face: str) -> list[str]:
    return importlib.import_module(f"optldp.{face}").__all__


if __name__ == "__main__":
    found = faults(Path(sys.argv[1]))
    print("\n".join(found) or "every link and anchor leads somewhere, nothing is loaded from elsewhere")
    sys.exit(bool(found))
