"""What a browser makes of a report on bounds: `python report_page.py [--screenshots FOLDER]`; needs chromium."""

import argparse
import base64
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "javascript" / "tests"))

from axe_core import axe_core, serious
from checks import count
from chromium import Chromium
from optldp.designer import Guarantee, Information, Prior, TotalVariationAmbiguity, bounds, bounds_html

HOSTILE = "income</title><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
"""A column's name that would run a script, if it could."""

FIGURES = (
    "variance",
    "ratio",
    "worst",
    "values",
    "trade-off",
    "least-favourable",
    "mechanism",
    "robust",
    "information",
)
READY = "document.querySelector('#mechanism svg')"
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
"""Two frames of the page have passed."""

SMALLEST_TEXT = 14.0
"""CSS pixels of the page's own text at least, on a telephone too."""

SMALLEST_LABEL = 9.0
"""CSS pixels of the text inside figures at least; superscripts apart."""

PHONE = 390


def require(fits: bool, what: object) -> None:
    """Raise AssertionError unless it is so."""
    if not fits:
        raise AssertionError(what)


def small_report() -> str:
    """A report of seconds: few knots, budgets and methods, one of them failed, and a hostile name."""
    values = np.random.default_rng(3).beta(2, 5, 500) * 100
    prior = Prior.from_data(values, knots=17, domain=(0, 100), units="EUR <b>&</b> $x$")
    methods = ["optimal", "laplace", "duchi", "piecewise", "hybrid", "ptt"]
    objectives = [Guarantee(TotalVariationAmbiguity(0.1)), Information("cumulative")]
    found = bounds(prior, [0.5, 1.0, 2.0, 4.0], methods=methods, objectives=objectives)
    return bounds_html(found, column=HOSTILE)


def check_quiet(browser: Chromium, page: str) -> None:
    """The page complains of nothing, asks for nothing but itself, and runs nothing that a name brought in."""
    browser.forget()
    browser.resize(1200, 900, phone=False, scale=1)
    browser.open(page, READY)
    foreign = [url for _, url in browser.requests if url != page and not url.startswith("data:")]
    require(not foreign and not browser.complaints, (foreign, browser.complaints))
    title = browser.run("document.title")
    require(title.endswith(HOSTILE), title)
    require(browser.run("document.images.length") == 0, "a name became an image")


def check_ids(browser: Chromium) -> None:
    """No id is on the page twice, and what refers to one finds it."""
    twice = browser.run("(() => {const seen = [...document.querySelectorAll('[id]')].map(e => e.id); "
                        "return seen.filter((id, i) => seen.indexOf(id) !== i)})()")  # fmt: skip
    require(not twice, twice[:5])
    lost = browser.run("[...document.querySelectorAll('use')].map(e => e.getAttribute('href'))"
                       ".filter(h => !document.getElementById(h.slice(1))).length")  # fmt: skip
    require(lost == 0, f"{lost} drawings refer to nothing")


def check_width(browser: Chromium, page: str, width: int, picture: Path) -> None:
    """The page fits that width without scrolling sideways, and every figure is seen; a picture of it is kept."""
    browser.resize(width, 844, phone=width < 600, scale=2 if width < 600 else 1)
    browser.open(page, READY)
    browser.screenshot(picture)
    wide = browser.run("document.documentElement.scrollWidth")
    require(wide <= width, f"{wide} pixels in a window of {width}")
    for name in FIGURES:
        box = browser.run(f"(() => {{const b = document.querySelector('#{name} figure > svg').getBoundingClientRect(); "
                          "return [b.left, b.right, b.height]})()")  # fmt: skip
        require(box[0] >= 0 and box[1] <= width and box[1] - box[0] > 200 and box[2] > 150, (name, box))


def check_legible(browser: Chromium, page: str) -> None:
    """On a telephone no text is smaller than can be read."""
    browser.resize(PHONE, 844, phone=True, scale=2)
    browser.open(page, READY)
    own = browser.run("Math.min(...[...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && "
                      "e.textContent.trim()).map(e => parseFloat(getComputedStyle(e).fontSize)))")  # fmt: skip
    require(own >= SMALLEST_TEXT, f"{own} pixels")
    drawn = browser.run("Math.min(...[...document.querySelectorAll('figure > svg text')].map(e => { "
                        "const svg = e.closest('svg'); return Math.max(...[e, ...e.querySelectorAll('tspan')].map("
                        "t => parseFloat(getComputedStyle(t).fontSize))) * svg.getBoundingClientRect().width / "
                        "svg.viewBox.baseVal.width}))")  # fmt: skip
    require(drawn >= SMALLEST_LABEL, f"{drawn} pixels inside a figure")


