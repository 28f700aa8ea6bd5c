# SPDX-License-Identifier: BSD-3-Clause
"""Ports of a scenario's latches: their frames, and whether they hold each other."""

import numpy as np

from iap_description.vehicles.latch import Latch, PortFrame
from iap_physics.latching.latches import Phase
from iap_simulation.scenario.scenario import Scenario


def is_held(phase: Phase) -> bool:
    """Whether a latch holds its probe."""
    return phase in (Phase.CAUGHT, Phase.LOCKED)


def port_frames(scenario: Scenario, latch: Latch) -> tuple[PortFrame, PortFrame]:
    """Frames of a latch's probe and socket on their vehicles as their files say."""
    platforms = {vehicle.name: vehicle.platform for vehicle in scenario.vehicles}
    (v_p, probe), (v_s, socket) = (path.split("/") for path in (latch.probe, latch.socket))
    ends = (platforms[v_p].ports[probe], platforms[v_s].ports[socket])
    return PortFrame.of(ends[0], np.zeros(3)), PortFrame.of(ends[1], np.zeros(3))
