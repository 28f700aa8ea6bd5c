# SPDX-License-Identifier: BSD-3-Clause
"""Key `modules` of metrics.json: wrenches in joints, errors of modules, and what their joints did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointEvent, JointState, LatchOrder
from iap_control.modules.joint_states import STATES
from iap_control.modules.joint_table import joints_of
from iap_control.modules.losses import ModuleLoss
from iap_control.modules.settings import ModulesSpec
from iap_description.arrays import Array, Booleans
from iap_description.vehicles.latching import LatchCommand

KEY, MISSED = "modules", "not_docked"  # key of metrics.json, outcome of a mission that is not done
JOINED_TIME = 10.0  # while joined in the air, over which the mean wrench of a joint counts [s]
STEADY_TIME = 30.0  # over which steady errors count, at the end of the window [s]
CATCH_SPAN = (2.5, 3.5)  # after a latch has caught, over which the mean force in it counts [s]
LOCKED_STATES = (JointState.ASSEMBLY, JointState.JOINED)
PLACE, TURN = slice(0, 3), slice(3, 6)  # of errors
RELEASE_TIME = 1.0  # after a release, over which errors count [s]


class Course(NamedTuple):
    """Course of modules in a flight.

    Attributes:
        steps_done: of the mission.
        failure: why a docking has failed, a sentence; None where none has.
        returns: lost approaches of each joint since it was last ordered to join.
        losses: of modules.
        events: states that joints came into.
        orders: to latches, with their times [s].
    """

    steps_done: int
    failure: str | None
    returns: Mapping[str, int]
    losses: Sequence[ModuleLoss]
    events: Sequence[JointEvent]
    orders: Sequence[tuple[float, LatchOrder]]

    @classmethod
    def of(cls, coordinator: Coordinator, orders: Sequence[tuple[float, LatchOrder]]) -> Self:
        """The course of a coordinator, and of its orders to latches."""
        returns = {name: machine.returns for name, machine in coordinator.machines.items()}
        done, failure = coordinator.mission.at, coordinator.failure
        return cls(done, failure, returns, coordinator.losses, coordinator.events, orders)

    @property
    def event_rows(self) -> list[dict[str, Any]]:
        """States that joints came into, as metrics.json has them."""
        return [
            {"t_s": each.t, "joint": each.joint, "state": each.state.value} for each in self.events
        ]

    def why_missed(self, spec: ModulesSpec) -> str | None:
        """Why the mission has failed, in a sentence; None of one that was done."""
        if self.failure is not None:
            return self.failure
        if self.steps_done >= len(spec.mission):
            return None
        return (
            f"key 'modules.mission': step {self.steps_done} was not done before the flight's end"
        )


@dataclass(frozen=True)
class ModulesScores:
    """Scores of one flight.

    Attributes:
        spec: of the modules.
        names: of the modules, in their order.
        window: from take-off to landing [s].
        columns: of the record, see `ModulesRecord.columns`.
        course: what was done.
    """

    spec: ModulesSpec
    names: Sequence[str]
    window: tuple[float, float]
    columns: Mapping[str, Array]
    course: Course

    def metrics(self) -> dict[str, Any]:
        """All of them."""
        t, course = self.columns["t"], self.course
        in_flight = (t >= self.window[0]) & (t <= self.window[1])
        joints = {name: self._joint(k, name, in_flight) for k, name in enumerate(self.spec.joints)}
        steady = in_flight & (t > self.window[1] - STEADY_TIME)
        return {
            "compensation": self.spec.compensation,
            "mission_done": course.steps_done >= len(self.spec.mission),
            "joint_force_n": _worst(joints, "force_n"),
            "joint_torque_nm": _worst(joints, "torque_nm"),
            "joints": joints,
            "rmse": self._rmse(in_flight),
            "rmse_steady": self._rmse(steady),
            "lost": [each._asdict() for each in course.losses],
            "events": course.event_rows,
        }

    def _rmse(self, mask: Booleans) -> dict[str, list[float] | None]:
        """Per axis of each module: place [m], rotation [rad]."""
        errors = self.columns["errors"][mask]
        rms = np.sqrt((errors**2).mean(axis=0)).tolist() if len(errors) else None
        return {name: None if rms is None else rms[i] for i, name in enumerate(self.names)}

    def _joint(self, k: int, name: str, in_flight: Booleans) -> dict[str, Any]:
        """Mean wrench over the last seconds in which joint k held in the air, its norms, and what it did."""
        columns = self.columns
        t, wrenches = columns["t"], columns["joint_wrenches"][:, k]
        caught, released = (
            self._last(name, LatchCommand.CATCH),
            self._last(name, LatchCommand.RELEASE),
        )
        locked = (
            np.isin(columns["states"][:, k], [STATES.index(s) for s in LOCKED_STATES]) & in_flight
        )
        last = locked & (t > t[locked].max(initial=0.0) - JOINED_TIME)
        first = locked & (t < t[locked].min(initial=np.inf) + JOINED_TIME)
        return {
            "returns": self.course.returns[name],
            "force_n": _mean_size(wrenches[last, :3]),
            "force_first_n": _mean_size(wrenches[first, :3]),
            "wrench": wrenches[last].mean(axis=0).tolist() if last.any() else None,
            "torque_nm": _mean_size(wrenches[last, 3:]),
            "force_rms_n": _rms_size(wrenches[last, :3]),
            "torque_rms_nm": _rms_size(wrenches[last, 3:]),
            "force_peak_n": np.linalg.norm(wrenches[in_flight, :3], axis=1).max(initial=0.0),
            "caught_s": caught,
            "force_after_catch_n": _mean_size(wrenches[_within(t, caught, CATCH_SPAN), :3]),
            "released_s": released,
            "released": self._released(name, _within(t, released, (0.0, RELEASE_TIME))),
        }

    def _released(self, name: str, mask: Booleans) -> dict[str, Any] | None:
        """Largest distance [m] and angle [rad] of both modules from their references after a release."""
        both = joints_of(self.spec, self.names)[name].modules
        errors = self.columns["errors"][mask][:, list(both)]
        if not len(errors):
            return None
        place, turn = (np.linalg.norm(errors[..., part], axis=-1).max() for part in (PLACE, TURN))
        return {"position_m": place, "rotation_rad": turn}

    def _last(self, name: str, latching: LatchCommand) -> float | None:
        """Time of the last such order to a joint's latch [s]."""
        orders = self.course.orders
        times = [t for t, order in orders if (order.joint, order.latching) == (name, latching)]
        return times[-1] if times else None


def _within(t: Array, start: float | None, span: tuple[float, float]) -> Booleans:
    """The times that are in a span after a start, of which there may be none."""
    begin = np.inf if start is None else start
    mask: Booleans = (t > begin + span[0]) & (t <= begin + span[1])
    return mask


def _rms_size(vectors: Array) -> float | None:
    """Root mean square of the sizes of vectors (K, 3): of what they are at an instant."""
    return float(np.sqrt((vectors**2).sum(axis=1).mean())) if len(vectors) else None


def _mean_size(vectors: Array) -> float | None:
    """Norm of the mean of vectors (T, 3); None of nothing."""
    return float(np.linalg.norm(vectors.mean(axis=0))) if len(vectors) else None


def _worst(joints: dict[str, dict[str, Any]], key: str) -> float | None:
    values = [joint[key] for joint in joints.values() if joint[key] is not None]
    return max(values) if values else None
