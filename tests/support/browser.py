# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium that draws with Mesa, and what the viewer's pages have in it."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=gl-egl",  # Mesa, ten times as fast as Chromium's own software renderer
    "--use-gl=angle",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # [ms]


class Page:
    """A page of the viewer.

    Attributes:
        page: playwright's.
        requests: addresses that it asked for.
    """

    def __init__(self, page):
        self.page, self.requests = page, []
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(PATIENCE)

    def open(self, address):
        """Go to an address, and wait until there is something to be seen."""
        self.page.goto(address)
        self.wait(
            "window.__viserMutable && window.__viserMutable.nodePoseData['/world/bodies/iap/base_link']"
        )

    def wait(self, what):
        """Wait until an expression is true."""
        self.page.wait_for_function(f"() => {what}", timeout=PATIENCE)

    def position(self, node):
        """(3,) place of a node in its parent [m]."""
        return np.array(
            self.page.evaluate(f"window.__viserMutable.nodePoseData['{node}'].position")
        )

    def picture(self):
        """(h, w, 3) what the page shows."""
        import cv2

        return cv2.imdecode(np.frombuffer(self.page.screenshot(), np.uint8), cv2.IMREAD_COLOR)

    def pause(self, ms):
        """Let some time pass."""
        self.page.wait_for_timeout(ms)

    @property
    def strangers(self):
        """Addresses that it asked for beyond this machine."""
        near = ("file:", "data:", "blob:", "http://127.0.0.1", "ws://127.0.0.1")
        return [each for each in self.requests if not each.startswith(near)]


@contextmanager
def browser():
    """A function that makes pages."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield lambda: Page(chromium.new_page(viewport={"width": 900, "height": 600}))
        chromium.close()
