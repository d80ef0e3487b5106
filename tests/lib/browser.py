# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven by the DevTools protocol over a pair of pipes.

Usage: browser.py PAGE PICTURE.png [--dark] [--width N] [--part SELECTOR] [SCRIPT...]
Opens the page, runs the scripts in it, and writes a picture of its first screen, or of one part.

Owns: the browser process and its profile folder, both removed when the `with` block ends. Needs
only the standard library. Invariants: errors of the page (exceptions, console errors, requests) are
collected, never lost; a call that gets no answer within its time raises.
"""
import argparse
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
ANSWER_S = 60


def find():
    """Path of a browser, None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. Attribute errors: what went wrong in it; requests: what it has asked for."""

    def __init__(self, width=1280, height=900):
        self.errors, self.requests, self.events = [], [], []
        self._next, self._rest, self._session = 1, b"", None
        self._profile = tempfile.mkdtemp(prefix="tombolo-view-")
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        # The browser reads commands from descriptor 3 and writes answers to 4.
        def place():
            high = [os.dup(to_read), os.dup(from_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile}", f"--window-size={width},{height}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=place, start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        try:
            self._attach(width, height)
        except BaseException:
            self.close()
            raise

    def _attach(self, width, height):
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self._session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"],
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and removes its profile."""
        for descriptor in (self._to, self._from):
            try:
                os.close(descriptor)
            except OSError:
                pass
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self, until):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.errors.append("exception: " + text)
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append("console: " + str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append("log: " + params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        """One command; returns its result."""
        number, self._next = self._next, self._next + 1
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self._receive(until)
            if answer.get("id") != number:
                self._note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, path):
        """Opens a file and waits until it has loaded. Returns the seconds that took."""
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self._note(self._receive(begin + ANSWER_S))
        return time.monotonic() - begin

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key, shift=False):
        """Presses and releases a key, as "ArrowLeft" or "f"."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37,
                 "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        fields = {"key": key, "modifiers": 8 if shift else 0,
                  "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        text = {"text": key} if len(key) == 1 else {}
        if key == "Enter":
            text = {"text": "\r"}
        self.call("Input.dispatchKeyEvent", type="keyDown", **fields, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def type(self, text):
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def colours(self, scheme):
        """scheme: "dark" or "light"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width, height):
        """Sets the size of the page in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def frame(self):
        """Waits until what is due has been drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
                 "() => done(1))))")

    def picture(self, path=None, part=None):
        """A PNG as bytes, also written to `path`: of the window, or of an element and all of it."""
        self.frame()
        more = {}
        if part:
            box = self.run(f"(() => {{ const r = document.querySelector({json.dumps(part)})"
                           ".getBoundingClientRect(); return [r.x + scrollX - 12,"
                           " r.y + scrollY, r.width + 24, r.height + 12]; })()")
            clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
            more = {"captureBeyondViewport": True, "clip": clip}
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("picture")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--part")
    parser.add_argument("scripts", nargs="*")
    given = parser.parse_intermixed_args()
    if not find():
        raise SystemExit("browser: no Chromium (package chromium)")
    with Browser(given.width, given.height) as page:
        page.colours("dark" if given.dark else "light")
        page.open(given.page)
        for script in given.scripts:
            page.run(script)
        page.picture(given.picture, given.part)
        if page.errors:
            raise SystemExit("browser: " + "\n".join(page.errors))


if __name__ == "__main__":
    main()
