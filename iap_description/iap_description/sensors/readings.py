# SPDX-License-Identifier: BSD-3-Clause
"""Readings of sensors, each with the simulation time of the physics step that it shows, and ideal inertial samples.

A reading names its sensor by a `SensorSource`. The same readings go to recordings, to estimators in
process, and through the nodes to topics. Units add their errors to the ideal samples, which the plant takes.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.geodesy import Geodetic


@dataclass(frozen=True)
class SensorSource:
    """A sensor as others know it.

    Attributes:
        topic: absolute name without its last part, such as ``/iap/drone_1/left``; of a sensor with
            one topic, all of it, such as ``/iap/drone_1/imu``.
        frame: TF frame of the data, such as ``iap/drone_1_imu``.
    """

    topic: str
    frame: str


@dataclass(frozen=True)
class Reading:
    """A measurement of a sensor.

    Attributes:
        source: the sensor.
        t: the instant that is measured, or the end of the measured interval [s].
    """

    source: SensorSource
    t: float

    @property
    def stamp(self) -> int:
        """The same time as a stamp [ns]."""
        return round(self.t * 1e9)


@dataclass(frozen=True)
class ScalarReading(Reading):
    """One number, in the unit of its sensor."""

    value: float


@dataclass(frozen=True)
class ImuReading(Reading):
    """One sample of an inertial unit, in its frame S.

    Attributes:
        w_WS_S: (3,) angular velocity [rad/s].
        f_S: (3,) specific force, at rest +g upwards [m/s^2].
        q_WS: (4,) estimated attitude xyzw; None where nothing estimates it.
        gyro_bias: (3,) true bias in `w_WS_S` [rad/s]; None where it is not known.
        accel_bias: (3,) true bias in `f_S` [m/s^2].
    """

    w_WS_S: Array
    f_S: Array
    q_WS: Array | None = None
    gyro_bias: Array | None = None
    accel_bias: Array | None = None


@dataclass(frozen=True)
class MagneticReading(Reading):
    """One sample of a magnetometer: (3,) field [T] in its frame."""

    field_S: Array


@dataclass(frozen=True)
class PoseReading(Reading):
    """Pose of a body's markers S as a motion capture measures it, in `map`.

    Attributes:
        p_WS_W: (3,) place [m].
        q_WS: (4,) attitude xyzw.
    """

    p_WS_W: Array
    q_WS: Array


@dataclass(frozen=True)
class FixReading(Reading):
    """Place of an antenna on the ellipsoid WGS 84."""

    place: Geodetic


@dataclass(frozen=True)
class RangeReading(Reading):
    """One round of ranges from a tag, an entry for each partner.

    Attributes:
        ids: of the anchors, and of the tags of other aircraft.
        p_W: (n, 3) the partner's position in `map` [m]; NaN for a partner that flies, whose place is not known.
        ranges: (n,) [m], NaN where not valid.
        deviations: (n,) standard deviation [m].
        valid: (n,) whether there is a range.
    """

    ids: tuple[str, ...]
    p_W: Array
    ranges: Array
    deviations: Array
    valid: Booleans


@dataclass(frozen=True)
class ImageReading(Reading):
    """One image.

    Attributes:
        encoding: ``mono8``, ``rgb8``, ``32FC1`` (depth along the view [m], infinite where nothing is seen)
            or ``16UC1`` (labels, 0 where nothing is seen).
        pixels: (h, w) or (h, w, 3), owned by the reading.
    """

    encoding: str
    pixels: NDArray[np.generic]


@dataclass(frozen=True)
class CloudReading(Reading):
    """One turn of a lidar: (n, 3) points in its frame [m], and the (n,) channel of each."""

    points_S: NDArray[np.float32]
    rings: NDArray[np.uint16]


Sampling = Literal["integrating", "instantaneous"]


class InertialMounts(NamedTuple):
    """The mounts of M units.

    Attributes:
        rows: (M,) state row of each unit's body.
        p_BS_B: (M, 3) place on the body [m].
        q_BS: (M, 4) attitude there, xyzw.
    """

    rows: Integers
    p_BS_B: Array
    q_BS: Array


class InertialSamples(NamedTuple):
    """S samples of M units.

    Attributes:
        ticks: (S,) physics steps from the start to each sample's stamp.
        w_WS_S: (S, M, 3) angular velocity [rad/s].
        f_S: (S, M, 3) specific force [m/s^2].
    """

    ticks: Integers
    w_WS_S: Array
    f_S: Array