def check_accessible(browser: Chromium, page: str, axe: str) -> None:
    """axe-core finds nothing serious, light and dark."""
    browser.resize(1200, 900, phone=False, scale=1)
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(page, READY)
        require(not (found := serious(browser, axe, "document")), (scheme, found))
    browser.call("Emulation.setEmulatedMedia", features=[])


def check_on_paper(browser: Chromium, page: str, folder: Path) -> None:
    """Printed on A4 no table's row, figure or box is cut in two: none is higher than a page, and none may be broken."""
    browser.resize(680, 900, phone=False, scale=1)  # the width of A4 between its margins
    browser.open(page, READY)
    browser.call("Emulation.setEmulatedMedia", media="print")
    cut = browser.run(
        "[...document.querySelectorAll('tr, figure, .means, .recommended, .choices, .headline')].filter(e => "
        "getComputedStyle(e).breakInside !== 'avoid' || e.getBoundingClientRect().height > 1000).length"
    )
    wide = browser.run("[...document.querySelectorAll('table')].filter(e => "
                       "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className)")  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", media="")
    made = browser.call("Page.printToPDF", preferCSSPageSize=False, paperWidth=8.27, paperHeight=11.69)
    (folder / "report.pdf").write_bytes(base64.b64decode(made["data"]))
    require(cut == 0 and not wide, (cut, wide))


def keep_portrait(browser: Chromium, page: str, picture: Path) -> None:
    """Keep the picture of docs/bounds.md: two methods brought out, and a point that speaks."""
    browser.resize(1100, 900, phone=False, scale=1)
    browser.open(page, READY)
    for name in ("hybrid", "ptt"):
        browser.run(f"document.querySelector('#ratio .keys button[data-series={name}]').click()")
    browser.run("document.querySelector('#ratio').scrollIntoView({block: 'center'})")
    browser.run(SETTLED)
    x, y = browser.run("(() => {const b = [...document.querySelectorAll('#ratio .spot[data-series=ptt]')].at(-2)"
                       ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]})()")  # fmt: skip
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.wait_for("!document.getElementById('tip').hidden")
    clip = browser.run("(() => {const b = document.querySelector('#ratio').getBoundingClientRect(); "
                       "return {x: b.x, y: b.y + scrollY, width: b.width, height: b.height, scale: 1}})()")  # fmt: skip
    made = browser.call("Page.captureScreenshot", format="png", clip=clip)
    picture.write_bytes(base64.b64decode(made["data"]))
    require(picture.stat().st_size > 10_000, "a picture")


def check_tip(browser: Chromium, page: str, phone: bool) -> None:
    """Pointing at a point, by mouse or by finger, says its method, budget and variance, inside the window."""
    width = PHONE if phone else 1200
    browser.resize(width, 844, phone=phone, scale=1)
    browser.open(page, READY)
    browser.run("document.querySelector('#ratio figure').scrollIntoView({block: 'center'})")
    browser.run(SETTLED)  # scrolling silences points, and its event comes with the next frame
    x, y, says = browser.run(
        "(() => {const spot = [...document.querySelectorAll('#ratio .spot[data-series=laplace]')].at(-1); "
        "const box = spot.getBoundingClientRect(); "
        "return [box.x + box.width / 2, box.y + box.height / 2, spot.dataset.says]})()"
    )
    if phone:
        browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    else:
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.wait_for("!document.getElementById('tip').hidden")
    said = browser.run("document.getElementById('tip').textContent")
    require(said == says and "laplace, epsilon 4" in said and "variance" in said, said)
    left, right = browser.run("(() => {const b = document.getElementById('tip').getBoundingClientRect(); "
                              "return [b.left, b.right]})()")  # fmt: skip
    require(left >= 0 and right <= width, (left, right))
    if not phone:
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        browser.wait_for("document.getElementById('tip').hidden")


