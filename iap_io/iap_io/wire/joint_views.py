# SPDX-License-Identifier: BSD-3-Clause
"""Messages of an arm's joints, as standard tools take them, as arrays like those of `iap_io.wire.message_views`."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_io.wire.cdr import MessageLayout, message
from iap_io.wire.message import Message
from iap_io.wire.stamps import SECOND

MOST_POINTS = 10_000  # of a trajectory


class JointStateMessage(Message):
    """JointState of named joints.

    Attributes:
        position: (n,) coordinates [rad], [m].
        velocity: (n,) velocities.
        effort: (n,) of the motors [N m], [N].
    """

    TYPE = "sensor_msgs/msg/JointState"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.position: Array = self.view("position")
        self.velocity: Array = self.view("velocity")
        self.effort: Array = self.view("effort")

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """The message of joints by their names."""
        n = len(names)
        values = {key: np.zeros(n) for key in ("position", "velocity", "effort")}
        return cls._of("", name=list(names), **values)


class JointCommandMessage(Message):
    """JointTrajectory of one point, which counts at once and until the next message.

    Attributes:
        target: fields ``positions``, ``velocities`` and ``effort``, (n,) each.
    """

    TYPE = "trajectory_msgs/msg/JointTrajectory"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.target = self.view("points")[0]

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """The message of joints by their names."""
        n = len(names)
        parts = {key: np.zeros(n) for key in ("positions", "velocities", "effort")}
        point = message("trajectory_msgs/msg/JointTrajectoryPoint", **parts)
        return cls._of("", joint_names=list(names), points=[point])

    def put_target(self, stamp: int, target: Array) -> None:
        """Set the stamp [ns], and coordinates, velocities and torques (3, n)."""
        self.put_head(stamp, 0)
        for key, values in zip(("positions", "velocities", "effort"), target, strict=True):
            self.target[key] = values


class Trajectory(NamedTuple):
    """A trajectory of joints as anybody may send it.

    Attributes:
        stamp: from which its times count [ns]; 0 is when it comes.
        t: (M,) times of its points [s].
        q: (M, n) coordinates [rad], [m].
        v: (M, n) velocities; zero where none are given.
        torque: (M, n) on top of the servos' [N m], [N]; zero where none are given.
    """

    stamp: int
    t: Array
    q: Array
    v: Array
    torque: Array


def trajectory_of(content: Any, names: Sequence[str]) -> Trajectory:  # noqa: ANN401 - a decoded message
    """The trajectory in a decoded JointTrajectory, in the order of the arm's joints.

    Raises:
        BadInput: of other joints, of no point, or a number is none that can be meant.
    """
    if sorted(content.joint_names) != sorted(names):
        named = ", ".join(content.joint_names)[:80] or "none"
        raise BadInput(f"joint_names: {named}; the arm's are {', '.join(names)}")
    if not 0 < len(content.points) <= MOST_POINTS:
        raise BadInput(f"points: 1 to {MOST_POINTS} are taken, there are {len(content.points)}")
    order = [list(content.joint_names).index(name) for name in names]
    t = np.array(
        [p.time_from_start.sec + p.time_from_start.nanosec / SECOND for p in content.points]
    )
    if (np.diff(t) <= 0.0).any() or t[0] < 0.0:
        raise BadInput("points: their time_from_start must increase")
    parts = [
        _numbers(content.points, key, order, needed=key == "positions")
        for key in ("positions", "velocities", "effort")
    ]
    stamp = content.header.stamp
    return Trajectory(stamp.sec * SECOND + stamp.nanosec, t, *parts)


def _numbers(points: Sequence[Any], key: str, order: list[int], *, needed: bool) -> Array:
    out = np.zeros((len(points), len(order)))
    for i, point in enumerate(points):
        values = np.asarray(getattr(point, key), dtype=float)
        if not values.size and not needed:
            continue
        if values.shape != (len(order),):
            raise BadInput(f"points[{i}].{key}: of {values.size} joints, the arm has {len(order)}")
        out[i] = values[order]
    if not np.isfinite(out).all():
        raise BadInput(f"points: a number of {key} is not finite")
    return out
