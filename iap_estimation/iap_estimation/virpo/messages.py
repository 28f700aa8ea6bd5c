# SPDX-License-Identifier: BSD-3-Clause
"""Measurements and estimates. Stamps in seconds; quaternions xyzw.

B is the body of an aircraft, whose origin and axes are those of its inertial unit; W is `map`.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3

CENTRE, CENTRE_NAME = -1, "center"  # in place of an aircraft's index and name


@dataclass(frozen=True, eq=False)
class ImuSample:
    """One sample of an inertial unit: the means over the interval that ends at t.

    Attributes:
        t: [s].
        w_B: (3,) angular velocity [rad/s].
        f_B: (3,) specific force [m/s^2].
    """

    t: float
    w_B: Array
    f_B: Array


@dataclass(frozen=True, eq=False)
class Tracks:
    """Tracks of a stereo pair at one time.

    Attributes:
        t: of the images [s].
        ids: (n,) of the tracks, never used twice by one front end.
        views: (n, 4) normalised coordinates without distortion, x, y in the left and x, y in the right camera;
            NaN in the right where it does not see the track.
        has_right: (n,) whether the right camera sees it.
    """

    t: float
    ids: Integers
    views: Array
    has_right: Booleans


@dataclass(frozen=True, eq=False)
class Ranges:
    """One round of ranges from an aircraft's tag to anchors; only valid ones.

    Attributes:
        t: of the round [s].
        anchors: (n,) index of each anchor, the same one every time.
        p_W: (n, 3) the anchors' places [m].
        ranges: (n,) [m].
        deviations: (n,) standard deviations [m].
    """

    t: float
    anchors: Integers
    p_W: Array
    ranges: Array
    deviations: Array


@dataclass(frozen=True, eq=False)
class Tilt:
    """Attitude, angular velocity and specific force of the central body from its autopilot.

    Attributes:
        t: [s].
        q_WB0: (4,) attitude, of which roll and pitch are used.
        w_B0: (3,) angular velocity, as measured [rad/s].
        f_B0: (3,) specific force of the inertial unit's place, as measured [m/s^2].
    """

    t: float
    q_WB0: Array
    w_B0: Array
    f_B0: Array

    @classmethod
    def by_unit(cls, t: float, q_WS: Array, w_S: Array, f_S: Array, q_BS: Array) -> Self:
        """The same by an inertial unit S, which has an attitude (4,) on the central body."""
        q_WB = so3.multiply(q_WS, so3.conjugate(q_BS))
        return cls(t, q_WB, so3.rotate(q_BS, w_S), so3.rotate(q_BS, f_S))


Measurement = ImuSample | Tracks | Ranges | Tilt


@dataclass(frozen=True, eq=False)
class SharedOdometry:
    """The odometry that an aircraft shows to the others (virpo III-A), in `map`.

    Attributes:
        t: [s].
        aircraft: index of who says it.
        p_WB_W: (3,) [m].
        q_WB: (4,).
        v_WB_W: (3,) [m/s].
        w_B: (3,) angular velocity, its bias removed [rad/s].
    """

    t: float
    aircraft: int
    p_WB_W: Array
    q_WB: Array
    v_WB_W: Array
    w_B: Array


@dataclass(frozen=True)
class LeftOut:
    """An anchor whose ranges are wrong for long, so that they do not count.

    Attributes:
        t: since when [s].
        aircraft: index of whose ranges.
        anchor: its index.
    """

    t: float
    aircraft: int
    anchor: int


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimate of one body.

    Attributes:
        t: [s].
        p_WB_W: (3,) [m].
        q_WB: (4,).
        v_WB_W: (3,) [m/s].
        gyro_bias: (3,) [rad/s].
        accel_bias: (3,) [m/s^2]; NaN for the central body.
        covariance: (15, 15) of [dp in W, dtheta in B, dv in W, dbg, dba]; NaN where it is not estimated.
        w_B: (3,) angular velocity, its bias removed [rad/s]; NaN where nobody measures it.
    """

    t: float
    p_WB_W: Array
    q_WB: Array
    v_WB_W: Array
    gyro_bias: Array
    accel_bias: Array
    covariance: Array
    w_B: Array = field(default_factory=lambda: np.full(3, np.nan))
