# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of a range sensor: noise, dropouts, steps, limits, and the shadow of its second imager.

A measured distance m, of a camera the depth, has the standard deviation

.. math:: \sigma = \sigma_0 + s m + k m^2

where k m^2 is what an error of the disparity makes of a depth by stereo, z = f b / d (Intel, "Best-known methods for
tuning D400 depth cameras", eq. for the RMS error of depth).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.random_streams import uniforms
from iap_sensors.pixel_noise import BITS, STEP, mixed
from iap_sensors.rays.caster import NO_FACE, Hits, Single
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec

Keys = NDArray[np.uint64]
_UNIT = 2.0**-32


class RangeErrors(NamedTuple):
    """The errors of a sensor; k [1/m] as above.

    Attributes:
        near: least distance that is measured, with and without its noise [m].
        far: largest one [m].
        constant: sigma_0 [m].
        share: s.
        square: k [1/m].
        dropout: share of the pixels that give nothing.
        resolution: of what is measured [m]; 0: any.
    """

    near: float
    far: float
    constant: float
    share: float
    square: float
    dropout: float
    resolution: float

    @classmethod
    def of(cls, spec: DepthCameraSpec | LidarSpec) -> "RangeErrors":
        """Of a sensor."""
        limits, last = (spec.range_min, spec.range_max), (spec.dropout, spec.resolution)
        if isinstance(spec, LidarSpec):
            return cls(*limits, spec.noise, spec.noise_share, 0.0, *last)
        return cls(*limits, spec.noise, 0.0, spec.parallax_noise, *last)


def frame_keys(bases: Array, numbers: Integers) -> Keys:
    """Keys (n,) of images.

    Args:
        bases: (n,) first number, even in [-1, 1), of each sensor's own stream.
        numbers: (n,) of the images since time 0.
    """
    keys = np.empty(len(bases), np.uint64)
    _fill_keys(np.ascontiguousarray(bases).view(np.uint64), numbers, keys)
    return keys


def bases_of(seeds: Integers, topic: str) -> Array:
    """(n,) first number of the stream of one sensor in the worlds of many seeds."""
    return np.ascontiguousarray(uniforms(seeds, topic, 1)[:, 0])


@njit(cache=True)
def _fill_keys(bases: Keys, numbers: Integers, keys: Keys) -> None:
    for i in range(len(bases)):
        keys[i] = mixed(bases[i] + STEP * np.uint64(numbers[i]))


@njit(cache=True, nogil=True)
def measure(
    hits: Hits,
    hidden: Booleans,
    start: float,
    cosines: Array,
    errors: RangeErrors,
    key: np.uint64,
    table: Single,
    out: Single,
) -> None:
    """Write what a sensor measures (n,) [m], or why it does not (REP 117).

    Infinite: nothing is within its range; -infinite: something is nearer than its range; NaN: the pixel drops out, or
    the second imager does not see what the first one does.

    Args:
        hits: (n,) true ones, their distances from where rays begin [m].
        hidden: (n,) what the second imager does not see.
        start: where rays begin [m].
        cosines: (n,) see `Pattern`.
        errors: of the sensor.
        key: of the image.
        table: of normal deviates.
        out: written to.
    """
    distance, face = hits.distance, hits.face
    mask = np.uint64(2**BITS - 1)
    state = key
    for i in range(len(distance)):
        state += STEP
        m = (start + np.float64(distance[i])) * cosines[i]
        if face[i] == NO_FACE:
            out[i] = np.inf
            continue
        if hidden[i]:
            out[i] = np.nan
            continue
        if m < errors.near:
            out[i] = -np.inf
            continue
        z = mixed(state)
        if np.float64(z >> np.uint64(32)) * _UNIT < errors.dropout:
            out[i] = np.nan
            continue
        m += (errors.constant + m * (errors.share + m * errors.square)) * table[z & mask]
        if errors.resolution > 0.0:
            m = np.floor(m / errors.resolution + 0.5) * errors.resolution
        if m < errors.near:
            m = -np.inf
        out[i] = m if m <= errors.far else np.inf
