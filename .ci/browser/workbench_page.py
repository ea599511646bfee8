"""A reader's way through the workbench by keyboard alone: `python workbench_page.py [--screenshots FOLDER]`."""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "javascript" / "tests"))

from axe_core import axe_core, serious
from checks import count
from chromium import Chromium
from optldp.mechanisms import load_table, verify

READY = "document.querySelector('[role=status]')?.textContent === 'Up to date'"
FIRST = "document.querySelector('#structure[aria-label] canvas, #structure [aria-label] canvas')"
VALUES = "document.querySelector('#histogram[aria-label] svg, #histogram [aria-label] svg')"
FOCUSED = "(() => {const e = document.activeElement; return e.ariaLabel || e.closest('[aria-label]')?.ariaLabel || e.textContent})()"  # noqa: E501
KEYS = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowUp": 38}
MOST_TABS = 60
"""Presses of Tab after which something is not to be found."""

COLUMN = "\n".join(["secretcolumn", *(f"{1234 + 7 * i}" for i in range(60))])


def require(fits: bool, what: object) -> None:
    """Raise AssertionError unless it is so."""
    if not fits:
        raise AssertionError(what)


def press(browser: Chromium, key: str) -> None:
    """Press a key, as on a keyboard."""
    told = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
    browser.call("Input.dispatchKeyEvent", type="keyDown", **told, **({"text": "\r"} if key == "Enter" else {}))
    browser.call("Input.dispatchKeyEvent", type="keyUp", **told)


def tab_to(browser: Chromium, name: str) -> None:
    """Press Tab until what has that name is focused."""
    seen = []
    for _ in range(MOST_TABS):
        press(browser, "Tab")
        seen.append(browser.run(FOCUSED) or "")
        if seen[-1].startswith(name):
            return
    raise AssertionError(f"no way by Tab to {name!r}: {seen}")


def typed(browser: Chromium, text: str) -> None:
    """Replace a field's text and press Enter."""
    browser.run("document.activeElement.select()")
    browser.call("Input.insertText", text=text)
    press(browser, "Enter")


class Served:
    """A workbench that runs; its address, and what it said in the end."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "optldp", "workbench", "--no-open", *words]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self._process.stderr is not None
        self.said, found = "", None
        while found is None:
            line = self._process.stderr.readline()
            require(bool(line), self.said)
            self.said += line
            found = re.search(r"http\S+", line)
        self.address = found.group()

    def stop(self) -> str:
        """End it, and return all that it logged."""
        self._process.terminate()
        return self.said + self._process.communicate(timeout=20)[1]


def journey(browser: Chromium, address: str, folder: Path) -> None:
    """From the first picture to a proved table, with no epsilon typed."""
    browser.resize(1280, 900, phone=False, scale=1)
    begun = time.monotonic()
    browser.open(address, VALUES)
    print(f"   picture of the values {time.monotonic() - begun:.2f} s")
    browser.wait_for(FIRST)
    print(f"   picture of the mechanism {time.monotonic() - begun:.2f} s")
    browser.wait_for(READY)
    browser.forget()
    tab_to(browser, "bell")
    press(browser, "Enter")
    tab_to(browser, "Height at 100")
    press(browser, "ArrowUp")
    tab_to(browser, "People")
    typed(browser, "20000")
    browser.wait_for(f"{READY} && document.body.textContent.includes('20,000 simulated')")
    tab_to(browser, "Error wanted")
    typed(browser, "0.3")
    browser.wait_for(f"{READY} && /standard error of the mean is 0\\.(3|29)/.test(document.body.textContent)")
    tab_to(browser, "Epsilon, the privacy budget")
    slid = time.monotonic()
    before = browser.run("document.querySelector('.says').textContent")
    press(browser, "ArrowRight")
    browser.wait_for(f"document.querySelector('.says').textContent !== {before!r}")
    print(f"   slider to picture {1000 * (time.monotonic() - slid):.0f} ms")
    tab_to(browser, "Value of a person")
    typed(browser, "20")
    tab_to(browser, "Draw other people")
    browser.wait_for(READY)
    require(
        browser.run("/true mean, [\\d.]+, is inside/.test(document.body.textContent)"), "the mean is in its interval"
    )
    tab_to(browser, "Table (mech.json)")
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    press(browser, "Enter")
    table = folder / "mech.json"
    while not table.exists() and time.monotonic() - begun < 180:
        time.sleep(0.05)
    took = time.monotonic() - begun
    require(verify(load_table(table)).verdict == "proved" and took < 180, "a proved table within three minutes")
    print(f"   the whole way {took:.1f} s")
    foreign = [
        url for _, url in browser.requests if "//127.0.0.1:" not in url and not url.startswith(("data:", "blob:"))
    ]
    require(not foreign and not browser.complaints, (foreign, browser.complaints))


def other_questions(browser: Chromium, address: str) -> None:
    """A median from an address, and a distribution and categories by keyboard, are answered to the end."""
    browser.open(f"{address}&of=median", READY)
    require(browser.run("/The true median, [\\d.]+, is (in|out)side/.test(document.body.textContent)"), "a median")
    tab_to(browser, "the distribution")
    press(browser, "Enter")
    browser.wait_for(f"{READY} && document.body.textContent.includes('hold the true share')")
    tab_to(browser, "how many are in each category")
    press(browser, "Enter")
    browser.wait_for(f"{READY} && /Of 5 categories, the intervals of \\d/.test(document.body.textContent)")
    tab_to(browser, "Height at tea")


def looks(browser: Chromium, address: str, pictures: Path, axe: str) -> None:
    """No serious finding of axe-core and no sideways scroll, wide and narrow, light and dark."""
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (1280, 390):
            browser.resize(width, 900, phone=width < 600, scale=1)
            browser.open(address, READY)
            browser.screenshot(pictures / f"workbench-{scheme}-{width}.png")
            require(browser.run("document.documentElement.scrollWidth") <= width, f"fits {width} pixels")
            require(not (found := serious(browser, axe, "document")), (scheme, width, found))
    browser.open(f"{address}&of=categories", READY)
    browser.screenshot(pictures / "workbench-categories.png")
    require(not (found := serious(browser, axe, "document")), ("categories", found))


def main() -> int:
    """Run everything; the exit status is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=Path, help="where to keep pictures of the page")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pictures = arguments.screenshots or Path(scratch)
        pictures.mkdir(parents=True, exist_ok=True)
        data = Path(scratch, "people.csv")
        data.write_text(COLUMN)
        drawn = Served()
        with Chromium(Path(scratch, "profile")) as browser:

            def of_file() -> None:
                held = Served(str(data), "--column", "secretcolumn", "--range", "1000", "2000")
                browser.open(held.address, READY)
                addresses = " ".join(url for _, url in browser.requests)
                said = held.stop() + addresses
                require(not re.search(r"\b1(2[3-9]|[345]|6[0-4])\d\b", said.replace(held.address, "")), said)

            checks = {
                "by keyboard to a proved table": lambda: journey(browser, drawn.address, Path(scratch)),
                "a median, a distribution and categories": lambda: other_questions(browser, drawn.address),
                "wide and narrow, light and dark": lambda: looks(browser, drawn.address, pictures, axe_core(None)),
                "neither addresses nor the log hold a value": of_file,
            }
            _, failed = count(checks.items())
        drawn.stop()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
