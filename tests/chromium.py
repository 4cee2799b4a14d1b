"""Chromium without a window, driven over its DevTools protocol: what a page looks like, asks for and complains about."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--force-device-scale-factor=1", "--remote-debugging-port=0", "about:blank",
)  # fmt: skip
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 300
"""Seconds: a browser on a machine that is busy with other work takes minutes for what usually takes a second."""


def program() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own, gone with its profile when done with."""
    found = program()
    assert found is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [found, f"--user-data-dir={profile}", *FLAGS], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield Browser(_port(Path(profile), process))
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        file = profile / "DevToolsActivePort"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return int(lines[0])
        assert process.poll() is None, "chromium went away while starting"
        time.sleep(0.05)
    raise TimeoutError("chromium did not start")


class Browser:
    def __init__(self, port: int) -> None:
        self.port = port

    @contextmanager
    def tab(self, *, width: int = 1600, height: int = 1000, dark: bool = False) -> Iterator[Tab]:
        import urllib.request

        from websockets.sync.client import connect

        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        with connect(address, max_size=None, proxy=None) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Log", "Network"):
                tab.call(f"{domain}.enable")
            tab.resize(width, height)
            scheme = "dark" if dark else "light"
            tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            yield tab
            tab.call("Page.close")


class Tab:
    """One page, with everything that it asked for and complained about since it was opened."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._calls = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = False

    def open(self, address: str) -> None:
        self._loaded = False
        self.call("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while not self._loaded:
            assert time.monotonic() < until, f"{address} did not load"
            self._hear(self._socket.recv(timeout=PATIENCE))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        number = self._calls
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = self._hear(self._socket.recv(timeout=PATIENCE))
            if said.get("id") == number:
                assert "error" not in said, (method, said)
                return dict(said["result"])

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait_for(self, script: str) -> None:
        """Wait until an expression is true, whatever it says of a page that is still on its way."""
        until = time.monotonic() + PATIENCE
        while not self.run(f"(() => {{ try {{ return {script} }} catch {{ return false }} }})()"):
            assert time.monotonic() < until, f"never became true: {script}"
            time.sleep(0.05)

    def press(self, key: str, *, ctrl: bool = False) -> None:
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40}
        codes |= {"+": 187, "-": 189, "0": 48}
        text = {"Enter": "\r", " ": " ", "+": "+", "-": "-", "0": "0"}.get(key, "")
        known = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 2 if ctrl else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **known)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def drag(self, points: list[tuple[float, float]]) -> None:
        """Hold the mouse at the first point of the view, and let go at the last."""
        (x, y), *rest = points
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for x, y in rest:
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int) -> None:
        phone = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def picture(self, selector: str | None = None) -> bytes:
        """A PNG of the view, or of one element wherever on the page it is."""
        if selector is None:
            return base64.b64decode(self.call("Page.captureScreenshot")["data"])
        box = self.run(
            f"(() => {{ const b = [...document.querySelectorAll({json.dumps(selector)})].find(e => e.checkVisibility())"
            ".getBoundingClientRect(); return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height}; })()"
        )
        shot = self.call("Page.captureScreenshot", clip={**box, "scale": 1}, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def _hear(self, text: str | bytes) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(text)
        method, params = said.get("method"), said.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        return said
