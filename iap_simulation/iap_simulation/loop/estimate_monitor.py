# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that fly on estimates: their states, their fail-safes, and the end of a flight that has lost one."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol

import numpy as np

from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe
from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import FlightFailed
from iap_description.signals import Reference
from iap_description.states import P, V
from iap_estimation.navigation.make import StateNavigator
from iap_io.runs.run_meta import DIVERGED, LOST
from iap_physics.plant.plant import Plant
from iap_physics.session.flight_monitor import CRASHED, FlightMonitor
from iap_simulation.vehicles.vehicle import Vehicle

LOOK_EVERY = 20  # control steps between two looks at the estimator's health
LAST_STEPS = 20  # control steps before a touch, of which the highest speed counts
HARDEST = 1.0  # touch that is a landing [m/s]


class TouchSpeed:
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


class EstimateMonitor:
    """Monitors the estimator of one vehicle, and gives the reference in place of the flight's once it is lost.

    Args:
        name: of the vehicle.
        navigator: estimates its state.
        spec: when an estimate counts as lost, and what then.
    """

    def __init__(self, name: str, navigator: StateNavigator, spec: Failsafe) -> None:
        self._name, self._navigator = name, navigator
        self._failsafe, self._touchdown = EstimateFailsafe(spec), TouchSpeed()
        self._steps, self._position_W = 0, np.zeros(3)

    def reference(self, t: float, estimate: Array, true: Array, nominal: Reference) -> Reference:
        """Reference to track at a time [s].

        Args:
            t: simulation time [s].
            estimate: (bodies, 13) of its state.
            true: (bodies, 13) the state, for the report on the flight's end.
            nominal: of the flight.
        """
        self._touchdown.note(true[0])
        if self._steps % LOOK_EVERY == 0 and self._failsafe.judge(t, self._navigator.health(t)):
            self._position_W = true[0, P].copy()
        self._steps += 1
        return self._failsafe.reference(t, estimate[0], nominal)

    @property
    def events(self) -> list[tuple[float, str]]:
        """Time at which its estimate was lost [s], and why, if it was."""
        lost = self._failsafe
        return [(lost.lost_at, f"estimate lost, {lost.reason}")] if lost.reason else []

    @property
    def is_landing(self) -> bool:
        """True if it is on its way down, so that it may touch the ground."""
        return self._failsafe.is_landing

    def touch(self, t: float, true: Array) -> NoReturn:
        """End the flight that has come down.

        Raises:
            FlightFailed: always; it has crashed if it touched too hard.
        """
        off = float(np.linalg.norm((true[0, P] - self._position_W)[:2]))
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


class StateEstimator(Protocol):
    """Estimates the state of a vehicle."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s]."""


class EstimateGuidance:
    """Guidance of vehicles that fly on estimates; a flight check and an end check besides.

    Args:
        vehicles: all of them.
        estimators: of vehicles, by their numbers.
        monitors: of those that have a fail-safe, by their numbers.
        flight_monitor: which lets vehicles land whose estimate is lost.

    Attributes:
        monitors: of vehicles that have a fail-safe, by their numbers.
    """

    def __init__(
        self,
        vehicles: Sequence[Vehicle],
        estimators: Mapping[int, StateEstimator],
        monitors: Mapping[int, EstimateMonitor],
        flight_monitor: FlightMonitor,
    ) -> None:
        self._vehicles, self._estimators = vehicles, estimators
        self.monitors, self._flight_monitor = monitors, flight_monitor

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:  # noqa: ARG002 - by time
        """Pass estimates to vehicles and their autopilots, and guide vehicles whose estimate is lost.

        Raises:
            FlightFailed: an estimate is beyond all places.
        """
        for i, estimator in self._estimators.items():
            estimate = estimator.state(plant.t)
            if np.any(np.abs(estimate) > MAX_SI_NUMBER):  # NaN is none, as before the first images
                what = f"{self._vehicles[i].name}: its estimate is beyond {MAX_SI_NUMBER:g}"
                raise FlightFailed(DIVERGED, plant.t, what)
            self._vehicles[i].estimate = estimate
            plant.set_estimate(i, estimate)
            if i in self.monitors:
                true, nominal = plant.state(i)[0], references[i]
                references[i] = self.monitors[i].reference(plant.t, estimate, true, nominal)

    def check_flight(self, plant: Plant) -> None:
        """End a flight that has failed, or that has come down because its estimate was lost.

        Raises:
            FlightFailed: it has.
        """
        flight_monitor = self._flight_monitor
        flight_monitor.landing = {i for i, each in self.monitors.items() if each.is_landing}
        flight_monitor.check_flight(plant)
        for i in flight_monitor.landed:
            self.monitors[i].touch(plant.t, plant.state(i)[0])

    def end_flight(self, t: float) -> None:
        """Refuse to call a flight complete that has lost an estimate.

        Raises:
            FlightFailed: it has.
        """
        for monitor in self.monitors.values():
            monitor.end(t)
