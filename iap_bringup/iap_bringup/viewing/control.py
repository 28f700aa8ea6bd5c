# SPDX-License-Identifier: BSD-3-Clause
"""Control of what a viewer shows: pause, step, reset, seek, speed, and flying by hand."""

from typing import Protocol

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Control(Protocol):
    """What a person does to a flight that is shown.

    Attributes:
        is_paused: whether it stands still.
        speed: simulated time per wall time.
    """

    is_paused: bool
    speed: float

    def step(self) -> None:
        """Go on by one instant, and pause."""

    def reset(self) -> None:
        """Back to the start."""


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
