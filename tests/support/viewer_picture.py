# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the viewer in README and docs, by Chromium.

``./iap python tests/support/viewer_picture.py run RUN TIME OUT.png`` shows a recorded run,
``./iap python tests/support/viewer_picture.py flight OUT.png`` a flight that is led by hand.
"""

import sys
from pathlib import Path

from browser import browser
from shown_flight import playing, shown_flight

from iap_bringup.viewing.run_viewer import RunViewer
from iap_bringup.viewing.source import RunSource

SIZE = {"width": 1100, "height": 700}
SETTLING = 6000  # until the page has drawn what it was sent [ms]
LED_FROM, BLOWN_FROM, SEEN_AT = 9.0, 13.0, 16.0  # of the flight [s]


def opened(new_page, address):
    """A page of an address without the notice that there is no graphics card."""
    page = new_page()
    page.page.set_viewport_size(SIZE)
    page.open(address)
    page.pause(SETTLING)
    page.page.click(".mantine-Notification-closeButton")
    return page


def run(folder, t, out):
    """Show a run at a time [s] in a page, and write what the page shows."""
    sources = [RunSource.of_folder(Path(folder))]
    with playing(lambda server: RunViewer(server, sources)) as (viewer, _, address):
        with browser(scale=1.0) as new_page:
            page = opened(new_page, address)
            viewer.playback.is_paused = True
            page.page.click("text=Curves")
            viewer.playback.seek(float(t))
            page.pause(SETTLING)
            page.page.screenshot(path=out)


def flight(out):
    """Fly a spiral whose reference is led upwards, in wind, and write what its page shows."""
    with shown_flight("three_star_spiral") as (live, address), browser(scale=1.0) as new_page:
        page = opened(new_page, address)

        def wait_until(t):
            while live.steps()[0].t < t:
                page.pause(100)

        wait_until(LED_FROM)
        page.page.get_by_role("button", name="Take the reference").click()
        for _ in range(12):
            page.page.keyboard.press("r")
            page.pause(80)
        wait_until(BLOWN_FROM)
        live.blow(6.0, 45.0)
        wait_until(SEEN_AT)
        page.page.screenshot(path=out)


if __name__ == "__main__":
    {"run": run, "flight": flight}[sys.argv[1]](*sys.argv[2:])
