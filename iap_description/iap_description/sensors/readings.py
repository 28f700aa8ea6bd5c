# SPDX-License-Identifier: BSD-3-Clause
"""What sensors say, each reading with the simulation time of the physics step that it shows.

A reading names its sensor by a `Source`. The same readings go to recordings, to estimators in
process, and through the nodes to topics.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """A sensor as others know it.

    Attributes:
        topic: absolute name without its last part, such as ``/iap/drone_1/left``; of a sensor with
            one topic, all of it, such as ``/iap/drone_1/imu``.
        frame: TF frame of the data, such as ``iap/drone_1_imu``.
    """

    topic: str
    frame: str


@dataclass(frozen=True)
class ImuReading:
    """One sample of an inertial unit, in its frame S.

    Attributes:
        source: the unit.
        t: end of the interval that it tells of, or the instant [s].
        w_WS_S: (3,) angular velocity [rad/s].
        f_S: (3,) specific force, at rest +g upwards [m/s^2].
        q_WS: (4,) estimated attitude xyzw; None where nothing estimates it.
        gyro_bias: (3,) true bias in `w_WS_S` [rad/s]; None where it is not known.
        accel_bias: (3,) true bias in `f_S` [m/s^2].
    """

    source: Source
    t: float
    w_WS_S: Array
    f_S: Array
    q_WS: Array | None = None
    gyro_bias: Array | None = None
    accel_bias: Array | None = None


@dataclass(frozen=True)
class MagneticReading:
    """One sample of a magnetometer: (3,) field [T] in its frame."""

    source: Source
    t: float
    field_S: Array


@dataclass(frozen=True)
class RangeReading:
    """One round of ranges from a tag, an entry for each partner.

    Attributes:
        source: the tag.
        t: of the round [s].
        ids: of the anchors, and of the tags of other aircraft.
        p_W: (n, 3) the partner's position in `map` [m]; NaN for a partner that flies, whose place is not known.
        ranges: (n,) [m], NaN where not valid.
        deviations: (n,) standard deviation [m].
        valid: (n,) whether there is a range.
    """

    source: Source
    t: float
    ids: tuple[str, ...]
    p_W: Array
    ranges: Array
    deviations: Array
    valid: NDArray[np.bool_]


@dataclass(frozen=True)
class ImageReading:
    """One image.

    Attributes:
        source: the camera.
        t: of the state that it shows [s].
        encoding: ``mono8``, ``rgb8``, ``32FC1`` (depth along the view [m], NaN where nothing is seen)
            or ``16UC1`` (labels, 0 where nothing is seen).
        pixels: (h, w) or (h, w, 3), owned by the reading.
    """

    source: Source
    t: float
    encoding: str
    pixels: NDArray[np.generic]


@dataclass(frozen=True)
class CloudReading:
    """One turn of a lidar: (n, 3) points in its frame [m], and the (n,) channel of each."""

    source: Source
    t: float
    points_S: NDArray[np.float32]
    rings: NDArray[np.uint16]


Reading = ImuReading | MagneticReading | RangeReading | ImageReading | CloudReading
