# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium that draws with Mesa, and what the viewer's pages have in it."""

import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest
from hang import HANG

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
PATIENCE = 1e3 * HANG  # [ms]
SLOW_FRAMES = """
    window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 200);
    window.cancelAnimationFrame = clearTimeout;
"""  # five pictures a second: Mesa would draw as many as the processors can


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
        self.wait_for_node("/world/bodies/iap/base_link")

    def wait_for_node(self, node):
        """Wait until a node has a pose."""
        self.wait(f"window.__viserMutable && window.__viserMutable.nodePoseData['{node}']")

    def reaches(self, node, is_there, seconds=HANG):
        """True if a node's position (3,) becomes what a function says within some seconds."""
        end = time.monotonic() + seconds
        while not is_there(self.position(node)) and time.monotonic() < end:
            self.pause(100)
        return bool(is_there(self.position(node)))

    def rests(self, node, seconds=HANG):
        """True if a node stands still for a second, and the picture with it, within some seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before, picture = self.position(node), self.picture()
            self.pause(1000)
            rests = (self.position(node) == before).all()
            if rests and (self.picture() == picture).all():
                return True
        return False

    def wait(self, what):
        """Wait until an expression is true."""
        self.page.wait_for_function(f"() => {what}", timeout=PATIENCE)

    def position(self, node):
        """(3,) place of a node in its parent [m]."""
        return np.array(
            self.page.evaluate(f"window.__viserMutable.nodePoseData['{node}'].position")
        )

    def screen(self, point):
        """(2,) pixels of a point (3,) of the scene [m], z up."""
        return np.array(
            self.page.evaluate(
                """([x, y, z]) => {
                    const { camera, canvas, nodePoseData } = window.__viserMutable;
                    const q = camera.quaternion.clone();
                    const [w, a, b, c] = nodePoseData[""].wxyz;
                    const p = camera.position.clone().set(x, y, z).applyQuaternion(q.set(a, b, c, w));
                    const area = canvas.getBoundingClientRect();
                    p.project(camera);
                    return [area.left + 0.5 * (1 + p.x) * area.width, area.top + 0.5 * (1 - p.y) * area.height];
                }""",
                [float(each) for each in point],
            )
        )

    def drag(self, first, last):
        """Drag with the mouse from a place to another, (2,) pixels each."""
        mouse = self.page.mouse
        mouse.move(*first)
        self.pause(150)
        mouse.down()
        for share in (0.25, 0.5, 0.75, 1.0):
            mouse.move(*(first + share * (np.asarray(last) - first)))
            self.pause(60)
        mouse.up()

    def moves(self, node):
        """True if a node moves, and the picture with it."""
        before, picture = self.position(node), self.picture()
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            self.pause(200)
            moved = np.linalg.norm(self.position(node) - before) > 1e-3
            if moved and (self.picture() != picture).any():
                return True
        return False

    def draws(self, seconds=HANG):
        """True if there is something to be seen within some seconds."""
        end = time.monotonic() + seconds
        while self.picture().std() < 1.0 and time.monotonic() < end:
            self.pause(200)
        return self.picture().std() > 1.0

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
def browser(scale=0.5):
    """A function that makes pages, whose pictures have so many pixels for one of the page."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        size = {"width": 800, "height": 500}
        context = chromium.new_context(viewport=size, device_scale_factor=scale)
        context.add_init_script(SLOW_FRAMES)
        yield lambda: Page(context.new_page())
        chromium.close()
