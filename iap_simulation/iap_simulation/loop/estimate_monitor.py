# SPDX-License-Identifier: BSD-3-Clause
"""The watch on the estimate of a vehicle that flies on it: its fail-safe, and how a flight ended that lost it."""

from collections import deque
from typing import NoReturn

import numpy as np

from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe
from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.signals import Reference
from iap_description.states import P, V
from iap_estimation.navigation.navigator import Navigator
from iap_io.runs.run_meta import LOST
from iap_physics.session.flight_monitor import CRASHED

LOOK_EVERY = 20  # control steps between two looks at the estimator's health
LAST_STEPS = 20  # control steps before a touch, of which the highest speed counts
HARDEST = 1.0  # touch that is a landing [m/s]


class Touchdown:
    """Watches the true speed of a vehicle, by which its touch is judged."""

    def __init__(self) -> None:
        self._speeds: deque[float] = deque(maxlen=LAST_STEPS)

    def note(self, x: Array) -> None:
        """Note the state row (13,) of its central body."""
        self._speeds.append(float(np.linalg.norm(x[V])))

    @property
    def speed(self) -> float:
        """The highest of late [m/s]."""
        return max(self._speeds, default=0.0)

    @property
    def outcome(self) -> str:
        """Outcome of a flight whose vehicle lost its estimate, and now touches something."""
        return LOST if self.speed < HARDEST else CRASHED


class EstimateWatch:
    """Watches the estimator of one vehicle, and gives the reference in place of the flight's once it is lost.

    Args:
        name: of the vehicle.
        navigator: estimates its state.
        spec: when an estimate counts as lost, and what then.
    """

    def __init__(self, name: str, navigator: Navigator, spec: Failsafe) -> None:
        self._name, self._navigator = name, navigator
        self._failsafe, self._touchdown = EstimateFailsafe(spec), Touchdown()
        self._steps, self._place_W = 0, np.zeros(3)

    def reference(self, t: float, estimate: Array, true: Array, given: Reference) -> Reference:
        """What is to be tracked at a time [s].

        Args:
            t: simulation time [s].
            estimate: (bodies, 13) what the vehicle believes of its state.
            true: (bodies, 13) the state, to tell afterwards how it went.
            given: what the flight asks for.
        """
        self._touchdown.note(true[0])
        if self._steps % LOOK_EVERY == 0 and self._failsafe.judge(t, self._navigator.health(t)):
            self._place_W = true[0, P].copy()
        self._steps += 1
        return self._failsafe.reference(t, estimate[0], given)

    @property
    def is_landing(self) -> bool:
        """Whether it is on its way down, so that it may touch the ground."""
        return self._failsafe.is_landing

    def touch(self, t: float, true: Array) -> NoReturn:
        """End the flight that has come down.

        Raises:
            FlightFailed: always; it has crashed if it touched too hard.
        """
        off = float(np.linalg.norm((true[0, P] - self._place_W)[:2]))
        how = f"came down at {self._touchdown.speed:.2f} m/s, {off:.2f} m from there"
        raise FlightFailed(self._touchdown.outcome, t, f"{self._sentence}; {how}")

    def end(self, t: float) -> None:
        """Refuse to call a flight complete that lost its estimate.

        Raises:
            FlightFailed: it did.
        """
        if self._failsafe.reason:
            raise FlightFailed(LOST, t, self._sentence)

    @property
    def _sentence(self) -> str:
        return f"{self._name}: {self._failsafe.text}"
