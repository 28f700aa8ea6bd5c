# SPDX-License-Identifier: BSD-3-Clause
"""The script on what is measured of a pair."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from iap_control.docking.guidance import empty_memory, script_command
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import PairParameters
from iap_description.arrays import Array
from iap_description.states import Q
from iap_physics.measured.wrench_sensor import to_world
from iap_simulation.docking.ports import port_frames
from iap_simulation.scenario.docking_spec import DockingSpec
from iap_simulation.scenario.scenario import Scenario

TOUCH = 0.5  # force from which on a vehicle is touched [N]


class Sensed(NamedTuple):
    """What a pilot knows at a control instant.

    Attributes:
        rows: (2, 13) measured state rows of target and chaser.
        wrenches_P: (2, 6) contact and latch on each over the last period, about its CoM, in its axes [N, N m].
        latched: whether the latch holds the probe.
    """

    rows: Array
    wrenches_P: Array
    latched: bool

    @property
    def wrench_W(self) -> Array:
        """(6,) on the chaser, along the world's axes."""
        out = np.zeros(6)
        to_world(self.wrenches_P[1], self.rows[1, Q], out)
        return out


class ScriptPilot:
    """Flies target and chaser by the script.

    Args:
        spec: of the docking.
        pair: what is known of the vehicles.

    Attributes:
        pair: as given.
    """

    def __init__(self, spec: DockingSpec, pair: PairParameters) -> None:
        self._script = ScriptParameters(**spec.script.model_dump())
        self.pair = pair
        self._out = np.zeros((2, 4))
        self._memory = empty_memory()

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The script of a scenario that docks."""
        assert scenario.docking is not None
        latch = scenario.latches[scenario.docking.latch]
        probe, socket = port_frames(scenario, latch)
        target = next(v for v in scenario.vehicles if v.name == latch.socket.split("/")[0])
        mass = target.platform.aircraft.mass
        return cls(
            scenario.docking,
            PairParameters(probe, socket, mass, scenario.world.gravity, scenario.dt),
        )

    @property
    def info(self) -> Mapping[str, Any]:
        """What flies."""
        return {"name": "script"}

    def __call__(self, k: int, sensed: Sensed) -> Array:  # noqa: ARG002 - it acts at every instant
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; the next call overwrites them."""
        target, chaser = sensed.rows
        touches = bool((np.linalg.norm(sensed.wrenches_P[:, :3], axis=1) > TOUCH).any())
        latched = sensed.latched
        script_command(
            target, chaser, touches, latched, self._script, self.pair, self._memory, self._out
        )
        return self._out
