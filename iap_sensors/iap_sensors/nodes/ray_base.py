# SPDX-License-Identifier: BSD-3-Clause
"""What uwb_node and lidar_node share: sensors of each vehicle, and rays in a world that follows the states."""

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import Reading
from iap_description.vehicles.assembly import Assembly
from iap_physics.bystander import Bystander
from iap_sensors.nodes.sensor_base import LookingNode

Array = NDArray[np.float64]


class RayNode(LookingNode):
    """A node whose sensors look along rays."""

    def begin(self, kinds: list, *, need_rays: bool) -> None:
        """Begin with the sensors of each vehicle.

        Args:
            kinds: of each vehicle `UwbTags` or `Lidars`, or None.
            need_rays: whether any of them looks along rays at all.
        """
        self._kinds = [(i, kind) for i, kind in enumerate(kinds) if kind is not None]
        self.show([meta for _, kind in self._kinds for meta in kind.metas])
        self._rays = self._bystander() if need_rays else None
        self._placed = -1  # stamp of the state that rays are cast in [ns]
        control = self.scenario.rates.control_hz
        self._every = [round(control / kind.metas[0].rate) for _, kind in self._kinds]
        self.look(self._every)

    def _bystander(self) -> Bystander:
        bystander = Bystander()
        vehicles = self.scenario.vehicles
        bystander.load(self.scenario.world, [Assembly.of(v.platform, v.name) for v in vehicles])
        return bystander

    def sense(
        self, number: int, k: int, t: float, x: list[Array], objects: Array
    ) -> list[Reading]:
        """The round of one vehicle's sensors."""
        if self._rays is not None and self._placed != self.stamp:
            self._rays.follow(np.vstack(x), objects)
            self._placed = self.stamp
        vehicle, kind = self._kinds[number]
        k -= k % self._every[number]  # a state after one that was left out stands in for it
        return kind.look(k, t, x[vehicle], self._rays)

    def restart(self) -> None:
        """Noise starts anew."""
        self._placed = -1
        for _, kind in self._kinds:
            kind.reset(self.scenario.seed)

    def close(self) -> None:
        """End the world of rays."""
        if self._rays is not None:
            self._rays.close()
