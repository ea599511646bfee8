"""The page in front of examples/deployment, in headless Chromium: one report, agreed to, and nothing else."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")

from chromium import Chromium
from optldp.mechanisms import duchi, make_exact, save_table
from settings import HERE, Settings, read_settings
from tokens import new_token, token_key

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not on the path"),
]

VALUE = "31507.25"
PATIENCE = 60.0  # seconds
STATUS = "document.querySelector('#status').textContent"
WATCH = """
    window.sent = [];
    const before = window.fetch;
    window.fetch = (to, how) => (how?.method === "POST" && window.sent.push(how.body), before(to, how));
"""
NO_RANDOMNESS = "crypto.getRandomValues = () => { throw new Error('none left'); };"


@contextmanager
def deployed(folder: Path, table: str = f"{HERE}/tables/income-1.json") -> Iterator[tuple[str, Settings]]:
    """The whole deployment, with SQLite, on a port of its own; its address and settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = (HERE / "settings.toml").read_text("utf-8").replace("port = 8036", f"port = {port}")
    text = text.replace('kind = "auto"', 'kind = "sqlite"').replace("tables/income-1.json", table)
    path = folder / "settings.toml"
    path.write_text(text, "utf-8")
    running = subprocess.Popen([sys.executable, HERE / "run.py", path], stdout=subprocess.DEVNULL)
    try:
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                with urlopen(f"{address}/healthz", timeout=5) as answer:
                    if answer.status == 200:
                        break
            except OSError:
                time.sleep(0.2)
        yield address, read_settings(path)
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(PATIENCE)


@contextmanager
def browser(folder: Path) -> Iterator[Chromium]:
    """A browser that remembers what pages send."""
    with Chromium(folder / "profile") as opened:
        opened.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        yield opened


def token_of(settings: Settings) -> str:
    return new_token(token_key(settings.data), settings.collection["round"])


def says(page: Chromium, words: str) -> None:
    page.wait_for(f"{STATUS}.includes({json.dumps(words)})")


def send(page: Chromium) -> None:
    """Type the value and send it, as a person does."""
    page.wait_for("!document.querySelector('#form').hidden")
    page.run("document.querySelector('#value').focus()")
    page.call("Input.insertText", text=VALUE)
    page.run("document.querySelector('#form button').click()")


def sent(page: Chromium) -> list[Any]:
    return [json.loads(body) for body in page.run("window.sent")]


def test_one_report_is_given_once_and_the_value_stays(tmp_path):
    with deployed(tmp_path) as (address, settings), browser(tmp_path) as page:
        page.open(f"{address}/#{token_of(settings)}", "document.querySelector('#status')")
        says(page, "proved private")
        send(page)
        says(page, "Your report is kept")
        (row,) = sent(page)
        assert sorted(row) == ["day", "output", "report_id", "table"]
        assert row["table"] == "t33645b8b5c0e"
        assert VALUE not in page.run("JSON.stringify(localStorage) + document.body.innerHTML")
        assert page.run("document.querySelector('#value').value") == ""
        assert all(to.startswith((address, "data:")) for _, to in page.requests)
        assert not page.complaints
        page.call("Page.reload")
        says(page, "it gives no other")
        assert not sent(page)
        page.open(f"{address}/?again#{token_of(settings)}", "document.querySelector('#status')")
        says(page, "it gives no other")  # whatever the token


def test_without_an_answer_the_very_report_is_sent_again(tmp_path):
    conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    with deployed(tmp_path) as (address, settings), browser(tmp_path) as page:
        page.open(f"{address}/#{token_of(settings)}", "document.querySelector('#status')")
        says(page, "proved private")
        page.call("Network.emulateNetworkConditions", offline=True, **conditions)
        send(page)
        says(page, "Not sent yet")
        (first,) = sent(page)
        page.call("Network.emulateNetworkConditions", offline=False, **conditions)
        page.call("Page.reload")
        says(page, "Your report is kept")
        assert sent(page) == [first]


def test_what_was_not_agreed_to_is_refused_and_nothing_sent(tmp_path):
    table = tmp_path / "twice.json"
    save_table(make_exact(duchi(np.linspace(0.0, 200_000.0, 9), 2.0)).mechanism, table)
    with deployed(tmp_path, str(table)) as (address, settings), browser(tmp_path) as page:
        page.open(f"{address}/#{token_of(settings)}", "document.querySelector('#status')")
        says(page, "Refused, nothing sent: epsilon must be at most 1, got 2")
        assert page.run("document.querySelector('#form').hidden")
        page.open(f"{address}/?no-token", "document.querySelector('#status')")
        says(page, "Open this page by the link that you were given")
        assert not sent(page)
        assert page.run("localStorage.length") == 0


def test_a_generator_that_fails_is_said_and_nothing_sent(tmp_path):
    with deployed(tmp_path) as (address, settings), browser(tmp_path) as page:
        page.open(f"{address}/#{token_of(settings)}", "document.querySelector('#status')")
        says(page, "proved private")
        page.run(NO_RANDOMNESS)
        send(page)
        says(page, "Refused, nothing sent")
        assert not sent(page)
        assert page.run("localStorage.length") == 0
        assert VALUE not in page.run("document.body.innerText + document.querySelector('#value').value")
