"""What a browser makes of the built site: `python site_pages.py FOLDER`; needs chromium on the path.

On ten pages, light and dark, axe-core finds nothing serious, in what surrounds them neither. On the pages, 390 pixels
wide, nothing scrolls sideways but tables and code in a box of their own, and every picture can be enlarged. Of these
each third is looked at, of the reference, whose pages are made alike, each twelfth, and with --all all of them.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "javascript" / "tests"))

from axe_core import axe_core, serious
from chromium import Chromium

PAGES = (
    "index.html",
    "tutorial/index.html",
    "how-to/design/index.html",
    "figures/index.html",
    "categories/index.html",
    "threat-model/index.html",
    "optimum/index.html",
    "notebooks/analyst/index.html",
    "benchmarks/index.html",
    "reference/command-line/index.html",
)
"""One of each sort: text, code, figures, formulas, tables, what a notebook shows, entries of the reference."""

ALIKE = "reference/"
"""Pages that are made alike."""

EACH = {False: 3, True: 12}
"""How many pages one stands for, of others and of those that are made alike."""

READY = "document.querySelector('article')"

PHONE = 390

SCHEME = "document.body.dataset.mdColorScheme"
WANTED = {"light": "default", "dark": "slate"}

FORGET = "localStorage.clear()"
"""The site keeps the scheme that it was first seen in."""

SIDEWAYS = """(() => {
  const boxed = e => { for (; e && e !== document.body; e = e.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)) return true; return false; };
  const wide = document.documentElement.scrollWidth;
  const out = [...document.querySelectorAll('article *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && box.right > innerWidth + 1 && !boxed(e);
  });
  return [wide, out.slice(0, 3).map(e => e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40))];
})()"""
"""How wide the page is, and what stands out of the window without a box around it that scrolls."""

NOT_ENLARGED = (
    "[...document.querySelectorAll('article img')].filter(e => !e.closest('a[href]')).map(e => e.alt || e.src)"
)


def show(browser: Chromium, page: Path, width: int, scheme: str) -> None:
    """Open a page in a window of that width, as the system's wish for light or dark has it."""
    browser.resize(width, 844, phone=width < 600, scale=1)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(page.as_uri(), READY)
    if (found := browser.run(SCHEME)) != WANTED[scheme]:
        raise RuntimeError(f"{page} must be {WANTED[scheme]}, got {found}")


def accessible(browser: Chromium, site: Path, axe: str, pictures: Path | None) -> list[str]:
    """Return what axe-core finds serious on the ten pages, one line each."""
    wrong = []
    for name in PAGES:
        for scheme in WANTED:
            show(browser, site / name, 1280, scheme)
            part = "document" if name == PAGES[0] else "'article'"
            wrong += [f"{name}, {scheme}: {found}" for found in serious(browser, axe, part)]
            if pictures is not None:
                browser.screenshot(pictures / f"{name.replace('/', '-')}-{scheme}.png")
    return wrong


def on_a_phone(browser: Chromium, site: Path, every: bool) -> list[str]:
    """Return what scrolls sideways and which pictures cannot be enlarged, on every page or on those of `EACH`."""
    wrong, seen = [], Counter[bool]()
    for page in sorted(site.rglob("*.html")):
        name = page.relative_to(site).as_posix()
        if name == "404.html" or name.startswith("source/"):
            continue
        alike = name.startswith(ALIKE)
        seen[alike] += 1
        if not every and seen[alike] % EACH[alike]:
            continue
        show(browser, page, PHONE, "light")
        wide, out = browser.run(SIDEWAYS)
        if wide > PHONE or out:
            wrong.append(f"{name}: {wide} pixels in a window of {PHONE}; {'; '.join(out)}")
        wrong += [f"{name}: a picture that cannot be enlarged, {what}" for what in browser.run(NOT_ENLARGED)]
    return wrong


def main() -> int:
    """Run everything; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--all", action="store_true", help="every page")
    parser.add_argument("--axe", type=Path, help="another axe.min.js than that of axe-core-python")
    parser.add_argument("--screenshots", type=Path, help="where to keep pictures of the ten pages")
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    axe = axe_core(arguments.axe)
    if arguments.screenshots is not None:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    wrong, began = [], time.monotonic()
    # Chromium's own processes may still write to its profile when it is removed.
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        Chromium(Path(scratch, "profile")) as browser,
    ):
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=FORGET)
        wrong += accessible(browser, site, axe, arguments.screenshots)
        print(f"{len(PAGES)} pages in both schemes seen by axe-core after {time.monotonic() - began:.0f} s", flush=True)
        wrong += on_a_phone(browser, site, arguments.all)
    print("\n".join(wrong) or f"nothing serious, nothing scrolls sideways, after {time.monotonic() - began:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
