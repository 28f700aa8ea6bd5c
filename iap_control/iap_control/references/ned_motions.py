# SPDX-License-Identifier: BSD-3-Clause
"""Motions in NED, as in the original simulator: circles, ramps of attitude, figures of eight."""

from typing import Literal

import numpy as np

from iap_control.references.jet import Jet, polyline
from iap_control.references.rows import from_ned, rows_of
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Count, Positive, Real, RpyDegrees, Vec3


def _lap(phase: Jet, amplitude: Vec3, altitude: float) -> tuple[Jet, Jet, Jet]:
    """Position on an ellipse at a phase [rad], in NED [m]."""
    s, c = phase.sin(), phase.cos()
    a_x, a_y, a_z = amplitude
    return a_x * s, a_y * (c - 1.0), a_z * s - altitude


class Circle(Record):
    """Circle or ellipse with swaying height and attitude, in NED as in the original simulator.

    x = A_x sin, y = A_y (cos - 1), z = A_z sin - altitude; roll 0, pitch = A_pitch sin, yaw = A_yaw (cos - 1).
    """

    type: Literal["circle"]
    duration: Positive  # [s]
    period: Positive  # [s]
    altitude: Positive  # [m]
    amplitude: Vec3  # A_x, A_y, A_z [m]
    pitch_amplitude: Real  # [rad]
    yaw_amplitude: Real  # [rad]

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.period)
        return from_ned(rows_of(*self.signals(phase)))

    def signals(self, phase: Jet) -> tuple[tuple[Jet, Jet, Jet], tuple[Jet, Jet, Jet]]:
        """Position and Euler angles in NED/FRD at a phase [rad]."""
        s, c = phase.sin(), phase.cos()
        angles = (0.0 * s, self.pitch_amplitude * s, self.yaw_amplitude * (c - 1.0))
        return _lap(phase, self.amplitude, self.altitude), angles


class Ramps(Record):
    """Abrupt attitude ramps, then a circle, then both at once, after iap_simulator VI-B; NED."""

    type: Literal["ramps"]
    rate: Positive  # of the ramps [rad/s]
    ramp: Positive  # length of a ramp [s]
    pause: Positive  # held between ramps [s]
    period: Positive  # of the circle [s]
    ease: Positive  # over which the circle starts and stops [s]
    altitude: Positive  # [m]
    amplitude: Vec3  # of the circle [m]

    @property
    def duration(self) -> float:
        """Length [s]: two ramps of one axis each, a circle, a circle with ramps."""
        return 2.0 * self._ramps + 2.0 * self._circle

    @property
    def _ramps(self) -> float:
        return 2.0 * (self.ramp + self.pause)

    @property
    def _circle(self) -> float:
        return self.period + self.ease

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        first, second = 2.0 * self._ramps, 2.0 * self._ramps + self._circle
        roll = self._ramp(t, 0.0) + self._ramp(t, second)
        pitch = self._ramp(t, self._ramps) + self._ramp(t, second)
        phase = self._turn(t, first) + self._turn(t, second)
        position = _lap(phase, self.amplitude, self.altitude)
        return from_ned(rows_of(position, (roll, pitch, 0.0 * phase.sin())))

    def _ramp(self, t: Array, start: float) -> Jet:
        times = start + np.cumsum([0.0, self.ramp, self.pause, self.ramp])
        top = self.rate * self.ramp
        return polyline(t, times, np.array([0.0, top, top, 0.0]))

    def _turn(self, t: Array, start: float) -> Jet:
        """Phase of one turn: constant speed but for a smooth start and stop of `ease` seconds each."""
        time = Jet.time(t) - start
        speed = 2.0 * np.pi / self.period
        up, down = ((time - shift).smooth_ramp(self.ease) for shift in (0.0, self.period))
        return speed * (up - down)


class FigureEight(Record):
    """Helical figure-eight with ramping attitude, the flight of iap_simulator VI-G; NED."""

    type: Literal["figure_eight"]
    half_lap: Positive  # [s]
    laps: Count
    altitude: Positive  # [m]
    amplitude: Vec3  # [m]
    ramp_deg: RpyDegrees  # roll, pitch, yaw reached after half of a half lap

    @property
    def duration(self) -> float:
        """Length [s]."""
        return 2.0 * self.half_lap * self.laps

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.half_lap)
        side = np.where(np.floor(t / self.half_lap) % 2 == 0, 1.0, -1.0)
        mirror = Jet(side, np.zeros_like(side), np.zeros_like(side))
        x, y, z = _lap(phase, self.amplitude, self.altitude)
        quarter = 0.5 * self.half_lap
        corners = np.arange(max(0.0, t.min() // quarter - 1.0), t.max() // quarter + 3.0)
        ramps = np.array([0.0, 1.0, 0.0, -1.0])[corners.astype(np.intp) % 4]
        zigzag = polyline(t, corners * quarter, ramps)
        angles = [float(np.deg2rad(a)) * zigzag for a in self.ramp_deg]
        return from_ned(rows_of((x, mirror * y, z), angles))
