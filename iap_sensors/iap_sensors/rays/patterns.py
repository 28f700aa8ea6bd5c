# SPDX-License-Identifier: BSD-3-Clause
"""Directions of a sensor's rays: pixels of a pinhole or a fisheye in the optical frame, beams of a lidar in its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_sensors.rays.caster import Bundle
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec


@dataclass(frozen=True, eq=False)
class Pattern:
    """The rays of one image, row after row.

    Attributes:
        shape: rows and columns of the image.
        bundle: the rays in S, the frame of the data.
        start: distance from the origin of S at which they begin [m].
        cosines: (n,) what is measured of a point over its range: of a camera, which measures along z, cos of the
            angle off its view; of a lidar 1.
        axis_S: (3,) along the cone that holds all rays.
        half: half angle of that cone [rad].
    """

    shape: tuple[int, int]
    bundle: Bundle
    start: float
    cosines: Array
    axis_S: Array
    half: float


def pattern_of(spec: DepthCameraSpec | LidarSpec) -> Pattern:
    """The pattern of a sensor."""
    return _of_lidar(spec) if isinstance(spec, LidarSpec) else _of_camera(spec)


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


def _of_camera(spec: DepthCameraSpec) -> Pattern:
    """Pixels from the upper left one on; rays begin at the camera, so that what is too near hides what is behind."""
    (fx, fy), (cx, cy) = spec.focal, spec.center
    u, v = np.meshgrid(np.arange(spec.width), np.arange(spec.height))
    x, y = ((u - cx) / fx).ravel(), ((v - cy) / fy).ravel()
    if spec.projection == "pinhole":
        ways = np.stack([x, y, np.ones_like(x)], -1)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        cosines = ways[:, 2]
    else:
        angle = np.hypot(x, y)
        ways = np.stack(
            [np.sinc(angle / np.pi) * x, np.sinc(angle / np.pi) * y, np.cos(angle)], -1
        )
        cosines = np.ones_like(angle)
    axis = np.array([0.0, 0.0, 1.0])
    return _pattern(spec.shape, ways, 0.0, spec.range_max, cosines, axis)


def _of_lidar(spec: LidarSpec) -> Pattern:
    """A row for each channel from above, a column for each azimuth from the left; rays begin at the least range."""
    columns = beams(spec)[0].reshape(spec.columns, spec.channels, 3)
    ways = np.swapaxes(columns, 0, 1)[::-1, ::-1].reshape(-1, 3)
    middle = ways.mean(axis=0)
    size = np.linalg.norm(middle)
    axis = middle / size if size > 0.1 else np.array([1.0, 0.0, 0.0])
    return _pattern(spec.shape, ways, spec.range_min, spec.range_max, np.ones(len(ways)), axis)


def _pattern(
    shape: tuple[int, int], ways: Array, start: float, far: float, cosines: Array, axis: Array
) -> Pattern:
    ends = far / cosines
    ways_S = np.ascontiguousarray(ways, dtype=np.float32)
    reach = (ends - start).astype(np.float32)
    bundle = Bundle((start * ways).astype(np.float32), ways_S, reach, float(ends.max()))
    half = float(np.arccos(np.clip((ways @ axis).min(), -1.0, 1.0)))
    return Pattern(shape, bundle, start, cosines, axis, half)
