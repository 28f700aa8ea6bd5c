# SPDX-License-Identifier: BSD-3-Clause
"""A flight of this process that is shown while it is flown: a source for pages, and a person's hand on it."""

import copy
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from iap_bringup.viewing.control import FASTEST, SPEEDS
from iap_bringup.viewing.hand import Hand, Order, hindrance_of
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_scene_notes import LiveSceneNotes
from iap_bringup.viewing.scene_notes import NO_NOTES, SceneNotes, couplings_of
from iap_bringup.viewing.source import reference_ways
from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.sensors.readings import Reading
from iap_description.signals import Reference, Step
from iap_description.states import (
    Level,
)
from iap_description.vehicles.faults import MotorFault, PlantFault, RotorFault
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta
from iap_physics.air.wind import Wind
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_faults import PlantFaults
from iap_sensors.mounted.rig_spec import RigSpec
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.simulation.simulation import Simulation

SHOW_PERIOD = (
    1.0 / 36.0
)  # wall time between two instants that are shown [s]: 30 a second beside other jobs, too
PAUSE_PERIOD = 0.05  # between two looks whether a pause is over [s]


def _copied(step: Step) -> Step:
    """A step that stays as it is, but for its command, which nobody shows."""
    row, wrench = step.reference.row.copy(), step.reference.wrench_P.copy()
    return step._replace(
        x=step.x.copy(),
        rpm=step.rpm.copy(),
        reference=Reference(row, step.reference.level, wrench),
        tilt=None if step.tilt is None else step.tilt.copy(),
        estimated=None if step.estimated is None else step.estimated.copy(),
        wrench_record=copy.deepcopy(step.wrench_record),
        arm=copy.deepcopy(step.arm),
    )


