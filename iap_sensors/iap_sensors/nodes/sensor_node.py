# SPDX-License-Identifier: BSD-3-Clause
"""Samples the sensors that each aircraft carries: those of all kinds without a node of their own."""

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from iap_description.sensors.readings import Reading
from iap_io.ros.process import program
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.sensor_suite import RigRays, SensorSuite
from iap_sensors.nodes.sensor_base import StateSensorNode

KINDS_WITH_NODES = ("uwb", "lidar", "depth_camera")  # kinds that have them


class MountedSensorNode(StateSensorNode):
    """The sensors of some kinds of all vehicles, between states and readings.

    Attributes:
        NAME: of the node.
        KEYS: of its kinds under ``sensors``; none: of all kinds but those in `KINDS_WITH_NODES`.
        DEPTH: see `StateSensorNode`.
    """

    NAME: ClassVar[str] = "sensor_node"
    KEYS: ClassVar[tuple[str, ...]] = ()
    DEPTH: ClassVar[int] = 400  # so that no sample is left out

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.NAME, namespace, parameters, depth=self.DEPTH)
        self._rays = RigRays(self.rig)
        self._kinds = [
            (vehicle.rows, kind)
            for vehicle in SensorSuite(self.rig).vehicles
            for key, kind in vehicle.mounted.items()
            if (key in self.KEYS if self.KEYS else key not in KINDS_WITH_NODES)
        ]
        kinds = [kind for _, kind in self._kinds]
        self.advertise(
            [info for kind in kinds for info in kind.infos],
            notes=[note for kind in kinds for note in kind.notes],
        )
        self.start_sampling([kind.every for kind in kinds])

    def sample(self, number: int, k: int, t: float, state: RigState) -> list[Reading]:
        """The readings of one vehicle's sensors of one kind."""
        rows, kind = self._kinds[number]
        rays = self._rays.at(state) if kind.needs_rays else None
        k -= k % kind.every  # a state after one that was left out stands in for it
        return list(kind.sample(k, t, state.rows[rows], rays))

    def restart(self) -> None:
        """Start noise anew."""
        for _, kind in self._kinds:
            kind.reset(self.rig.seed)


main = program("sensor_node", MountedSensorNode)

if __name__ == "__main__":
    sys.exit(main())
