# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the viewer in docs: ``./iap python tests/support/viewer_picture.py RUN TIME OUT.png`` by Chromium."""

import sys
import threading
from pathlib import Path

from browser import browser

from iap_bringup.viewing.run_viewer import RunViewer
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import ALONE, open_server

SIZE = {"width": 1100, "height": 700}
SETTLING = 6000  # until the page has drawn what it was sent [ms]


def main(run, t, out):
    """Show a run at a time [s] in a page, and write what the page shows."""
    server, stop = open_server(port=0), threading.Event()
    viewer = RunViewer(server, [RunSource.of_folder(Path(run))])
    thread = threading.Thread(target=viewer.run, args=(stop,))
    thread.start()
    try:
        with browser() as new_page:
            page = new_page()
            page.page.set_viewport_size(SIZE)
            page.open(f"http://{ALONE}:{server.get_port()}")
            page.pause(SETTLING)
            viewer.playback.is_paused = True
            page.page.click(".mantine-Notification-closeButton")  # that there is no graphics card
            page.page.click("text=Curves")
            viewer.playback.seek(float(t))
            page.pause(SETTLING)
            page.page.screenshot(path=out)
    finally:
        stop.set()
        thread.join()
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
