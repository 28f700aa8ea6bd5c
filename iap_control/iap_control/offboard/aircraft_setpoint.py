# SPDX-License-Identifier: BSD-3-Clause
"""Set-points of one aircraft in the terms that all autopilots share, and the protocol of a kind of autopilots."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from iap_description.arrays import Array, Quat, Vec
from iap_description.errors import BadInput
from iap_description.math.kernels import rotate, yaw_of
from iap_description.states import (
    REF_A,
    REF_P,
    REF_Q,
    REF_V,
    REF_W,
    Command,
    Level,
    Mode,
)

MODES = (Mode.ATTITUDE_THRUST, Mode.RATE_THRUST)
UPRIGHT: Quat = (0.0, 0.0, 0.0, 1.0)
NOT_CONTROLLED: Vec = (math.nan, math.nan, math.nan)


class AircraftSetpoint(NamedTuple):
    """Attitude and thrust, or rates and thrust, of one aircraft.

    Attributes:
        has_attitude: whether the attitude counts, with the rate as its feed-forward; else the rate counts.
        q_WB: attitude of its axes forward, left, up in `map` (ENU), xyzw.
        w_WB_B: body rate [rad/s, forward, left, up].
        share: of the largest thrust, along its z axis, 0 to 1.
    """

    has_attitude: bool
    q_WB: Quat
    w_WB_B: Vec
    share: float

    @classmethod
    def of(cls, command: Command, number: int, thrust_max: float) -> "AircraftSetpoint":
        """The set-point of an aircraft in a platform's command.

        Args:
            command: of the platform.
            number: of the aircraft, from 0.
            thrust_max: thrust that a share of 1 stands for [N]; more is cut to it, less than 0 to 0.

        Raises:
            BadInput: the command has no attitudes or rates of aircraft, or one that is no finite number.
        """
        if command.mode not in MODES:
            raise BadInput(
                f"mode {command.mode:d} ({command.mode.name}) has no attitude or rate of an aircraft, which autopilots"
                " take (one rigid aircraft commands attitudes with law: attitude)"
            )
        x, y, z, w = command.q_WB[number].tolist()
        p, q, r = command.w_WB_B[number].tolist()
        thrust, has_attitude = float(command.thrust[number]), command.mode == Mode.ATTITUDE_THRUST
        attitude = (x, y, z, w) if has_attitude else ()
        if not all(map(math.isfinite, (thrust, p, q, r, *attitude))):
            raise BadInput(
                f"thrust, rate or attitude of aircraft {number + 1} is no finite number"
            )
        share = min(max(thrust / thrust_max, 0.0), 1.0)
        return cls(has_attitude, (x, y, z, w), (p, q, r), share)

    @property
    def mode(self) -> Mode:
        """The mode of the command that it stands for."""
        return Mode.ATTITUDE_THRUST if self.has_attitude else Mode.RATE_THRUST

    def put(self, command: Command, number: int, thrust_max: float) -> None:
        """Write it into a platform's command of its mode, as `of` reads it; the mode itself stays."""
        command.thrust[number] = self.share * thrust_max
        command.q_WB[number], command.w_WB_B[number] = self.q_WB, self.w_WB_B


class MotionSetpoint(NamedTuple):
    """A point of a trajectory of one aircraft in `map` (ENU); NaN where something is not to be controlled.

    Attributes:
        p_W: position [m].
        v_W: velocity [m/s].
        a_W: acceleration [m/s^2].
        yaw: about z, from east to north [rad].
        yaw_rate: about z [rad/s].
    """

    p_W: Vec
    v_W: Vec
    a_W: Vec
    yaw: float
    yaw_rate: float

    @classmethod
    def of(cls, row: Array, level: Level) -> "MotionSetpoint":
        """The point of a platform's reference row (19+), as far as its level says that it is tracked.

        Raises:
            BadInput: the reference is a wrench, or a number of it that is tracked is not finite.
        """
        if level == Level.WRENCH:
            raise BadInput("level 3 (WRENCH) has no motion, which autopilots take")
        has_pose, has_velocity = level == Level.POSE, level <= Level.VELOCITY
        yaw_rate = rotate(tuple(row[REF_Q].tolist()), tuple(row[REF_W].tolist()))[2]
        tracked = [REF_A] + [REF_P] * has_pose + [REF_V] * has_velocity
        headings = [yaw_of(row[REF_Q])] * has_pose + [yaw_rate] * has_velocity
        if not all(map(math.isfinite, [*np.concatenate([row[k] for k in tracked]), *headings])):
            raise BadInput("the reference has a number that is not finite")
        (px, py, pz), (vx, vy, vz), (ax, ay, az) = (row[k].tolist() for k in (REF_P, REF_V, REF_A))
        return cls(
            (px, py, pz) if has_pose else NOT_CONTROLLED,
            (vx, vy, vz) if has_velocity else NOT_CONTROLLED,
            (ax, ay, az),
            yaw_of(row[REF_Q]) if has_pose else math.nan,
            yaw_rate if has_velocity else math.nan,
        )


class Outlet(NamedTuple):
    """A message and the topic that it goes to, relative to the aircraft's namespace."""

    topic: str
    message: Any


class SetpointMessages(Protocol):
    """Messages of set-points of one kind of autopilot, made once and filled for every command.

    Attributes:
        outlets: all that may be published.
    """

    outlets: Sequence[Outlet]

    def fill(self, setpoint: AircraftSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill messages with a set-point of a stamp [ns] by the clock of ROS; returns those to publish, in order."""
        ...

    def fill_motion(self, motion: MotionSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill messages with a point of a trajectory, likewise."""
        ...


Classes = Callable[
    [str], type
]  # class of a message type such as `px4_msgs/msg/OffboardControlMode`
