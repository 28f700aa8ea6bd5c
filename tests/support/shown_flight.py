# SPDX-License-Identifier: BSD-3-Clause
"""Pages of this process: of a flight that is flown in a thread, and of a viewer that plays in one."""

import threading
import time
from contextlib import contextmanager

from hang import HANG

from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.live_viewer import LiveViewer
from iap_bringup.viewing.viser_stage import ALONE, open_server
from iap_description.errors import FlightFailed
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation


@contextmanager
def shown_flight(name="figure_eight", **settings):
    """A flight, and the address of its pages; it is ended by hand."""
    flight = Flight.of(resolved(name, settings, {"duration": 600.0})[0])
    live, server, ends = LiveFlight(flight, is_paced=True), open_server(port=0), []

    def fly():
        with Simulation(flight) as simulation:
            simulation.begin(observers=[live], guidance=[live])
            live.attach(simulation)
            try:
                simulation.fly()
            except FlightFailed as failure:
                ends.append(failure.outcome)

    thread = threading.Thread(target=fly)
    with LiveViewer(server, live, may_control=True):
        thread.start()
        try:
            yield live, f"http://{ALONE}:{server.get_port()}"
        finally:
            live.reset()
            thread.join(60.0)
    assert ends == ["reset"]


@contextmanager
def playing(make):
    """A viewer that a function makes of a server, the server, and the address of its pages."""
    server, stop = open_server(port=0), threading.Event()
    viewer = make(server)
    thread = threading.Thread(target=viewer.run, args=(stop,), daemon=True)
    thread.start()
    try:
        yield viewer, server, f"http://{ALONE}:{server.get_port()}"
    finally:
        stop.set()
        server.stop()
        thread.join(5.0)  # one that shows a run of a table waits for another click


def await_page(server):
    """Wait for a page's first word of its camera: viser drops clicks that come before it."""
    end = time.monotonic() + HANG
    while not server.get_clients() and time.monotonic() < end:
        time.sleep(0.1)
    assert server.get_clients()
