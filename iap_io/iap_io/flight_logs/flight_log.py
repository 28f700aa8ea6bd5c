# SPDX-License-Identifier: BSD-3-Clause
"""A flight log of any autopilot: signals in this suite's frames, and what was assumed, repaired or left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array

MotorPlaces = tuple[tuple[int, int], ...]  # signs of x (forward) and y (left) of each motor

YEAR_2100 = 4.1e9  # since 1970 [s]; a time beyond it is none
GAP_PERIODS = 5.0  # usual periods beyond which the time between two samples is a gap

# Names of signals. Vectors of the world are ENU, those of the body FLU, quaternions xyzw.
ATTITUDE, POSITION, VELOCITY = "attitude", "position", "velocity"
RATES, GYROSCOPE, SPECIFIC_FORCE = "rates", "gyroscope", "specific force"
MOTORS, ROTOR_SPEEDS = "motors", "rotor speeds"
TORQUE, THRUST = "torque set-point", "thrust set-point"
ATTITUDE_SETPOINT, POSITION_SETPOINT = "attitude_setpoint", "position_setpoint"
VELOCITY_SETPOINT, RATES_SETPOINT = "velocity_setpoint", "rates_setpoint"
VOLTAGE, CURRENT = "voltage", "current"
ARMED, LANDED = "armed", "landed"
UNITS = {
    ATTITUDE: "xyzw", POSITION: "m", VELOCITY: "m/s", RATES: "rad/s", GYROSCOPE: "rad/s",
    SPECIFIC_FORCE: "m/s^2", MOTORS: "0..1", ROTOR_SPEEDS: "rpm", TORQUE: "-1..1", THRUST: "0..1",
    ATTITUDE_SETPOINT: "xyzw", POSITION_SETPOINT: "m", VELOCITY_SETPOINT: "m/s", RATES_SETPOINT: "rad/s", VOLTAGE: "V",
    CURRENT: "A", ARMED: "", LANDED: "",
}  # fmt: skip
SPEED_SHARE = (
    "0..1 of the speed"  # unit of motors that are commanded speeds, by which thrust is a square
)
FRONT_RIGHT, REAR_LEFT, FRONT_LEFT, REAR_RIGHT = (1, -1), (-1, 1), (1, 1), (-1, -1)
QUAD_X: MotorPlaces = (FRONT_RIGHT, REAR_LEFT, FRONT_LEFT, REAR_RIGHT)  # of PX4 and ArduPilot
MEASURED_SPEED = (
    "0..1 of the speed, measured"  # of motors whose speeds are logged in place of their commands
)
STATES = (ARMED, LANDED)  # which change a few times alone
SETPOINTS = (ATTITUDE_SETPOINT, POSITION_SETPOINT, VELOCITY_SETPOINT, RATES_SETPOINT)


def numbered(path: Path) -> tuple[Path, int | None]:
    """A file, and the number of a log in it that a path such as ``flight.bbl:2`` names; None without one."""
    name, _, number = str(path).rpartition(":")
    if number.isdecimal() and not path.exists():
        return Path(name), int(number)
    return path, None


@dataclass(frozen=True)
class Signal:
    """Samples of one quantity.

    Attributes:
        t: (K,) increasing times since the log's boot [s], K >= 2.
        values: (K, n) numbers; NaN in a set-point is what is not controlled.
        source: where the log has it.
        unit: of the values.
    """

    t: Array
    values: Array
    source: str
    unit: str

    @property
    def rate(self) -> float:
        """Usual number of samples in a second [Hz]."""
        return 1.0 / float(np.median(np.diff(self.t)))

    @property
    def largest_gap(self) -> float:
        """Longest time between two samples [s]."""
        return float(np.diff(self.t).max())

    @property
    def gaps(self) -> int:
        """Number of times between two samples that are longer than `GAP_PERIODS` usual ones."""
        return int((np.diff(self.t) * self.rate > GAP_PERIODS).sum())

    def between(self, begin: float, end: float) -> Self:
        """The samples from one time to another [s]."""
        inside = (self.t >= begin) & (self.t <= end)
        return replace(self, t=self.t[inside], values=self.values[inside])

    def at(self, t: Array) -> Array:
        """The values (T, n) at times (T,) [s], interpolated in a straight line."""
        columns = [np.interp(t, self.t, column) for column in self.values.T]
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class FlightLog:
    """Record of one flight, as an autopilot has written it.

    Attributes:
        path: of the file, with the number of a log in it as `numbered` has it.
        kind: of the file, in words.
        vehicle: firmware, hardware and vehicle, in words.
        signals: by name; each at its own times.
        rotors: number of the vehicle's rotors; 0 where the log does not say it.
        axes: of the world and the body in the file: ``ned`` for NED/FRD, ``enu`` for ENU/FLU.
        rows: number of rows that were read.
        parameters: of the firmware.
        notes: what was assumed, repaired or left out.
        missing: why a signal is not there, by its name.
        advice: what to set for the next flight.
        motor_places: signs of x and y of each motor; empty where they are in the order of the platform that flies, None
            where the log does not say it.
        resets: times at which the estimator set its velocity or its attitude anew [s]: no prediction goes across.
    """

    path: Path
    kind: str
    vehicle: str
    signals: Mapping[str, Signal]
    rotors: int = 0
    axes: str = "ned"
    rows: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
    motor_places: MotorPlaces | None = None
    resets: tuple[float, ...] = ()

    def noted(self, *notes: str) -> Self:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_signal(self, name: str, signal: Signal) -> Self:
        """The same with a signal, in place of one of its name."""
        return replace(self, signals={**self.signals, name: signal})

    def without(self, reason: str, *names: str) -> Self:
        """The same without signals, and the reason."""
        gone = {name: reason for name in names if name in self.signals}
        signals = {name: each for name, each in self.signals.items() if name not in names}
        return replace(self, signals=signals, missing={**self.missing, **gone})

    @property
    def begin(self) -> float:
        """The first time of a signal [s]."""
        return min(float(each.t[0]) for each in self.signals.values())

    @property
    def end(self) -> float:
        """The last time of a signal [s]."""
        return max(float(each.t[-1]) for each in self.signals.values())
