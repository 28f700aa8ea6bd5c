# SPDX-License-Identifier: BSD-3-Clause
"""The turn of a recorded body in the platform whose motion it is to be.

Motion capture and inertial units record a body of their own axes. The platform's are forward, left, up. ``auto``
keeps a body whose z axis is within 60 deg of upwards at the start. Another one is refused in a bag, whose types
have bodies of those axes, and is mounted as at rest in a text file.

At rest, the axis of the body that points most upwards or downwards is the vertical one, the next of z, x, y
looks forward, and the tilt that is left in the first sample is the mounting's. So it is in the EuRoC MAV data
set [Burri2016], whose inertial unit has x up and z forward.

Flights of data sets are moved to where a platform can fly them: level and with zero yaw at the start, at (0, 0, 1.5) m
there, or higher where it goes down: nowhere below 0.6 m. The wait before take-off is cut.

A camera that looks ahead and down is mounted with a tilt. Its attitudes swing as accelerations ask for, about an axis
of the body that is not its z axis. That axis is what pushes: a platform that took the body's attitudes would fly with
the camera's tilt. Wind and the drag of fast flight lean a vehicle, too, by less.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.trajectories.quaternion_orders import UPRIGHT, check_standing
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.tilts import pushes, sampled

NOTED_TILT = 6.0  # tilt of which a note is made [deg]
WIND_LEAN = 18.0  # lean in a strong wind [deg]
DRAG_LEAN = 3.0  # lean for each m/s of speed [deg]
SIDE_TILT = 60.0  # tilt from which on a body lies on its side, which others ask about [deg]
START_HEIGHT = 1.5  # [m]
LOWEST_HEIGHT = 0.6  # [m]
_STARTS_AT, _MOVING = (
    0.25,
    0.2,
)  # time [s] over which the speed at the start is formed, and that of no rest [m/s]
_MIN_DISTANCE = 0.05  # [m] from the first row: the aircraft is under way
_ROWS_BEFORE = 200  # rows kept before that
_AXES = "xyz"
_FORWARD = {0: 2, 1: 2, 2: 0}  # vertical axis to the one that looks forward


MOVING = (
    "it is under way at its start, so that its first attitude is not that of rest: its mounting is taken to whole axes,"
    " --mounting ROLL,PITCH,YAW gives another, --mounting rest takes the first attitude"
)


def check_mounting(samples: Samples, stamps: Integers, mounting: str) -> Samples:
    """Note or refuse a body that is tilted against the axis along which it is pushed.

    Args:
        samples: in ENU/FLU, whose tilts fit their accelerations.
        stamps: (K,) increasing [ns].
        mounting: that the user asks for; only ``auto`` is looked at.

    Raises:
        BadInput: it is tilted by more than wind and drag explain; names the mounting that turns it level.
    """
    along = None
    if mounting == "auto" and samples.about.axes_evidence == "tilts":
        along = pushes(sampled(samples, stamps))
    if along is None:
        return samples
    x, y, z = along.axis
    tilt = float(np.degrees(np.arccos(np.clip(z, -1.0, 1.0))))
    if not NOTED_TILT < tilt < SIDE_TILT:
        return samples
    roll, pitch = np.round(np.degrees([np.arctan2(y, z), -np.arcsin(x)])) + 0.0  # no -0
    speeds = np.linalg.norm(np.diff(samples.p, axis=0), axis=1) / (1e-9 * np.diff(stamps))
    remedy = f"--mounting={roll:.0f},{pitch:.0f},0 turns it level"
    text = f"its body is tilted by {tilt:.0f} deg all along against the axis that pushes it"
    if tilt > WIND_LEAN + DRAG_LEAN * float(np.median(speeds)):
        raise BadInput(
            f"{samples.source}: {text}, as of a camera that is mounted so: {remedy}, --mounting none keeps it"
        )
    return samples.noted(f"{text}: by wind, or it is mounted so ({remedy})")


def mounted(samples: Samples, mounting: str, *, follows: bool) -> Samples:
    """The samples of the platform.

    Args:
        samples: of the recorded body, in ENU/FLU.
        mounting: see `PoseReading`.
        follows: whether a vehicle shall follow them.

    Raises:
        BadInput: a mounting that is none, or a body that starts on its side or head.
    """
    R_WS = so3.matrix_from_quaternion(samples.q)
    if mounting in ("none", "auto") and (R_WS[0, 2, 2] >= UPRIGHT or not follows):
        return samples
    if mounting == "auto" and samples.bag_ns is None:
        check_standing(samples)
        mounting = "rest"
    if mounting in ("none", "auto"):
        tilt = np.degrees(np.arccos(np.clip(R_WS[0, 2, 2], -1.0, 1.0)))
        raise BadInput(
            f"{samples.source}: the body's z axis starts {tilt:.0f} deg off upwards: --convention ned reads NED/FRD,"
            " --mounting rest takes the body's axes from its first attitude; or its quaternions are not x y z w"
        )
    if mounting == "rest":
        return turned(samples, *at_rest(R_WS[0]))
    return turned(samples, axes_by_angles(samples.source, mounting), f"{mounting} deg")


def turned(samples: Samples, R_SP: Array, words: str) -> Samples:
    """The samples of a body with other axes: R_SP maps its coordinates to those of the recorded one."""
    R_WP = so3.matrix_from_quaternion(samples.q) @ R_SP
    vectors = {name: getattr(samples, name) for name in ("w", "alpha")}
    rates: Any = {name: None if x is None else x @ R_SP for name, x in vectors.items()}
    about = replace(samples.about, mounting=words)
    return replace(samples, about=about, q=so3.quaternion_from_matrix(R_WP), **rates)


def at_rest(R_WS: Array) -> tuple[Array, str]:
    """The platform's axes in those of a body that rests in it, level and without yaw left, and what they are."""
    R_SA, words = nearest_axes(R_WS)
    R_WA = R_WS @ R_SA
    level = euler.matrix_from_rpy([0.0, 0.0, euler.rpy_from_matrix(R_WA)[2]])
    return R_WS.T @ level, words


