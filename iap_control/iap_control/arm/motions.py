# SPDX-License-Identifier: BSD-3-Clause
"""Motions of an arm's joints, as a scenario's key ``arm.motion`` has them."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_control.references.jet import Jet
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Real
from iap_description.errors import BadInput
from iap_description.vehicles.arm import Arm

Targets = Array  # (T, 3, n) joint coordinates, velocities and accelerations


class HoldMotion(Record):
    """The joints stay at home, or go to other coordinates and stay there."""

    type: Literal["hold"]
    joints: tuple[Real, ...] | None = None  # [rad], [m]; None: home
    ease: Positive = 2.0  # time that the way there takes [s]

    def targets(self, t: Array, arm: Arm) -> Targets:
        """Coordinates, velocities and accelerations (T, 3, n) at times (T,) [s].

        Raises:
            BadInput: of another number of joints.
        """
        end = arm.home_pose if self.joints is None else _of_each(self.joints, arm, "joints")
        step = (Jet.time(t) * (1.0 / self.ease)).smooth_step()
        return _stacked([h + (e - h) * step for h, e in zip(arm.home_pose, end, strict=True)])


class SwingMotion(Record):
    """One joint swings about a middle, the others stay at home; it comes up and goes to its middle within `ease`."""

    type: Literal["swing"]
    joint: str
    middle: Real  # [rad], [m]
    amplitude: NonNegative  # [rad], [m]
    frequency: Positive  # [Hz]
    ease: Positive = 2.0  # [s]

    def targets(self, t: Array, arm: Arm) -> Targets:
        """As in `HoldMotion.targets`.

        Raises:
            BadInput: the arm has no such joint.
        """
        names = [joint.name for joint in arm.joints]
        if self.joint not in names:
            raise BadInput(
                f"key 'arm.motion.joint': no joint '{self.joint}' (joints: {', '.join(names)})"
            )
        time, home = Jet.time(t), arm.home_pose
        up = (time * (1.0 / self.ease)).smooth_step()
        wave = (time * (2.0 * np.pi * self.frequency)).sin() * self.amplitude
        parts = [0.0 * up + each for each in home]
        i = names.index(self.joint)
        parts[i] = home[i] + up * (wave + (self.middle - home[i]))
        return _stacked(parts)


class ArmWaypoint(Record):
    """Joint coordinates at a time, and their velocities there."""

    t: NonNegative  # [s] from the motion's start
    q: tuple[Real, ...]  # [rad], [m]
    v: tuple[Real, ...] | None = None  # None: at rest


class ArmWaypoints(Record):
    """From home through points in time, by polynomials of fifth degree, whose accelerations are zero at the points."""

    type: Literal["trajectory"]
    points: Annotated[tuple[ArmWaypoint, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _time_goes_on(self) -> Self:
        times = [0.0, *(point.t for point in self.points)]
        if any(b <= a for a, b in zip(times, times[1:], strict=False)):
            raise ValueError("key 'points': the times must be positive and increase")
        return self

    def targets(self, t: Array, arm: Arm) -> Targets:
        """As in `HoldMotion.targets`."""
        n = len(arm.joints)
        times = np.array([0.0, *(point.t for point in self.points)])
        q = [arm.home_pose, *(_of_each(p.q, arm, "points.q") for p in self.points)]
        v = [np.zeros(n)]
        v += [np.zeros(n) if p.v is None else _of_each(p.v, arm, "points.v") for p in self.points]
        return quintic(t, times, np.array(q), np.array(v))


class ExternalMotion(Record):
    """Motion from elsewhere: a program, or messages on ``joints/command``; home until then."""

    type: Literal["external"]

    def targets(self, t: Array, arm: Arm) -> Targets:
        """Home, as in `HoldMotion.targets`."""
        return HoldMotion(type="hold").targets(t, arm)


def quintic(t: Array, times: Array, q: Array, v: Array) -> Targets:
    """Polynomials of fifth degree (T, 3, n) through (M,) times with coordinates and velocities (M, n), at rest outside.

    Accelerations are zero at the times.
    """
    out = np.zeros((len(t), 3, q.shape[1]))
    piece = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    T = (times[piece + 1] - times[piece])[:, None]
    s = np.clip((t[:, None] - times[piece, None]) / T, 0.0, 1.0)
    inside = ((t >= times[0]) & (t <= times[-1]))[:, None]
    D = q[piece + 1] - q[piece]
    a, b = T * v[piece], T * v[piece + 1]
    c3, c4, c5 = (
        10.0 * D - 6.0 * a - 4.0 * b,
        -15.0 * D + 8.0 * a + 7.0 * b,
        6.0 * D - 3.0 * (a + b),
    )
    out[:, 0] = q[piece] + a * s + c3 * s**3 + c4 * s**4 + c5 * s**5
    rate = (a + 3.0 * c3 * s**2 + 4.0 * c4 * s**3 + 5.0 * c5 * s**4) / T
    bend = (6.0 * c3 * s + 12.0 * c4 * s**2 + 20.0 * c5 * s**3) / T**2
    out[:, 1], out[:, 2] = np.where(inside, rate, 0.0), np.where(inside, bend, 0.0)
    return out


def _of_each(values: tuple[float, ...], arm: Arm, key: str) -> Array:
    if len(values) != len(arm.joints):
        raise BadInput(
            f"key 'arm.motion.{key}': {len(arm.joints)} joints are to be given (got {len(values)})"
        )
    return np.array(values)


def _stacked(joints: list[Jet]) -> Targets:
    return np.stack([np.stack([each.f, each.df, each.ddf], -1) for each in joints], -1)
