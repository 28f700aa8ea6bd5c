# SPDX-License-Identifier: BSD-3-Clause
"""Lidars on the aircraft of a vehicle, with the rays of a physics engine."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import CloudReading, SensorSource
from iap_description.sensors.sensor_info import LidarInfo
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster
from iap_sensors.rays.lidar_spec import PRESETS, LidarSpec
from iap_sensors.rays.patterns import beams


class Lidar:
    """One lidar; its frame S is FLU, azimuth 0 is along x and grows to the left.

    Args:
        source: its topic and frame.
        spec: what it is.
        rng: its own generator.
    """

    def __init__(self, source: SensorSource, spec: LidarSpec, rng: np.random.Generator) -> None:
        self.source, self._spec = source, spec
        self._beams_S, self._rings = beams(spec)
        self._rng = rng

    def measure(self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster) -> CloudReading:
        """One turn, all of it at time `t` [s].

        Args:
            t: its time [s].
            p_WS_W: (3,) the sensor's place [m].
            q_WS: (4,) its attitude, xyzw.
            rays: of the world with its vehicles.
        """
        spec = self._spec
        beams_W = so3.rotate(q_WS, self._beams_S)
        near, far = spec.range_min, spec.range_max
        share = rays.ray_cast(p_WS_W + near * beams_W, p_WS_W + far * beams_W)
        ranges = near + share * (far - near)
        deviations = spec.noise + spec.noise_share * ranges
        ranges += deviations * self._rng.standard_normal(len(ranges))
        if spec.resolution > 0.0:
            ranges = np.round(ranges / spec.resolution) * spec.resolution
        kept = (share < 1.0) & (self._rng.random(len(ranges)) >= spec.dropout)
        kept &= (near <= ranges) & (ranges <= far)  # noise may lead out of what is measured
        points = (ranges[:, None] * self._beams_S)[kept]
        return CloudReading(self.source, t, points.astype(np.float32), self._rings[kept])


class Lidars(MountedSensors):
    """The lidars of one vehicle, one on each aircraft."""

    KEY, SPEC, PRESETS = "lidar", LidarSpec, PRESETS

    @property
    def needs_rays(self) -> bool:
        """True if samples are taken along rays."""
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