def nearest_axes(R_WS: Array) -> tuple[Array, str]:
    """Forward, left and up as signed axes of the body (3, 3), and their names."""
    up = int(np.argmax(np.abs(R_WS[2])))
    sign = 1.0 if R_WS[2, up] > 0.0 else -1.0
    forward = _FORWARD[up]
    z, x = sign * np.eye(3)[up], np.eye(3)[forward]
    words = f"found from rest: its {_AXES[up]} axis {'up' if sign > 0.0 else 'down'}, {_AXES[forward]} forward"
    return np.column_stack([x, np.cross(z, x), z]), words


def axes_by_angles(source: str, text: str) -> Array:
    """The platform's axes in the body's, from the body's roll, pitch and yaw in the platform [deg].

    Raises:
        BadInput: the text is no three numbers.
    """
    try:
        angles = np.array([float(each) for each in text.split(",")])
    except ValueError:
        angles = np.zeros(0)
    if angles.shape != (3,) or not np.isfinite(angles).all():
        raise BadInput(
            f"{source}: --mounting {text}: auto, none, rest, or roll, pitch and yaw in degrees with commas"
        )
    return euler.matrix_from_rpy_deg(angles).T


def placed(samples: Samples, stamps: Integers, mounting: str) -> tuple[Samples, Integers]:
    """The samples of a platform's flight, from shortly before it moves.

    Args:
        samples: of an inertial unit or another body, in ENU, in the order of their stamps.
        stamps: (K,) [ns].
        mounting: ``auto`` and ``rest`` find it from the first attitude, but for its tilt where ``auto`` is under way.

    Raises:
        BadInput: the body hangs upside down at the start.
    """
    distance = np.linalg.norm(samples.p - samples.p[0], axis=1)
    begin = max(0, int(np.argmax(distance > _MIN_DISTANCE)) - _ROWS_BEFORE)
    samples, stamps = samples.at(slice(begin, None)), stamps[begin:]
    R_WI = so3.matrix_from_quaternion(samples.q)
    R_IA, words = _axes(samples, R_WI[0], mounting)
    is_moving = mounting == "auto" and _moves(samples, stamps)
    is_level = mounting == "rest" or (mounting == "auto" and not is_moving)
    p, q, lift = _shifted(samples.p, R_WI @ R_IA, is_level=is_level)
    notes = [MOVING] if is_moving else []
    if lift:
        notes.append(f"raised by {lift:.2f} m, since it goes down to {p[:, 2].min():.2f} m")
    about = replace(samples.about, mounting=words).noted(*notes)
    return replace(samples, about=about, p=p, q=q), stamps


def _moves(samples: Samples, stamps: Integers) -> bool:
    """True if a body is under way in its first rows, whose attitude is not that of its rest."""
    later = min(int(np.searchsorted(stamps, stamps[0] + _STARTS_AT * 1e9)), len(stamps) - 1)
    seconds = float(stamps[later] - stamps[0]) * 1e-9
    return float(np.linalg.norm(samples.p[later] - samples.p[0])) > _MOVING * seconds


def _shifted(p_WI_W: Array, R_WP: Array, *, is_level: bool) -> tuple[Array, Array, float]:
    """Positions and attitudes of the platform, yaw 0 in the first row, and by how much it is raised [m].

    Args:
        p_WI_W: (K, 3) [m].
        R_WP: (K, 3, 3).
        is_level: whether the tilt of the first row is the mounting's, as at rest.
    """
    yaw = euler.rpy_from_matrix(R_WP[0])[2]
    turn = so3.exp(np.array([0.0, 0.0, -yaw]))
    tilt = turn @ R_WP[0] if is_level else np.eye(3)  # no yaw is left in it
    p = (p_WI_W - p_WI_W[0]) @ turn.T + np.array([0.0, 0.0, START_HEIGHT])
    lift = max(0.0, LOWEST_HEIGHT - float(p[:, 2].min()))
    p[:, 2] += lift
    return p, so3.quaternion_from_matrix(turn @ R_WP @ tilt.T), lift


def _axes(samples: Samples, R_WI: Array, mounting: str) -> tuple[Array, str]:
    """The platform's axes (3, 3) in those of the body, and what they are.

    Raises:
        BadInput: EuRoC's way up, the body's x axis, looks down, and no mounting is asked for.
    """
    if mounting == "auto" and R_WI[2, 0] < -UPRIGHT:
        raise BadInput(
            f"{samples.source}: the IMU's x axis starts downwards; is --convention right? --mounting rest takes it so"
        )
    if mounting in ("auto", "rest"):
        return nearest_axes(R_WI)
    if mounting == "none":
        return np.eye(3), mounting
    return axes_by_angles(samples.source, mounting), f"{mounting} deg"
