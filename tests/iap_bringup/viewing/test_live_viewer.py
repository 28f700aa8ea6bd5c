# SPDX-License-Identifier: BSD-3-Clause
"""The page of a live flight before its first instant."""

import time

from hang import HANG

from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.live_viewer import LiveViewer
from iap_bringup.viewing.viser_stage import open_server
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation


def test_a_reference_taken_before_the_first_instant_is_led_from_then_on(monkeypatch):
    flight = Flight.of(resolved("hover", {}, {"duration": 0.1, "engine": "closed_form"})[0])
    live, server = LiveFlight(flight, is_paced=False), open_server(port=0)
    monkeypatch.setattr(server, "get_clients", lambda: {0: None})  # a page is open
    with LiveViewer(server, live, may_control=True) as viewer:
        viewer._add_gizmo()  # the button
        assert viewer._gizmo is None
        with Simulation(flight) as simulation:
            simulation.begin(observers=[live], guidance=[live])
            simulation.fly()
        end = time.monotonic() + HANG
        while viewer._gizmo is None and time.monotonic() < end:
            time.sleep(0.02)
        assert viewer._gizmo is not None
        assert live._hands[0].goal is not None
