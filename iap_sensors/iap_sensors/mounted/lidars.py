# SPDX-License-Identifier: BSD-3-Clause
"""Lidars of one vehicle."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import CloudReading
from iap_description.sensors.sensor_info import LidarInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.lidar import PRESETS, Lidar, LidarSpec
from iap_sensors.mounted.mounted_sensors import MountedSensors, Tree
from iap_sensors.ray_caster import RayCaster

Array = NDArray[np.float64]


class Lidars(MountedSensors):
    """The lidars of one vehicle, one on each aircraft."""

    KEY, SPEC, needs_rays = "lidar", LidarSpec, True

    def __init__(
        self, spec: LidarSpec, assembly: Assembly, *, seed: int, control_hz: float
    ) -> None:
        self._spec = spec
        super().__init__(spec, assembly, seed=seed, control_hz=control_hz)

    @classmethod
    def preset(cls, name: str) -> Tree:
        """The plain tree of a preset."""
        return PRESETS.tree(name)

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a lidar on each mount."""
        self._lidars = [Lidar(mount.source, self._spec, rng) for mount, rng in mounts]

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[CloudReading]:
        """One turn of each lidar."""
        assert rays is not None  # noqa: S101 - lidars need them
        rows = zip(self._lidars, p_WS_W, q_WS, strict=True)
        return [lidar.measure(t, p, q, rays) for lidar, p, q in rows]

    def info(self, fields: dict[str, Any]) -> LidarInfo:
        """The description of one lidar."""
        return LidarInfo(**fields, points=self._spec.channels * self._spec.columns)
