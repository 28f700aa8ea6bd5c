# SPDX-License-Identifier: BSD-3-Clause
"""Happenings of a flight as its steps come, see `Happenings`."""

from collections.abc import Mapping
from typing import Any

from iap_bringup.pictures.grasp import Grasp, is_reached
from iap_bringup.viewing.events import Happenings
from iap_bringup.viewing.layers import Steps
from iap_description.arrays import Array
from iap_description.signals import Step
from iap_description.vehicles.arm_links import ChainState
from iap_description.vehicles.assembly import Assembly
from iap_io.runs.columns import Columns
from iap_simulation.flights.flight import Flight
from iap_simulation.metrics.contact import RAW


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
        t, gripper = steps[0].t, self._gripper
        if gripper is not None and self._grasp is None and gripper.close <= t < gripper.open:
            item = objects.get(gripper.object)
            for i, arm in self._arms:
                joints, row = steps[i].arm, steps[i].x[0]
                if item is None or joints is None:
                    continue
                if is_reached(gripper, arm, row, ChainState(joints.q, joints.v), item):
                    self._grasp = Grasp(gripper.object, t, gripper.open)
        return Happenings(t, dict(self._contacts), self._grasp, metrics)
