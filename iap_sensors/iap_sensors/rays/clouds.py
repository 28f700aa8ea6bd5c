# SPDX-License-Identifier: BSD-3-Clause
"""Clouds of a lidar's points and images of its ranges, from one to the other without a change of a bit.

A cloud has the points that came back, column after column of azimuth from the first on, and in each from the lowest
channel up. An image has a row for each channel from above, and a column for each azimuth from the left.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_description.errors import BadInput
from iap_description.sensors.readings import CloudReading
from iap_sensors.rays.caster import Single
from iap_sensors.rays.lidar_spec import LidarSpec

Rings = NDArray[np.uint16]
TURN = 2.0 * math.pi


def cloud_of(points: Single) -> tuple[Single, Rings]:
    """The cloud (n, 3) of an image of points (channels, columns, 3), NaN where none came back; and its rings."""
    channels, columns, _ = points.shape
    ordered = np.swapaxes(points[::-1, ::-1], 0, 1).reshape(-1, 3)
    rings = np.tile(np.arange(channels, dtype=np.uint16), columns)
    kept = ~np.isnan(ordered[:, 0])
    return ordered[kept], rings[kept]


def lengths(points: Single) -> Single:
    """Ranges (...) of points (..., 3) [m], NaN where there is none."""
    out = np.empty(points.shape[:-1], np.float32)
    _write_lengths(np.ascontiguousarray(points).reshape(-1, 3), out.reshape(-1))
    return out


def range_image(spec: LidarSpec, cloud: CloudReading) -> Single:
    """Ranges (channels, columns) of a cloud [m], NaN where no point came back; of points in one beam the last counts.

    Raises:
        BadInput: a point is of a channel that the lidar does not have.
    """
    there = np.isfinite(cloud.points_S).all(axis=1)
    rings, points = cloud.rings[there].astype(np.int64), cloud.points_S[there]
    if rings.max(initial=0) >= spec.channels:
        raise BadInput(
            f"{cloud.source.topic}: ring {rings.max()}, but the lidar has channels 0 to {spec.channels - 1}"
        )
    out = np.full((spec.channels, spec.columns), np.nan, np.float32)
    out[spec.channels - 1 - rings, spec.columns - 1 - _columns(spec, points)] = lengths(points)
    return out


def _columns(spec: LidarSpec, points: Single) -> Integers:
    """Numbers (n,) of the columns whose azimuths are nearest to those of points, from the first azimuth on."""
    first, last = np.deg2rad(spec.azimuth_deg)
    is_turn = last - first > TURN - 1e-9
    step = (last - first) / max(spec.columns - (0 if is_turn else 1), 1)
    azimuth = np.arctan2(points[:, 1].astype(np.float64), points[:, 0].astype(np.float64))
    half = 0.5 * (last - first)
    from_middle = (azimuth - (first + half) + math.pi) % TURN - math.pi
    if step == 0.0:
        return np.zeros(len(points), dtype=np.int64)
    found = np.rint((from_middle + half) / step).astype(np.int64)
    return found % spec.columns if is_turn else np.clip(found, 0, spec.columns - 1)


@njit(cache=True)
def _write_lengths(points: Single, out: Single) -> None:
    for i in range(len(out)):
        square = 0.0
        for k in range(3):
            square += np.float64(points[i, k]) * np.float64(points[i, k])
        out[i] = math.sqrt(square)
