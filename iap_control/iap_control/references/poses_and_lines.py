# SPDX-License-Identifier: BSD-3-Clause
"""Motions in ENU: poses, spirals, lemniscates and straight lines; each is a record whose fields are its YAML keys."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_control.references.jet import Jet, constant
from iap_control.references.rows import rows_of
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import (
    Degrees,
    Length,
    Position,
    Positive,
    Real,
    RpyDegrees,
    Vec3,
)


class Hover(Record):
    """Stay at a pose."""

    type: Literal["hover"]
    duration: Positive  # [s]
    position: Position  # [m]
    rpy_deg: RpyDegrees

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        pose = [constant(t, value) for value in (*self.position, *np.deg2rad(self.rpy_deg))]
        return rows_of(pose[:3], pose[3:])


class Spiral(Record):
    """Spiral inwards to a fixed point while climbing and swaying, like the flight of iap_simulator VI-A."""

    type: Literal["spiral"]
    duration: Positive  # [s]
    arrival: Positive  # when the fixed point is reached [s]
    center: Vec3  # where the spiral ends, at its starting height [m]
    radius: Length  # at the start [m]
    climb: Real  # [m]
    period: Positive  # of one turn [s]
    sway_deg: RpyDegrees  # amplitude of roll, pitch, yaw
    sway_periods: tuple[Positive, Positive, Positive]  # [s]

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        time = Jet.time(t)
        inwards = (time * (1.0 / self.arrival)).smooth_step()
        left = 1.0 - inwards
        angle = time * (2.0 * np.pi / self.period)
        x, y, z = self.center
        position = (
            x + self.radius * (left * angle.cos()),
            y + self.radius * (left * angle.sin()),
            z + self.climb * inwards,
        )
        fade = 1.0 - ((time + (4.0 - self.arrival)) * 0.25).smooth_step()  # over the last 4 s
        angles = [
            float(np.deg2rad(a)) * (fade * (time * (2.0 * np.pi / p)).sin())
            for a, p in zip(self.sway_deg, self.sway_periods, strict=True)
        ]
        return rows_of(position, angles)


class Lemniscate(Record):
    r"""Bernoulli's lemniscate at a constant rate of its parameter and a constant attitude.

    .. math::
        x = A \frac{\cos s}{1 + \sin^2 s}, \qquad y = A \frac{\sin s \cos s}{1 + \sin^2 s}, \qquad s = 2 \pi t / T.

    Printed, beatle has r^2 = sqrt(cos 2 theta), which is not real on half of the way.
    """

    type: Literal["lemniscate"]
    duration: Positive  # [s]
    period: Positive  # T [s]
    amplitude: Positive  # A [m]
    center: Vec3  # [m]
    yaw_deg: Degrees

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.period)
        s, c = phase.sin(), phase.cos()
        reach = self.amplitude * c * (s * s + 1.0).reciprocal()
        x, y, z = self.center
        level = constant(t, 0.0)
        yaw = constant(t, float(np.deg2rad(self.yaw_deg)))
        return rows_of((reach + x, reach * s + y, level + z), (level, level, yaw))


class Line(Record):
    """From one pose to another along a straight line, starting and ending at rest."""

    type: Literal["line"]
    duration: Positive  # [s]
    start: Vec3  # [m]
    end: Vec3  # [m]
    yaw_deg: Degrees

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        s = (Jet.time(t) * (1.0 / self.duration)).smooth_step()
        position = [a + (b - a) * s for a, b in zip(self.start, self.end, strict=True)]
        yaw = constant(t, float(np.deg2rad(self.yaw_deg)))
        return rows_of(position, (0.0 * s, 0.0 * s, yaw))


class Move(Record):
    """A straight way from wherever the platform is, at constant speed but for its ends."""

    seconds: Positive
    by: Vec3  # [m]
    turn_deg: RpyDegrees  # added to roll, pitch, yaw


class Moves(Record):
    """One straight move after the other from a pose; a move by nothing is a pause."""

    type: Literal["moves"]
    position: Position  # [m] at the start
    rpy_deg: RpyDegrees
    ease: Positive  # time to pick up or lose speed [s]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _have_time(self) -> Self:
        for i, move in enumerate(self.moves):
            if move.seconds < 2.0 * self.ease:
                raise ValueError(
                    f"key 'moves.{i}.seconds': {move.seconds} is less than twice ease"
                )
        return self

    @property
    def duration(self) -> float:
        """Length [s]."""
        return sum(move.seconds for move in self.moves)

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        pose = [constant(t, v) for v in (*self.position, *np.deg2rad(self.rpy_deg))]
        time, begin = Jet.time(t), 0.0
        for move in self.moves:
            cruise = move.seconds - self.ease
            up, down = ((time - at).smooth_ramp(self.ease) for at in (begin, begin + cruise))
            gone = up - down
            steps = (*move.by, *np.deg2rad(move.turn_deg))
            pose = [p + (step / cruise) * gone for p, step in zip(pose, steps, strict=True)]
            begin += move.seconds
        return rows_of(pose[:3], pose[3:])
