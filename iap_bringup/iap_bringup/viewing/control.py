# SPDX-License-Identifier: BSD-3-Clause
"""Control of what a viewer shows: pause, step, reset, seek, speed, flying by hand, wind and faults."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from iap_description.arrays import Array

KEY_TIME = 0.3  # a key counts for so long [s]
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FASTEST = 0.0  # stands for a speed without a limit


class TimeControl(Protocol):
    """Control of time by the person who watches.

    Attributes:
        is_paused: whether it stands still.
        speed: simulated time per wall time; `FASTEST` is as fast as it can.
        speeds: that a person may choose; none where the pace is not the viewer's.
    """

    is_paused: bool
    speed: float
    speeds: Sequence[float]

    def step(self) -> None:
        """Go on by one instant, and pause."""


@runtime_checkable
class Control(TimeControl, Protocol):
    """Control of a flight's time by the person who watches."""

    def reset(self) -> None:
        """Back to the start."""


class ReferenceHand(Protocol):
    """A person's hand on the references of vehicles, which are named by their numbers."""

    def hindrance(self, vehicle: int) -> str:
        """Why a vehicle cannot be led by hand now, and what helps; empty where it can."""

    def drag(self, vehicle: int, pose: Array) -> None:
        """Let a vehicle's reference go to a pose (7,), within limits, in place of its own."""

    def fly(self, vehicle: int, twist: Array) -> None:
        """Fly for `KEY_TIME` with a twist (4,): velocity along the heading [m/s] and yaw rate [rad/s]."""

    def release(self) -> None:
        """Lead no vehicle any longer."""


class Disturber(Protocol):
    """Wind and faults by hand; vehicles count from 0, aircraft and rotors from 1."""

    def blow(self, speed: float, direction_deg: float) -> None:
        """Let a steady wind blow [m/s], towards a direction [deg]."""

    def break_rotor(self, vehicle: int, aircraft: int, rotor: int) -> None:
        """Let a rotor give no thrust from now on."""

    def stop_motors(self, vehicle: int, aircraft: int) -> None:
        """Let all motors of an aircraft stop."""


class Playback:
    """Time in a recorded flight; its end is followed by its start.

    Args:
        span: first and last time [s].
        period: between two instants [s].

    Attributes:
        t: present time [s].
        is_paused: whether it stands still.
        speed: simulated time per wall time.
    """

    speeds: Sequence[float] = SPEEDS

    def __init__(self, span: tuple[float, float], period: float) -> None:
        self._first, self._last = span
        self._period = period
        self.t, self.is_paused, self.speed = self._first, False, 1.0

    def step(self) -> None:
        """Go on by one instant, and pause."""
        self.is_paused = True
        self.seek(self.t + self._period)

    def reset(self) -> None:
        """Back to the start."""
        self.seek(self._first)

    def seek(self, t: float) -> None:
        """Go to a time within the flight [s]."""
        self.t = min(max(t, self._first), self._last)

    def pass_time(self, dt: float) -> None:
        """Let wall time pass [s]."""
        if self.is_paused:
            return
        if self.t >= self._last:
            self.reset()
        else:
            self.seek(self.t + dt * self.speed)
