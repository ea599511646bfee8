"""Headless Chromium, driven through its DevTools pipe: pages to open, scripts to run in them, what they complain of."""

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless",
    "--no-sandbox",  # CI runs as root in a container of its own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2",  # as with a mouse
    "--remote-debugging-pipe",
)

PATIENCE = 30.0
"""Seconds for the browser to answer; it takes under one unless the machine is overloaded."""


class Chromium:
    """One browser with one page, in a profile of its own; a context manager.

    Attributes
    ----------
    complaints : list of str
        Console messages, uncaught exceptions and failed loads, since the start or `forget`.
    requests : list of (str, str)
        Method and address of everything the page asked for, since the start or `forget`.
    """

    def __init__(self, profile: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = f"exec chromium {' '.join(FLAGS)} --user-data-dir='{profile}' about:blank 3<&{to_read} 4>&{to_write}"
        with open(os.devnull, "wb") as quiet:
            self._process = subprocess.Popen(
                ["bash", "-c", command], pass_fds=(to_read, to_write), stdout=quiet, stderr=quiet
            )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one DevTools command and return its answer; RuntimeError for a refusal or no answer in time."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression, awaited where it is a promise."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']['exception'].get('description')}")
        return found["result"].get("value")

    def open(self, address: str, ready: str) -> None:
        """Go to a page and wait until a JavaScript expression is true there."""
        self.call("Page.navigate", url=address)
        self.wait_for(ready)

    def wait_for(self, ready: str) -> None:
        """Wait until a JavaScript expression is true in the page."""
        deadline = time.monotonic() + PATIENCE
        while not self.run(f"document.readyState === 'complete' && Boolean({ready})"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the page must become ready within {PATIENCE:g} s: {ready}; {self.complaints}")
            time.sleep(0.02)

    def resize(self, width: int, height: int, *, phone: bool, scale: float) -> None:
        """Show the page in a window of that many CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    def screenshot(self, path: Path) -> None:
        """Write the whole page, beyond the window too, as a PNG."""
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(made["data"]))

    def choose_file(self, selector: str, path: Path) -> None:
        """Give a file to a file input, as a person would through its dialogue."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def forget(self) -> None:
        """Empty the lists of complaints and requests."""
        self.complaints, self.requests = [], []

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            chunk = os.read(self._read, 2**16) if ready else b""
            if not chunk:
                raise RuntimeError(f"Chromium must answer within {PATIENCE:g} s, got nothing")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        said = event.get("params", {})
        if event.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {[part.get('value') for part in said['args']]}")
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {said['exceptionDetails']}")
        if event.get("method") == "Log.entryAdded":
            self.complaints.append(f"log: {said['entry']['text']} {said['entry'].get('url', '')}")
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append((said["request"]["method"], said["request"]["url"]))