class LiveFlight:
    """Shows a flight and lets a person control it; an observer, a guidance and the pacing of its loop.

    As long as nobody touches it, the flight is the same as without it, bit for bit.

    Args:
        flight: made ready.
        is_paced: whether it keeps pace with the wall clock from the start.

    Attributes:
        speed: simulated time per wall time; `FASTEST` is as fast as it can.
        is_paused: whether it stands still.
        wants_reset: whether it shall begin again.
        check: called while it stands still; raises what ends the flight.
        control, hand, disturber: itself.
    """

    speeds: Sequence[float] = (*SPEEDS, FASTEST)

    def __init__(self, flight: Flight, *, is_paced: bool) -> None:
        self.title = flight.scenario.scenario
        self.rig: RigSpec = rig_spec(flight.scenario)
        self.meta: RunMeta = flight.meta
        self.couplings = couplings_of(flight.scenario)
        self._hindrance = hindrance_of(flight.scenario)
        self.control = self.hand = self.disturber = self
        self._dt = 1.0 / flight.scenario.rates.control_hz
        self.speed, self.is_paused = (1.0 if is_paced else FASTEST), False
        self.check: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self.begin(flight)

    def begin(self, flight: Flight) -> None:
        """Show another flight of the same scenario from its start."""
        self._flight = flight
        self.wants_reset, self._steps_left, self._is_touched = False, 0, False
        self._due, self._began = 0.0, (0, 0.0, 0.0)
        self._next: list[Step | None] = [None] * len(flight.vehicles)
        self._shown: Steps = []
        self._hands: dict[int, Hand] = {}
        self._orders: list[Order] = []
        self._scene_notes: LiveSceneNotes | None = None
        self._notes = NO_NOTES

    def attach(self, simulation: Simulation) -> None:
        """Look at what a simulation of the flight has besides its steps, once it has begun."""
        self._scene_notes = LiveSceneNotes(simulation, self._flight)

    @property
    def metrics(self) -> Mapping[str, dict[str, Any]]:
        """Key `hand` of metrics.json, of a flight that a person has touched."""
        return {} if self._scene_notes is None else self._scene_notes.metrics

    # What is shown.

    @property
    def references(self) -> list[Array]:
        """Ways (n, 3) of the vehicles' references to come [m]."""
        return reference_ways(self._flight)

    def steps(self) -> Steps:
        """The last instant of every vehicle that was taken to be shown; empty before the first."""
        with self._lock:
            return self._shown

    def notes(self) -> SceneNotes:
        """Notes of that instant, see `SceneNotes`."""
        with self._lock:
            return self._notes

    def receive(self, reading: Reading) -> None:
        """Take a reading of a sensor."""
        if self._scene_notes is not None:
            self._scene_notes.receive(reading)

    def record(self, vehicle: int, step: Step) -> None:
        """Take a control step if it is time to show one."""
        if self._scene_notes is not None:
            self._scene_notes.record(vehicle, step)
        if time.perf_counter() < self._due and not self.is_paused:
            return
        self._take(vehicle, step)

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take the last of some control steps if it is time to show one."""
        if self._scene_notes is not None:
            self._scene_notes.record_rows(vehicle, rows)
        if time.perf_counter() >= self._due or self.is_paused:
            self._take(vehicle, rows.step(len(rows.t) - 1))

    def _take(self, vehicle: int, step: Step) -> None:
        self._next[vehicle] = _copied(step)
        steps = [each for each in self._next if each is not None]
        if len(steps) == len(self._next):
            notes = NO_NOTES if self._scene_notes is None else self._scene_notes.at(steps)
            with self._lock:
                self._shown, self._notes = steps, notes
            self._next = [None] * len(self._next)
            self._due = max(self._due, time.perf_counter() - SHOW_PERIOD) + SHOW_PERIOD

    # The pace.

    def allow(self, k: int, most: int) -> int:
        """Wait while the flight is paused or ahead of the wall clock, see `Pacing`."""
        while self.is_paused and not self._steps_left:
            time.sleep(PAUSE_PERIOD)
            self.check()
            self._began = (0, 0.0, 0.0)
        if self._steps_left:
            self._steps_left -= 1
            return 0
        if self.speed > 0.0:
            self._wait(k)
            most = min(most, max(1, int(SHOW_PERIOD * self.speed / self._dt)))
        return 0 if self._is_touched else most

    def _wait(self, k: int) -> None:
        """Wait until the wall clock has come to instant k."""
        first, began, speed = self._began
        now = time.perf_counter()
        if speed != self.speed:
            self._began = first, began, speed = k, now, self.speed
        ahead = began + (k - first) * self._dt / speed - now
        if ahead > 0.0:
            time.sleep(ahead)
        elif ahead < -1.0:  # the machine is too slow for that speed: no race afterwards
            self._began = k, now, speed

    # A person's hand.

    def step(self) -> None:
        """Fly one control period, and pause."""
        self.is_paused, self._steps_left = True, 1

    def reset(self) -> None:
        """Let the flight begin again."""
        self.wants_reset, self.is_paused = True, False

    def check_flight(self, plant: Plant) -> None:
        """End the flight if it shall begin again.

        Raises:
            FlightFailed: it shall.
        """
        if self.wants_reset:
            raise FlightFailed("reset", plant.t, "begun again by hand")

    def hindrance(self, vehicle: int) -> str:  # noqa: ARG002 - as `ReferenceHand` has it
        """Why no vehicle can be led by hand; empty where they can."""
        return self._hindrance

    def drag(self, vehicle: int, pose: Array) -> None:
        """Let a vehicle's reference go to a pose (7,), within its limits, in place of its own."""
        hand = self._hand(vehicle)
        if hand is not None:
            hand.goal = pose

    def fly(self, vehicle: int, twist: Array) -> None:
        """Fly a vehicle's goal for `KEY_TIME` with a twist (4,) along its heading [m/s] and a yaw rate [rad/s]."""
        hand = self._hand(vehicle)
        if hand is not None:
            hand.fly(twist)

    def _hand(self, vehicle: int) -> Hand | None:
        shown = self.steps()
        if not shown:
            return None
        if vehicle not in self._hands or self._hands[vehicle].is_returned:
            row = shown[vehicle].reference.row.copy()
            self._hands[vehicle] = Hand(row)
            name = self.meta.vehicles[vehicle].name
            self._order(Order(f"reference of {name} taken", lambda _: None))
        return self._hands[vehicle]

    def release(self) -> None:
        """Give all vehicles back to their own references, to which they go within the hand's limits."""
        for vehicle, hand in list(self._hands.items()):
            if not hand.is_returned:
                name = self.meta.vehicles[vehicle].name
                self._order(Order(f"reference of {name} given back", lambda _: None))
            hand.give_back()

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:  # noqa: ARG002
        """Put references that a person commands in place of the vehicles' own, and do what was ordered."""
        if not self._is_touched:
            return
        while self._orders:
            order = self._orders.pop(0)
            order.do(plant)
            if self._scene_notes is not None:
                self._scene_notes.note_by_hand(plant.t, order.text, is_slid=order.is_slid)
        for vehicle, hand in list(self._hands.items()):
            nominal = references[vehicle]
            if hand.is_over:
                del self._hands[vehicle]
            elif hand.is_returned:
                row = hand.reference(nominal.row, self._dt)
                references[vehicle] = Reference(row.copy(), nominal.level, nominal.wrench_P)
            else:
                row = hand.reference(nominal.row, self._dt)
                references[vehicle] = Reference(row.copy(), Level.POSE)

    def blow(self, speed: float, direction_deg: float) -> None:
        """Let a steady wind blow [m/s], towards a direction [deg]."""
        wind = Wind(speed=speed, direction_deg=direction_deg)
        text = f"wind {speed:g} m/s towards {direction_deg:g} deg"
        self._order(Order(text, lambda plant: plant.blow(wind), is_slid=True))

    def break_rotor(self, vehicle: int, aircraft: int, rotor: int) -> None:
        """Let a rotor give no thrust from now on; numbers count from 1, as in a scenario's faults."""
        self._strike(
            vehicle,
            aircraft,
            lambda t: RotorFault(at=t, aircraft=aircraft, rotor=rotor, thrust=0.0),
        )

    def stop_motors(self, vehicle: int, aircraft: int) -> None:
        """Let all motors of an aircraft stop, whose number counts from 1."""
        self._strike(
            vehicle,
            aircraft,
            lambda t: MotorFault.model_validate({"at": t, "aircraft": aircraft, "motors": "off"}),
        )

    def _strike(self, vehicle: int, aircraft: int, fault: Callable[[float], PlantFault]) -> None:
        if aircraft > self.meta.vehicles[vehicle].count:
            return
        control_hz = 1.0 / self._dt

        def strike(plant: Plant) -> None:
            parts = [each for each in plant.parts if isinstance(each, PlantFaults)]
            mine = next((each for each in parts if each.vehicle == vehicle), None)
            if mine is None:
                mine = PlantFaults(vehicle, (), plant.propulsion[vehicle], control_hz)
                plant.attach(mine)
            mine.add(fault(plant.t))

        name = f"{self.meta.vehicles[vehicle].name}: " if len(self.meta.vehicles) > 1 else ""
        self._order(Order(f"{name}{fault(0.0)}", strike))

    def _order(self, order: Order) -> None:
        """Let an order be done before the next period, and noted."""
        self._orders.append(order)
        self._is_touched = True
