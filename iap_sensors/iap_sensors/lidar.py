# SPDX-License-Identifier: BSD-3-Clause
"""Lidar and depth by rays: aerial_gym III-D, with the rays of a physics engine.

Presets are read from ``data/lidar/NAME.yaml``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.record import (
    Count,
    NonNegative,
    Positive,
    Presets,
    Real,
    Record,
    Share,
)
from iap_description.math import so3
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import CloudReading, Source
from iap_description.sensors.sensor_info import LidarInfo
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster

PRESETS = Presets(Path(__file__).parent / "data" / "lidar", "lidar")


class LidarSpec(Record):
    """A lidar, or a depth camera by rays: a grid of beams in azimuth and elevation."""

    mount: str  # of the aircraft
    rate: Positive  # turns [Hz]
    channels: Count  # beams one above the other
    columns: Count  # beams side by side
    elevation_deg: tuple[Real, Real]  # of the lowest and the highest channel
    azimuth_deg: tuple[Real, Real]  # of the first and last column; a full turn has its end once
    range_min: Positive  # [m]
    range_max: Positive  # [m]
    noise: NonNegative  # standard deviation of a range [m]
    noise_share: NonNegative = 0.0  # and of it in proportion to the range, added to the former
    resolution: NonNegative = 0.0  # of the ranges that it gives [m]; 0: any
    dropout: Share  # of the points that do not come back

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        low, high = self.elevation_deg
        if not -90.0 <= low <= high <= 90.0:
            raise ValueError(
                "key 'elevation_deg': [lowest, highest] within -90 and 90 is expected"
            )
        first, last = self.azimuth_deg
        if not 0.0 <= last - first <= 360.0:
            raise ValueError("key 'azimuth_deg': [first, last], at most 360 apart, is expected")
        if self.range_min >= self.range_max:
            raise ValueError(
                f"key 'range_min': {self.range_min} m is not below {self.range_max} m"
            )
        return self


class Lidar:
    """One lidar; its frame S is FLU, azimuth 0 is along x and grows to the left.

    Args:
        source: its topic and frame.
        spec: what it is.
        rng: its own generator.
    """

    def __init__(self, source: Source, spec: LidarSpec, rng: np.random.Generator) -> None:
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


def beams(spec: LidarSpec) -> tuple[Array, NDArray[np.uint16]]:
    """Directions (n, 3) of all beams in S, and the channel (n,) of each, column after column."""
    first, last = np.deg2rad(spec.azimuth_deg)
    is_turn = last - first > 2.0 * np.pi - 1e-9  # whose last column would be the first again
    azimuth = np.linspace(first, last, spec.columns, endpoint=not is_turn)
    low, high = np.deg2rad(spec.elevation_deg)
    elevation = np.linspace(low, high, spec.channels)
    a, e = (each.ravel() for each in np.meshgrid(azimuth, elevation, indexing="ij"))
    directions = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], -1)
    return directions, np.tile(np.arange(spec.channels, dtype=np.uint16), spec.columns)
