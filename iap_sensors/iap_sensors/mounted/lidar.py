# SPDX-License-Identifier: BSD-3-Clause
"""Lidars on the aircraft of a vehicle, whose points are those of `iap_sensors.rays.images`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import CloudReading
from iap_description.sensors.sensor_info import LidarInfo
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster
from iap_sensors.rays.clouds import cloud_of
from iap_sensors.rays.images import RaySensor
from iap_sensors.rays.lidar_spec import LIDAR, PRESETS, LidarSpec
from iap_sensors.rays.noise import bases_of, frame_keys
from iap_sensors.rays.world_rays import Rays


class Lidars(MountedSensors):
    """The lidars of one vehicle, one on each aircraft; their frame S is FLU, and azimuth grows to the left from x."""

    KEY, SPEC, PRESETS = LIDAR, LidarSpec, PRESETS

    @property
    def needs_rays(self) -> bool:
        """True if samples are taken along rays."""
        return True

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make the lidar, which serves all mounts."""
        self._lidar = RaySensor(self.spec, ("points",))
        self._sources = [mount.source for mount, _ in mounts]

    def reset(self, seed: int) -> None:
        """Start all noise anew: draw the first number of each mount's errors."""
        super().reset(seed)
        one = np.array([seed])
        self._bases = np.concatenate([bases_of(one, each.topic) for each in self._sources])

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[CloudReading]:
        """One turn of each lidar, all of it at time `t` [s]."""
        assert isinstance(rays, Rays)  # noqa: S101 - lidars need them
        number = np.full(len(self._sources), round(t * self.control_hz))
        keys = frame_keys(self._bases, number)
        readings = []
        for i, source in enumerate(self._sources):
            one = slice(i, i + 1)
            points = self._lidar.images([rays], p_WS_W[one], q_WS[one], keys[one])["points"]
            readings.append(CloudReading(source, t, *cloud_of(points[0])))
        return readings

    def info(self, fields: dict[str, Any]) -> LidarInfo:
        """The description of one lidar."""
        return LidarInfo(**fields, points=self.spec.channels * self.spec.columns)
