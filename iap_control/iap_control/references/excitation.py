# SPDX-License-Identifier: BSD-3-Clause
"""Flight that excites what a rotorcraft model is identified from: steps, doublets and sweeps along each axis."""

from collections.abc import Callable
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from iap_control.references.jet import Jet, constant
from iap_control.references.rows import rows_of
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Degrees, Position, Positive

X, Y, Z, YAW = range(4)
MAX_DURATION = 3600.0  # of all repeats [s]


class Part(NamedTuple):
    """One part of the flight, which begins and ends at rest where the flight began.

    Attributes:
        duration: [s].
        axis: of `X`, `Y`, `Z`, `YAW` that moves.
        way: displacement [m] or angle [rad] at a time since the part's begin.
    """

    duration: float
    axis: int
    way: Callable[[Jet], Jet]


class Excitation(Record):
    r"""Sweeps of frequency along x, y and yaw, steps up and down, straight lines, and doublets along x, y and yaw.

    Doublets and a last step come at the end, so that the last part of the flight can judge a model of the first.

    A sweep along an axis has the acceleration's amplitude a from the lowest frequency to the highest, in a time T:

    .. math::
        x(t) = \frac{a\, w(t)}{(2 \pi f(t))^2} \sin\Big(2 \pi \int_0^t f\Big), \quad f(t) = f_0 + (f_1 - f_0) t / T,

    with a window w that comes and goes within a second. A doublet goes to one side, to the other and back.
    """

    type: Literal["excitation"]
    position: Position  # where it hovers [m]
    yaw_deg: Degrees
    hover: Positive  # at begin and end [s]
    step: Positive  # of the steps up and down [m]
    doublet: Positive  # to each side [m]
    yaw_doublet_deg: Positive  # to each side
    acceleration: Positive  # of the sweeps along x and y [m/s^2]
    yaw_acceleration: Positive  # of the sweep about z [rad/s^2]
    frequencies: tuple[Positive, Positive]  # of sweeps, lowest and highest [Hz]
    sweep: Positive  # time of one [s]
    length: Positive  # of the straight lines along x and y [m]
    speed: Positive  # on it [m/s]

    @model_validator(mode="after")
    def _is_a_flight(self) -> Self:
        low, high = self.frequencies
        if low >= high:
            raise ValueError(f"key 'frequencies': {low} is not below {high}")
        if self.duration > MAX_DURATION:
            raise ValueError(
                f"key 'sweep': the flight lasts {self.duration:.0f} s, more than {MAX_DURATION:.0f} s"
            )
        return self

    @property
    def duration(self) -> float:
        """Length [s]."""
        return 2.0 * self.hover + sum(part.duration for part in self._parts)

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        ways = [constant(t, value) for value in (*self.position, float(np.deg2rad(self.yaw_deg)))]
        begin = self.hover
        for part in self._parts:
            inside = (t >= begin) & (t < begin + part.duration)
            way = part.way(Jet.time(t[inside] - begin))
            added = Jet(*np.zeros((3, len(t))))
            for whole, piece in zip(
                (added.f, added.df, added.ddf), (way.f, way.df, way.ddf), strict=True
            ):
                whole[inside] = piece
            ways[part.axis] = ways[part.axis] + added
            begin += part.duration
        level = constant(t, 0.0)
        return rows_of(ways[:3], (level, level, ways[3]))

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        yaw = float(np.deg2rad(self.yaw_doublet_deg))
        lateral, turning = 2.0 * np.sqrt(self.doublet), 2.0 * np.sqrt(yaw)
        there = 1.875 * self.length / self.speed  # the smooth step's largest slope is 1.875
        return (
            *(self._sweep(axis, self.acceleration) for axis in (X, Y)),
            self._sweep(YAW, self.yaw_acceleration),
            *(_hill(Z, self.step, 1.0, 1.0) for _ in range(2)),
            _hill(X, self.length, there, 1.0),
            _hill(Y, self.length, there, 1.0),
            *(_doublet(axis, self.doublet, 0.6 * lateral + 0.3) for axis in (X, Y)),
            _doublet(YAW, yaw, 0.6 * turning + 0.3),
            _hill(Z, self.step, 1.0, 1.0),
        )

    def _sweep(self, axis: int, acceleration: float) -> Part:
        low, high = self.frequencies

        def way(time: Jet) -> Jet:
            share = time * (1.0 / self.sweep)
            phase = 2.0 * np.pi * (low * time + 0.5 * (high - low) * self.sweep * share * share)
            pace = 2.0 * np.pi * (low + (high - low) * share)
            window = time.smooth_step() * (1.0 - (time - (self.sweep - 1.0)).smooth_step())
            return acceleration * (window * (pace * pace).reciprocal() * phase.sin())

        return Part(self.sweep, axis, way)


def _hill(axis: int, height: float, rise: float, stay: float) -> Part:
    """Displacement there, a stay, the way back, and as long a rest."""

    def way(time: Jet) -> Jet:
        up, down = time * (1.0 / rise), (time - (rise + stay)) * (1.0 / rise)
        return height * (up.smooth_step() - down.smooth_step())

    return Part(2.0 * (rise + stay), axis, way)


def _doublet(axis: int, height: float, rise: float) -> Part:
    """Displacement to one side, to the other, and back."""

    def way(time: Jet) -> Jet:
        first, second, third = (time * (1.0 / rise) - each for each in (0.0, 1.0, 2.0))
        return height * (first.smooth_step() - 2.0 * second.smooth_step() + third.smooth_step())

    return Part(3.0 * rise + 1.0, axis, way)
