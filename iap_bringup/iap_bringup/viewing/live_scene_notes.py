# SPDX-License-Identifier: BSD-3-Clause
"""Notes and happenings of a flight as its steps come, see `SceneNotes` and `Happenings`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_bringup.pictures.grasp import Grasp, is_closed, is_reached
from iap_bringup.viewing.events import Happenings, events_until
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.point_readings import PointReadings
from iap_bringup.viewing.scene_notes import SceneNotes
from iap_control.modules.joint_states import NUMBERS
from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_description.signals import Step
from iap_description.vehicles.arm_links import ChainState
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import GripperSpec
from iap_io.runs.columns import Columns
from iap_physics.latching.latches import Latches
from iap_simulation.flights.flight import Flight
from iap_simulation.metrics.contact import RAW
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.runs.events_so_far import events_so_far
from iap_simulation.simulation.simulation import Simulation

SOON = 1.0  # within which a slider is still on its way [s]


class LiveHappenings:
    """Keeps times of first contacts, and of a grasp.

    Args:
        flight: that is flown.
    """

    def __init__(self, flight: Flight) -> None:
        self._names = [each.name for each in flight.meta.vehicles]
        self._untouched = {i for i, each in enumerate(flight.meta.vehicles) if each.feels}
        self._contacts: dict[str, float] = {}
        self._gripper = flight.scenario.gripper
        arms = [Assembly.of(v.platform, v.name).arm for v in flight.scenario.vehicles]
        self._arms = [(i, arm) for i, arm in enumerate(arms) if arm is not None]
        self._grasp: Grasp | None = None

    def record(self, vehicle: int, step: Step) -> None:
        """Take a control step."""
        wrenches = step.wrench_record if vehicle in self._untouched else None
        if wrenches is not None and wrenches.raw_P[:3].any():
            self._note_contact(vehicle, step.t)

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take some control steps."""
        wrenches = rows.wrench_record if vehicle in self._untouched else None
        if wrenches is not None:
            touches = wrenches.wrenches[:, RAW, :3].any(axis=1)
            if touches.any():
                self._note_contact(vehicle, float(rows.t[touches.argmax()]))

    def _note_contact(self, vehicle: int, t: float) -> None:
        self._untouched.remove(vehicle)
        self._contacts[self._names[vehicle]] = t

    def at(
        self, steps: Steps, objects: Mapping[str, Array], metrics: Mapping[str, Any]
    ) -> Happenings:
        """Happenings up to an instant.

        Args:
            steps: of all vehicles at that instant.
            objects: states (13,) of the world's objects, by their names.
            metrics: see `Happenings`.
        """
        if self._gripper is not None:
            self._note_grasp(self._gripper, steps, objects)
        return Happenings(steps[0].t, dict(self._contacts), self._grasp, metrics)

    def _note_grasp(
        self, gripper: GripperSpec, steps: Steps, objects: Mapping[str, Array]
    ) -> None:
        """Note when the object is taken, and when a gripper by commands lets it go."""
        t, item = steps[0].t, objects.get(gripper.object)
        for i, arm in self._arms:
            joints, row, grasp = steps[i].arm, steps[i].x[0], self._grasp
            if item is None or joints is None:
                continue
            closed = is_closed(gripper, t, joints.load)
            if grasp is not None and grasp.end == np.inf and not closed:
                self._grasp = grasp._replace(end=t)
            elif grasp is None and closed:
                if is_reached(gripper, arm, row, ChainState(joints.q, joints.v), item):
                    end = np.inf if gripper.open is None else gripper.open
                    self._grasp = Grasp(gripper.object, t, end)


class LiveSceneNotes:
    """Looks at latches, joints between modules, estimators and sensors of a simulation.

    Args:
        simulation: that has begun.
        flight: that it flies.
    """

    def __init__(self, simulation: Simulation, flight: Flight) -> None:
        self._simulation, self._meta = simulation, flight.meta
        self._estimates = EstimateCovariances(flight)
        self._points = PointReadings(flight)
        self._flight, self._by_hand = flight, list[dict[str, Any]]()
        self._slid = -np.inf  # time of the last event, where it was slid [s]
        self._happenings = LiveHappenings(flight)
        self.record, self.record_rows = self._happenings.record, self._happenings.record_rows

    @property
    def metrics(self) -> Mapping[str, dict[str, Any]]:
        """Key `hand` of metrics.json, of a flight that a person has touched."""
        return {"hand": {"events": list(self._by_hand)}} if self._by_hand else {}

    def note_by_hand(self, t: float, what: str, *, is_slid: bool) -> None:
        """Note what a person does at a time [s]; what is slid on stands in the place of what was slid just before."""
        if is_slid and t < self._slid + SOON:
            self._by_hand.pop()
        self._slid = t if is_slid else -np.inf
        self._by_hand.append({"t_s": t, "what": what})

    def receive(self, reading: Reading) -> None:
        """Keep the last reading of a sensor that measures points."""
        self._points.receive(reading)

    def at(self, steps: Steps) -> SceneNotes:
        """Notes of the present instant."""
        covariances = self._estimates.at(steps[0].t)
        clouds = self._points.at(steps)
        objects = self._objects()
        metrics = {**events_so_far(self._simulation, self._flight, self._meta), **self.metrics}
        events = events_until(self._meta, self._happenings.at(steps, objects, metrics))
        return SceneNotes(self._couplings(), covariances, clouds, objects, events)

    def _objects(self) -> dict[str, Array]:
        if not self._meta.objects:
            return {}
        rows = self._simulation.plant.engine.object_states()
        return dict(zip(self._meta.objects, rows, strict=True))

    def _couplings(self) -> dict[str, int]:
        simulation, states = self._simulation, dict[str, int]()
        latches = simulation.plant.part(Latches) if self._meta.latches else None
        if latches is not None:
            states |= dict(zip(self._meta.latches, latches.numbers, strict=True))
        if simulation.modules is not None:
            machines = simulation.modules.coordinator.machines
            states |= {name: NUMBERS[each.state] for name, each in machines.items()}
        return states
