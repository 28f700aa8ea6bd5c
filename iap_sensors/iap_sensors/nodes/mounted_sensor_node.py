# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of the kinds that each aircraft carries, between states and readings."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import Reading
from iap_sensors.mounted.sensor_suite import RigRays, SensorSuite
from iap_sensors.nodes.sensor_base import StateSensorNode

Array = NDArray[np.float64]


class MountedSensorNode(StateSensorNode):
    """Samples some kinds of sensors of all vehicles.

    Args:
        name: of the node.
        namespace: of the node.
        given: see `SuiteNode`.
        depth: see `StateSensorNode`.
        serves: whether a kind, by its key under ``sensors``, is this node's.
    """

    def __init__(
        self,
        name: str,
        namespace: str,
        given: Mapping[str, Any] | None,
        *,
        depth: int,
        serves: Callable[[str], bool],
    ) -> None:
        super().__init__(name, namespace, given, depth=depth)
        self._rays = RigRays(self.rig)
        self._kinds = [
            (i, kind)
            for i, vehicle in enumerate(SensorSuite(self.rig).vehicles)
            for key, kind in vehicle.mounted.items()
            if serves(key)
        ]
        kinds = [kind for _, kind in self._kinds]
        self.advertise(
            [info for kind in kinds for info in kind.infos],
            notes=[note for kind in kinds for note in kind.notes],
        )
        self.start_sampling([kind.sampling.every for kind in kinds])

    def sample(
        self, number: int, k: int, t: float, x: list[Array], objects: Array
    ) -> list[Reading]:
        """The readings of one vehicle's sensors of one kind."""
        vehicle, kind = self._kinds[number]
        rays = self._rays.at(np.vstack(x), objects) if kind.needs_rays else None
        k -= k % kind.sampling.every  # a state after one that was left out stands in for it
        return list(kind.sample(k, t, x[vehicle], rays))

    def restart(self) -> None:
        """Start noise anew."""
        for _, kind in self._kinds:
            kind.reset(self.rig.seed)
