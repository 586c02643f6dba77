"""A headless Chromium, driven over a pipe by the DevTools protocol: it needs the standard library alone.

``python tests/browser.py PAGE PICTURE WIDTH HEIGHT`` saves what a window of that size shows of a page.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from select import select

EXECUTABLE = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
_TIMEOUT = 60


class Browser:
    """One page of a browser, and every event that it told of since it was opened."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        options = [
            "--headless=new",
            "--hide-scrollbars",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]
        options += [
            "--disable-background-networking",
            f"--user-data-dir={self.folder.name}",
            "--remote-debugging-pipe",
        ]
        redirect = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", redirect, EXECUTABLE, *options],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.out, self.into, self.rest = ours_out, ours_in, b""
        self.number, self.session, self.events = 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Network", "Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def call(self, method, **options):
        self.number += 1
        message = {"id": self.number, "method": method, "params": options}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self):
        limit = time.monotonic() + _TIMEOUT
        while b"\0" not in self.rest:
            ready, _, _ = select([self.into], [], [], max(0, limit - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self.into, 1 << 20)
            assert read, "the browser has gone"
            self.rest += read
        first, self.rest = self.rest.split(b"\0", 1)
        answer = json.loads(first)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def open(self, path, width, height=800):
        """Open a file in a window of a size."""
        mobile = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not self.told("Page.loadEventFired"):
            self._receive()

    def told(self, *methods):
        return [event["params"] for event in self.events if event["method"] in methods]

    def ask(self, expression):
        """Return the value of an expression of JavaScript, or of its promise."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self):
        """Return what the window shows, as PNG."""
        return b64decode(self.call("Page.captureScreenshot")["data"])


def main(page, picture, width, height):
    """Save what a window of a size shows of a page, as a small PNG."""
    from PIL import Image

    with Browser() as browser:
        browser.open(Path(page).absolute(), int(width), int(height))
        shown = Image.open(BytesIO(browser.picture()))
    shown.convert("P", palette=Image.Palette.ADAPTIVE, colors=256).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
