# SPDX-License-Identifier: BSD-3-Clause
"""What came of a flight of modules: wrenches in their joints, errors, and what their joints did."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.joint_machine import State
from iap_description.arrays import Array, Booleans
from iap_description.latching import Latching
from iap_physics.plant import Plant
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.modules.record import STATES, ModulesRecord
from iap_simulation.vehicle import Vehicle

LAST = 10.0  # while joined in the air, over which the mean wrench of a joint counts [s]
STEADY = 30.0  # over which steady errors count, at the end of the window [s]
CAUGHT = (2.5, 3.5)  # after a latch has caught, over which the mean force in it counts [s]
HELD = (State.ASSEMBLY, State.JOINED)
PLACE, TURN = slice(0, 3), slice(3, 6)  # of errors
RELEASED = 1.0  # after a release, over which errors count [s]


class ModulesJudge:
    """Follows modules, and says what came of it.

    Args:
        modules: in flight.
        vehicles: the modules.

    Attributes:
        key: of metrics.json.
        record: what was seen.
        is_over: never: the flight ends with its references.
    """

    key, missed = "modules", "not_docked"
    is_over = False

    def __init__(self, modules: ModulesInFlight, vehicles: Sequence[Vehicle]) -> None:
        self._modules, self._vehicles = modules, vehicles
        self.record = ModulesRecord(modules, vehicles)
        starts, stops = zip(*(vehicle.timeline.window for vehicle in vehicles), strict=True)
        self._window = min(starts), max(stops)

    @classmethod
    def of(cls, modules: ModulesInFlight | None, vehicles: Sequence[Vehicle]) -> Self | None:
        """The judge of modules in flight, if there are any."""
        return None if modules is None else cls(modules, vehicles)

    @property
    def coordinator(self) -> Coordinator:
        """Of the modules."""
        return self._modules.coordinator

    @property
    def columns(self) -> dict[str, Array]:
        """All that was seen, see `ModulesRecord.columns`."""
        return self.record.columns

    @property
    def failure(self) -> str | None:
        """Why the mission has failed, in a sentence; None of one that was done."""
        coordinator = self.coordinator
        if coordinator.failure is not None:
            return coordinator.failure
        if not coordinator.mission.is_done:
            at = coordinator.mission.at
            return f"key 'modules.mission': step {at} was not done before the flight's end"
        return None

    def watch(self, plant: Plant) -> None:
        """Take the present instant, where the coordinator has just been at work."""
        if self._modules.is_due:
            self.record.watch(plant)

    def metrics(self, plant: Plant) -> dict[str, Any]:  # noqa: ARG002 - all has been seen
        """Key `modules` of metrics.json."""
        columns, coordinator = self.columns, self.coordinator
        t = columns["t"]
        flown = (t >= self._window[0]) & (t <= self._window[1])
        joints = {name: self._joint(k, name, flown) for k, name in enumerate(coordinator.machines)}
        steady = flown & (t > self._window[1] - STEADY)
        return {
            "compensation": coordinator.spec.compensation,
            "mission_done": coordinator.mission.is_done,
            "joint_force_n": _worst(joints, "force_n"),
            "joint_torque_nm": _worst(joints, "torque_nm"),
            "joints": joints,
            "rmse": self._rmse(flown),
            "rmse_steady": self._rmse(steady),
            "lost": [each._asdict() for each in coordinator.losses],
            "events": [
                {"t_s": each.t, "joint": each.joint, "state": each.state.value}
                for each in coordinator.events
            ],
        }

    def _rmse(self, chosen: Booleans) -> dict[str, list[float] | None]:
        """Per axis of each module: place [m], rotation [rad]."""
        errors = self.columns["errors"][chosen]
        found = np.sqrt((errors**2).mean(axis=0)).tolist() if len(errors) else None
        return {v.name: None if found is None else found[i] for i, v in enumerate(self._vehicles)}

    def _joint(self, k: int, name: str, flown: Booleans) -> dict[str, Any]:
        """Mean wrench over the last seconds in which joint k held in the air, its norms, and what it did."""
        columns, machine = self.columns, self.coordinator.machines[name]
        t, wrenches = columns["t"], columns["joint_wrenches"][:, k]
        caught, released = self._last(name, Latching.CATCH), self._last(name, Latching.RELEASE)
        held = np.isin(columns["states"][:, k], [STATES.index(s) for s in HELD]) & flown
        last = held & (t > t[held].max(initial=0.0) - LAST)
        first = held & (t < t[held].min(initial=np.inf) + LAST)
        return {
            "returns": machine.returns,
            "force_n": _mean_size(wrenches[last, :3]),
            "force_first_n": _mean_size(wrenches[first, :3]),
            "wrench": wrenches[last].mean(axis=0).tolist() if last.any() else None,
            "torque_nm": _mean_size(wrenches[last, 3:]),
            "force_peak_n": np.linalg.norm(wrenches[flown, :3], axis=1).max(initial=0.0),
            "caught_s": caught,
            "force_after_catch_n": _mean_size(wrenches[_within(t, caught, CAUGHT), :3]),
            "released_s": released,
            "released": self._released(name, _within(t, released, (0.0, RELEASED))),
        }

    def _released(self, name: str, chosen: Booleans) -> dict[str, Any] | None:
        """Largest distance [m] and angle [rad] of both modules from their references after a release."""
        errors = self.columns["errors"][chosen][:, list(self.coordinator.joints[name].modules)]
        if not len(errors):
            return None
        place, turn = (np.linalg.norm(errors[..., part], axis=-1).max() for part in (PLACE, TURN))
        return {"position_m": place, "rotation_rad": turn}

    def _last(self, name: str, latching: Latching) -> float | None:
        """Time of the last such order to a joint's latch [s]."""
        times = [t for t, o in self._modules.orders if (o.joint, o.latching) == (name, latching)]
        return times[-1] if times else None


def _within(t: Array, start: float | None, span: tuple[float, float]) -> Booleans:
    """The times that are in a span after a start, of which there may be none."""
    begin = np.inf if start is None else start
    chosen: Booleans = (t > begin + span[0]) & (t <= begin + span[1])
    return chosen


def _mean_size(vectors: Array) -> float | None:
    """Norm of the mean of vectors (T, 3); None of nothing."""
    return float(np.linalg.norm(vectors.mean(axis=0))) if len(vectors) else None


def _worst(joints: dict[str, dict[str, Any]], key: str) -> float | None:
    found = [joint[key] for joint in joints.values() if joint[key] is not None]
    return max(found) if found else None