def check_highlight(browser: Chromium, page: str) -> None:
    """Pressing a method fades the others in every figure and marks its rows; pressing it again undoes that."""
    browser.resize(1200, 900, phone=False, scale=1)
    browser.open(page, READY)
    fades = "[...document.querySelectorAll('figure g[id*=\"-method-\"]')]"
    marked = "document.querySelectorAll('tr.chosen').length"
    press = "document.querySelector('.keys button[data-series=duchi]').click()"
    browser.run(press)
    faint = browser.run(f"{fades}.filter(e => e.classList.contains('faint')).map(e => e.id)")
    bright = browser.run(f"{fades}.filter(e => !e.classList.contains('faint')).map(e => e.id)")
    require(len(faint) > 10 and not any(name.endswith("-duchi") for name in faint), faint)
    require({"variance-method-duchi", "ratio-method-duchi", "worst-method-duchi"} <= set(bright), bright)
    require(all(name.endswith("-duchi") for name in bright), bright)
    require(browser.run(marked) == 12, "one row for each budget in each of three tables")
    browser.run(press)
    require(browser.run(f"{fades}.every(e => !e.classList.contains('faint'))") and browser.run(marked) == 0, "undone")
    browser.run("document.querySelector('.certificates tbody tr[data-series=laplace]').click()")
    require(browser.run("document.querySelector('.keys button[data-series=laplace]').ariaPressed") == "true", "a row")


def check_sorting(browser: Chromium, page: str) -> None:
    """A press on a column's name sorts its table by its numbers, a second one the other way; no row changes tables."""
    browser.resize(1200, 900, phone=False, scale=1)
    browser.open(page, READY)
    tables = "[...document.querySelectorAll('.certificates')]"
    counts = f"{tables}.map(t => t.tBodies[0].rows.length)"
    before = browser.run(counts)
    for place in range(3):
        table = f"{tables}[{place}]"
        cells = f"[...{table}.tBodies[0].rows].map(r => r.cells[2].dataset)"
        keys = f"{cells}.filter(d => 'key' in d).map(d => Number(d.key))"
        head = f"{table}.querySelectorAll('th button')[2].click()"
        browser.run(head)
        rising = browser.run(keys)
        browser.run(head)
        falling = browser.run(keys)
        require(rising == sorted(rising) and falling == rising[::-1] and rising[0] < rising[-1], (rising, falling))
        require(browser.run(counts) == before and len(before) == 3, (before, place))


def check_policy(browser: Chromium, page: str) -> None:
    """Even a script that asked the network would be refused by the page."""
    browser.open(page, READY)
    browser.forget()
    answer = browser.run("fetch('http://127.0.0.1:9/').then(() => 'let through', e => e.name)")
    require(answer == "TypeError" and any("Content Security Policy" in c for c in browser.complaints), answer)


def checks(browser: Chromium, page: str, pictures: Path, axe: str) -> list[tuple[str, Callable[[], None]]]:
    """All that is asked, by name."""
    return [
        ("silent, offline, and names stay names", partial(check_quiet, browser, page)),
        ("ids are unique", partial(check_ids, browser)),
        *(
            (f"{width} pixels wide", partial(check_width, browser, page, width, pictures / f"{width}.png"))
            for width in (1200, PHONE, 320)
        ),
        ("legible on a telephone", partial(check_legible, browser, page)),
        ("a point speaks to the mouse", partial(check_tip, browser, page, False)),
        ("a point speaks to a finger", partial(check_tip, browser, page, True)),
        ("accessible, light and dark", partial(check_accessible, browser, page, axe)),
        ("whole rows and figures on paper", partial(check_on_paper, browser, page, pictures)),
        ("the picture of docs/bounds.md", partial(keep_portrait, browser, page, pictures / "bounds.png")),
        ("a method is brought out", partial(check_highlight, browser, page)),
        ("the table is sorted", partial(check_sorting, browser, page)),
        ("the policy forbids the network", partial(check_policy, browser, page)),
    ]


def main() -> int:
    """Run everything; the exit status is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=Path, help="where to keep pictures of the page")
    parser.add_argument("--axe", type=Path, help="another axe.min.js than that of axe-core-python")
    arguments = parser.parse_args()
    axe = axe_core(arguments.axe)
    with tempfile.TemporaryDirectory() as scratch:
        pictures = arguments.screenshots or Path(scratch)
        pictures.mkdir(parents=True, exist_ok=True)
        page = Path(scratch, "report.html")
        page.write_text(small_report(), "utf-8")
        with Chromium(Path(scratch, "profile")) as browser:
            passed, failed = count(checks(browser, page.as_uri(), pictures, axe))
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
