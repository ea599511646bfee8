"""Every check of the browser client: `python run.py [--screenshots FOLDER]`; needs node and chromium on the path.

Node draws from every table. Chromium, which runs the same code, draws from each fourth, and with --all from every one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from checks import Check, count
from chromium import Chromium
from make_bundles import REPORTS as BUNDLE_REPORTS
from make_bundles import main as make_bundles
from make_fixtures import REPORTS, loaded
from make_fixtures import main as make_fixtures
from make_panels import main as make_panels
from optldp.designer.auditing.audit import audit
from optldp.mechanisms import TabulatedMechanism, load_mechanism
from optldp.mechanisms.compact_tables import FloorForm

CLIENT = Path(__file__).parents[1]
ROOT = CLIENT.parents[1]
PAGE = "examples/browser-client/index.html"
NODE_TESTS = [CLIENT / "tests" / f"{name}.test.js" for name in ("client", "bundles", "panel")]
SEEN_READY = "document.querySelector('#chart svg path')"


def node_results(folder: Path) -> tuple[int, int]:
    """Run the Node tests, show those that failed, and return how many passed and failed."""
    environment = {**os.environ, "OPTLDP_FIXTURES": str(folder)}
    command = ["node", "--test", "--test-reporter=tap", *map(str, NODE_TESTS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    passed, failed = (int(re.findall(rf"^# {word} (\d+)$", done.stdout, re.M)[-1]) for word in ("pass", "fail"))
    if done.returncode or failed or not passed:
        print(done.stdout[-8000:], done.stderr[-2000:])
        return passed, max(failed, 1)
    print(f"{passed} tests in Node {subprocess.check_output(['node', '--version'], text=True).strip()}")
    return passed, 0


def require(fits: bool, what: object) -> None:
    """Raise AssertionError unless it is so."""
    if not fits:
        raise AssertionError(what)


def check_frequencies(counts: np.ndarray, said: dict[str, Any]) -> None:
    """Chi-square of an output's counts against the table's probabilities, at the false-alarm rate of the fixtures."""
    law = np.array(said["law"])
    seen = np.bincount(said["groups"], weights=counts, minlength=law.size)
    square = float(np.sum((seen - REPORTS * law) ** 2 / (REPORTS * law)))
    require(counts.sum() == REPORTS and square <= said["critical"], f"chi-square {square} above {said['critical']}")


def check_node_reports(folder: Path, said: dict[str, Any]) -> None:
    """The library finds every report of the client in the output that the client drew, as often as it should be."""
    table = loaded(folder / said["file"])
    reports = np.fromfile(folder / "reports" / f"{said['file']}.f64")
    outputs = table.output_index(reports)
    drawn = np.fromfile(folder / "reports" / f"{said['file']}.i32", np.int32)
    require(np.array_equal(outputs, drawn), "the library must find each report in the output that the client finds")
    check_frequencies(np.bincount(outputs, minlength=table.low.size), said)


def check_audit(folder: Path, said: dict[str, Any]) -> None:
    """The audit of the client in Node finds nothing above the claim, no foreign report, and all spelled as published.

    Of a few reports; with values outside the domain where that is a range.
    """
    command = f"node {CLIENT / 'sampler.js'} {folder / said['file']}"
    mechanism = load_mechanism(folder / said["file"])
    outside = isinstance(mechanism, TabulatedMechanism | FloorForm)
    found = audit(mechanism, command, samples=20_000, confidence=1 - 1e-6, outside=outside)
    require(found.ok and found.foreign == 0 and found.misspelled == 0, found)


def check_browser_bundle(browser: Chromium, origin: str, said: dict[str, Any]) -> None:
    """A page that fetches a bundle draws reports as the library says, without complaint."""
    browser.forget()
    asked = said["tests"][0]
    query = f"bundle=/tables/{said['file']}&value={quote(json.dumps(asked['value']))}&reports={BUNDLE_REPORTS}"
    browser.open(
        f"{origin}/clients/javascript/tests/sampling-page.html?{query}", "document.getElementById('counts').textContent"
    )
    counts: dict[str, int] = json.loads(browser.run("document.getElementById('counts').textContent"))
    seen, law = np.zeros(len(asked["law"])), np.array(asked["law"])
    for line, many in counts.items():
        seen[asked["groups"][line]] += many
    square = float(np.sum((seen - BUNDLE_REPORTS * law) ** 2 / (BUNDLE_REPORTS * law)))
    require(
        seen.sum() == BUNDLE_REPORTS and square <= asked["critical"], f"chi-square {square} above {asked['critical']}"
    )
    require(not browser.complaints, browser.complaints)


def check_browser_reports(browser: Chromium, origin: str, said: dict[str, Any]) -> None:
    """A page that fetches a table and perturbs counts the outputs as often as the table says, without complaint."""
    browser.forget()
    query = f"table=/tables/{said['file']}&value={quote(repr(said['value']))}&reports={REPORTS}"
    browser.open(
        f"{origin}/clients/javascript/tests/sampling-page.html?{query}", "document.getElementById('counts').textContent"
    )
    check_frequencies(np.array(json.loads(browser.run("document.getElementById('counts').textContent"))), said)
    require(not browser.complaints, browser.complaints)


def check_page(browser: Chromium, origin: str, folder: Path, said: dict[str, Any]) -> None:
    """The page shows the facts and the row, draws reports of the table, and asks for nothing but its own files."""
    browser.forget()
    browser.open(f"{origin}/{PAGE}?table=/tables/{said['file']}", SEEN_READY)
    table = loaded(folder / said["file"])
    status = browser.run("document.getElementById('table-status').textContent")
    require(status.endswith("proved private"), status)
    facts = browser.run("document.getElementById('facts').textContent")
    require(f"{table.knots.size} knots, {table.low.size} outputs" in facts, facts)
    asked = list(browser.requests)
    enter = "const field = document.getElementById('value'); field.value = {}; field.dispatchEvent(new Event('input'))"
    browser.run(f"{{ {enter.format(said['value'])} }}")
    press = "document.querySelector('button').click(), document.getElementById('report').textContent"
    reports = [float(browser.run(press)) for _ in range(20)]
    table.output_index(reports)  # raises for a number that is no report of this table
    require(len(set(reports)) > 1, "twenty reports must not all be equal")
    browser.run(f"{{ {enter.format(float(table.knots[-1]) * 2 + 1)} }}")
    require(browser.run(press) == "", "a value outside the domain must not be reported on")
    require(browser.run("document.getElementById('value-problem').textContent").startswith("Enter a number"), "no cure")
    require(browser.requests == asked, f"entering and drawing must send nothing, got {browser.requests[len(asked) :]}")
    own = all(method == "GET" and url.startswith((origin, "data:")) for method, url in asked)
    require(own and not browser.complaints, (asked, browser.complaints))


def check_refusal(browser: Chromium, origin: str, said: dict[str, Any]) -> None:
    """The page says why it refuses a table, and offers nothing to draw from."""
    browser.forget()
    state = "document.getElementById('table-status')"
    browser.open(f"{origin}/{PAGE}?table=/tables/{said['file']}", f"{state}.textContent.includes('refused')")
    require(browser.run("document.getElementById('value-section').hidden"), "a refused table must not be used")
    require(not browser.complaints, browser.complaints)


def check_file_picker(browser: Chromium, origin: str, folder: Path, said: dict[str, Any]) -> None:
    """A table from the disk is read in the page and asks the network for nothing."""
    browser.open(f"{origin}/{PAGE}", "document.getElementById('file')")
    browser.forget()
    browser.choose_file("#file", folder / said["file"])
    browser.wait_for(SEEN_READY)
    require(not browser.requests and not browser.complaints, (browser.requests, browser.complaints))


def check_width(browser: Chromium, origin: str, said: dict[str, Any], width: int, picture: Path) -> None:
    """The page fits into that width without scrolling sideways; a picture of it is kept."""
    browser.resize(width, 844, phone=width < 600, scale=2 if width < 600 else 1)
    browser.open(f"{origin}/{PAGE}?table=/tables/{said['file']}", SEEN_READY)
    browser.run("document.querySelector('button').click()")
    browser.screenshot(picture)
    wide = browser.run("document.documentElement.scrollWidth")
    require(wide <= width and picture.stat().st_size > 10_000, f"{wide} pixels in a window of {width}")


@contextmanager
def served(tables: Path) -> Iterator[str]:
    """Serve client and page, and the tables under /tables/, on this machine alone; the value is the address."""

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            if path.startswith("/tables/"):
                return str(tables / Path(path.partition("?")[0]).name)
            return super().translate_path(path)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: what matters is asserted."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(ROOT)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def bundle_checks(browser: Chromium, origin: str, bundles: dict[str, Any]) -> list[Check]:
    """One bundle of each kind, in a browser."""
    of_kinds = {said["kind"]: (name, said) for name, said in bundles.items()}.values()
    return [
        (f"reports of a bundle drawn in Chromium: {name}", partial(check_browser_bundle, browser, origin, said))
        for name, said in of_kinds
    ]


def browser_checks(
    browser: Chromium, origin: str, folder: Path, said: dict[str, Any], pictures: Path, each: int
) -> list[Check]:
    """All that is asked of a browser, by name; it draws from one table in so many."""
    good, bad = said["good"], said["bad"]
    shown = good["optimal"]
    return [
        *(
            (f"{REPORTS} reports drawn in Chromium: {name}", partial(check_browser_reports, browser, origin, fixture))
            for name, fixture in list(good.items())[::each]
        ),
        *((f"the page: {name}", partial(check_page, browser, origin, folder, good[name])) for name in SHOWN),
        *((f"the page refuses: {name}", partial(check_refusal, browser, origin, bad[name])) for name in REFUSED),
        ("the page opens a file", partial(check_file_picker, browser, origin, folder, shown)),
        *(
            (f"{width} pixels wide", partial(check_width, browser, origin, shown, width, pictures / f"{width}.png"))
            for width in (1280, 390, 320)
        ),
    ]


AUDITED = ("hashing to 4", "levels of pairs", "levels of attributes")
DRAWN_FROM = 4
"""Tables of which Chromium draws from one, unless all are asked for."""

SHOWN = ("optimal", "floor form: optimal", "piecewise", "lattice", "hybrid", "laplace")
REFUSED = ("another checksum", "one unit over the limit", "a sum one above", "truncated", "version 1")


def main() -> int:
    """Run everything; the exit status is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=Path, help="where to keep pictures of the page")
    parser.add_argument("--all", action="store_true", help="draw from every table in Chromium, too")
    arguments = parser.parse_args()
    each = 1 if arguments.all else DRAWN_FROM
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "fixtures")
        pictures = arguments.screenshots or Path(scratch, "pictures")
        for made in (folder, pictures):
            made.mkdir(parents=True, exist_ok=True)
        make_fixtures(folder)
        make_bundles(folder)
        make_panels(folder)
        bundles = json.loads((folder / "bundles.json").read_text())["good"]
        said = json.loads((folder / "fixtures.json").read_text())
        results = [node_results(folder)]
        reports = [(f"reports read: {n}", partial(check_node_reports, folder, f)) for n, f in said["good"].items()]
        results.append(count(reports))
        audited = [*list(said["good"].items())[:2], *((name, bundles[name]) for name in AUDITED)]
        results.append(count([(f"audit: {n}", partial(check_audit, folder, f)) for n, f in audited]))
        with served(folder) as origin, Chromium(Path(scratch, "profile")) as browser:
            results.append(count(browser_checks(browser, origin, folder, said, pictures, each)))
            results.append(count(bundle_checks(browser, origin, bundles)))
    passed, failed = map(sum, zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
