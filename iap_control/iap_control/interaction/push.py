# SPDX-License-Identifier: BSD-3-Clause
"""Pushes under wrench control: from a scenario's keys to a task for every control step."""

from typing import Literal

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Vec3
from iap_description.signals import AXES, ForceMode, ForceTask

Axis = Literal["x", "y", "z", "roll", "pitch", "yaw"]
CONTACT_FORCE = 0.3  # measured force from which on there is contact [N]


class Push(Record):
    """A wrench that the environment shall exert on the platform, about P's origin in P."""

    force: Vec3  # [N]
    torque: Vec3  # [N m]
    axes: tuple[Axis, ...]  # under wrench control if the mode is selective
    begin: Literal["contact", "time"]  # what switches wrench control on
    at: NonNegative  # not before this time [s]
    ramp: NonNegative  # time in which the wrench grows from nothing [s]
    hold: Positive | None  # time in contact after which it is over [s]; None goes on to the end
    lost_after: Positive | None  # time without contact after which the flight has failed [s]

    @property
    def wrench_P(self) -> Array:
        """(6,) [N, N m]."""
        return np.array([*self.force, *self.torque])


class PushPlan:
    """Turns a push into a `ForceTask` at every control step.

    Args:
        push: what is wanted.
        mode: how it is controlled.
        dt: control period [s].

    Attributes:
        task: for the present step, the same object every time.
        is_on: whether wrench control is on.
        is_over: whether it has been on and will not be again.
    """

    def __init__(self, push: Push, mode: ForceMode, *, dt: float) -> None:
        self.push = push
        self._mode = mode
        self._dt = dt
        self._wanted = push.wrench_P
        selected = pushed_axes(push)
        everything = np.ones(6, dtype=bool)
        self._axes = selected if mode == ForceMode.SELECTIVE else everything
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.is_on = self.is_over = False
        self._on_for = 0.0
        self._touched_for = 0.0
        self.task = ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), self._axes)

    def __call__(self, t: float, measured_P: Array) -> ForceTask:
        """The task at simulation time `t` [s] under a measured wrench (6,)."""
        touches = is_touching(measured_P)
        if not self.is_on and not self.is_over and t >= self.push.at:
            self.is_on = touches or self.push.begin == "time"
        task = self.task
        task.measured_P[:] = measured_P
        if self.is_on:
            self._on_for += self._dt
            self._touched_for += self._dt if touches else 0.0
            if self.push.hold is not None and self._touched_for > self.push.hold + self.push.ramp:
                self.is_on, self.is_over = False, True
        grown = min(1.0, self._on_for / self.push.ramp) if self.push.ramp > 0.0 else 1.0
        task.mode = self._mode if self.is_on else ForceMode.NONE
        np.multiply(self._wanted, grown if self.is_on else 0.0, out=task.desired_P)
        return task


def pushed_axes(push: Push) -> Booleans:
    """(6,) the axes x y z roll pitch yaw that a push names."""
    return np.array([axis in push.axes for axis in AXES])


def is_touching(wrench: Array) -> bool:
    """True if the force of a measured wrench (6,) [N, N m] is a contact: |f| > `CONTACT_FORCE`."""
    f = wrench
    return bool(f[0] * f[0] + f[1] * f[1] + f[2] * f[2] > CONTACT_FORCE * CONTACT_FORCE)
