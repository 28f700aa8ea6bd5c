# SPDX-License-Identifier: BSD-3-Clause
"""Lidar and depth by rays: aerial_gym III-D, with the rays of a physics engine."""

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.sensors.readings import CloudReading, Source
from iap_sensors.lidar_spec import LidarSpec
from iap_sensors.ray_caster import RayCaster

Array = NDArray[np.float64]


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
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
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
        ranges += spec.noise * self._rng.standard_normal(len(ranges))
        kept = (share < 1.0) & (self._rng.random(len(ranges)) >= spec.dropout)
        points = (ranges[:, None] * self._beams_S)[kept]
        return CloudReading(self.source, t, points.astype(np.float32), self._rings[kept])


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
