# SPDX-License-Identifier: BSD-3-Clause
"""Lidars of one vehicle."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import CloudReading
from iap_description.sensors.sensor_info import LidarInfo
from iap_sensors.lidar import PRESETS, Lidar, LidarSpec
from iap_sensors.mounted.mounted_sensors import MountedSensors
from iap_sensors.ray_caster import RayCaster

Array = NDArray[np.float64]


class Lidars(MountedSensors):
    """The lidars of one vehicle, one on each aircraft."""

    KEY, SPEC, PRESETS = "lidar", LidarSpec, PRESETS

    @property
    def needs_rays(self) -> bool:
        """Whether samples are taken along rays."""
        return True

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a lidar on each mount."""
        self._lidars = [Lidar(mount.source, self.spec, rng) for mount, rng in mounts]

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[CloudReading]:
        """One turn of each lidar."""
        assert rays is not None  # noqa: S101 - lidars need them
        rows = zip(self._lidars, p_WS_W, q_WS, strict=True)
        return [lidar.measure(t, p, q, rays) for lidar, p, q in rows]

    def info(self, fields: dict[str, Any]) -> LidarInfo:
        """The description of one lidar."""
        return LidarInfo(**fields, points=self.spec.channels * self.spec.columns)
