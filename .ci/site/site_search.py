"""Whether people find the page that answers them: `python site_search.py FOLDER`; needs chromium on the path.

The built site is served to a browser, each wording of `search.toml` is typed into its search, and the first
result must be a page that answers it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "javascript" / "tests"))

from chromium import Chromium

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = Path(__file__).with_name("search.toml")

FIELD = "document.querySelector('input.md-search__input')"
READY = f"{FIELD} && document.querySelector('.md-search-result__meta').textContent.includes('Type')"

ASK = (
    "(async () => { const field = %s;"
    "  const say = text => { field.focus(); field.value = text;"
    "    field.dispatchEvent(new Event('keyup', {bubbles: true})); field.dispatchEvent(new Event('input')); };"
    "  const until = async wanted => { for (let i = 0; i < 300 && !wanted(); i++)"
    "    await new Promise(done => setTimeout(done, 10)); };"
    "  const meta = document.querySelector('.md-search-result__meta');"
    "  say(''); await until(() => meta.textContent.includes('Type'));"
    "  const list = () => [...document.querySelectorAll('.md-search-result__list > li')];"
    "  say(%s); await until(() => list().length || /^No /.test(meta.textContent.trim()));"
    "  await new Promise(done => setTimeout(done, 60));"
    "  return list().slice(0, 3).map(e => e.querySelector('a').pathname); })()"
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def asked() -> Iterator[tuple[str, list[str]]]:
    """Each wording, and the pages that answer it."""
    for question in tomllib.loads(QUESTIONS.read_text())["question"]:
        for wording in question["wordings"]:
            yield wording, question["pages"]


def word_for_word() -> list[str]:
    """Return the wordings of four words and more that a page holds."""
    texts = {page: page.read_text().casefold() for page in (ROOT / "docs").rglob("*.md")}
    long = [wording for wording, _ in asked() if len(wording.split()) > 3]
    return [f"{page.name} holds {wording!r}" for wording in long for page in texts if wording.casefold() in texts[page]]


def not_found(site: Path) -> list[str]:
    """Return what the first result is wherever it is no page that answers, one line each."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wrong = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        Chromium(Path(scratch, "profile")) as browser,
    ):
        browser.resize(1280, 844, phone=False, scale=1)
        browser.open(f"http://127.0.0.1:{server.server_port}/index.html", READY)
        for wording, pages in asked():
            found = [path.strip("/") for path in browser.run(ASK % (FIELD, json.dumps(wording)))]
            if not found or found[0] not in pages:
                wrong.append(f"{wording}: {', '.join(found) or 'nothing'}; wanted {', '.join(pages)}")
    server.shutdown()
    return wrong


def main() -> int:
    """Ask everything; the exit status is 1 if anything is not found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    site, began = parser.parse_args().site.resolve(), time.monotonic()
    wrong = word_for_word() + not_found(site)
    questions = len(list(asked()))
    print("\n".join(wrong) or f"{questions} wordings find their page first, after {time.monotonic() - began:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
