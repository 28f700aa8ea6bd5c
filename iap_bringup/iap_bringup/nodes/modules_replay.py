# SPDX-License-Identifier: BSD-3-Clause
"""Modules that nodes fly, by the messages of coordinator_node, physics_node and the modules."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_bringup.nodes.plant_replay import LastValue
from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointEvent, LatchOrder
from iap_control.modules.joint_states import STATES, joint_states, roles_of
from iap_control.modules.losses import ModuleLoss
from iap_description.arrays import Array
from iap_description.signals import Step
from iap_description.vehicles.latching import Hold, LatchCommand
from iap_io.ros.synchronizer import RateSchedule
from iap_io.runs.topics import COORDINATED, JOINT_WRENCHES, JOINTS, WRENCHES
from iap_io.wire.module_views import JointStates
from iap_simulation.flights.flight import Flight
from iap_simulation.modules.coordination import coordination_spec
from iap_simulation.modules.record import ModulesInstant, error_of
from iap_simulation.modules.scores import Course
from iap_simulation.tasks.monitor import ObservedPlant

ESTIMATED = WRENCHES[2]
EXPECTED = (ESTIMATED, COORDINATED)  # of every module, with each state
SHARED = (JOINTS, JOINT_WRENCHES)  # of no vehicle, with each state


class _Coordination(NamedTuple):
    """Messages of an instant of coordination.

    Attributes:
        k: number of the control instant.
        joints: of the coordinator.
        references: (19+) row of each module.
        feed_forward: (n, 6) [N, N m].
        external: (n, 6) as each module's observer estimates [N, N m].
    """

    k: int
    joints: JointStates
    references: list[Array]
    feed_forward: Array
    external: Array


class ModulesReplay:
    """Modules as their monitor reads them, see `iap_simulation.modules.monitor.ModulesSource`.

    Args:
        flight: of modules with a coordinator.

    Attributes:
        spec: of the modules.

    Raises:
        BadInput: nodes cannot coordinate them.
    """

    def __init__(self, flight: Flight) -> None:
        spec = coordination_spec(flight.scenario)
        self.spec, self._names, self._time_step = spec.modules, spec.names, spec.time_step
        self._biases = [np.array(each.position_bias) for each in spec.vehicles]
        self._due = RateSchedule([round(spec.control_hz / spec.modules.rate)])
        self._joints = joint_states(Coordinator(spec.modules, spec.names, spec.lift))
        self._coordination: _Coordination | None = None
        self._instant: ModulesInstant | None = None
        self._losses: list[ModuleLoss] = []
        self._events: list[JointEvent] = []
        self._orders: list[tuple[float, LatchOrder]] = []

    def update(self, ticks: Sequence[Step], last: LastValue) -> None:
        """Take an instant; a coordination shows one control period later, as in one process.

        Args:
            ticks: of all modules.
            last: returns the value of a module's topic at that instant, or the last one before; None where none came.
        """
        t = round(ticks[0].t / self._time_step) * self._time_step
        wrenches, joints = last(0, JOINT_WRENCHES), last(0, JOINTS)
        before, self._coordination, self._instant = self._coordination, None, None
        if before is not None and before.k + 1 == ticks[0].k and wrenches is not None:
            self._instant = self._instant_of(t, ticks, before, wrenches)
        if joints is None:
            return
        self._note(t, joints)
        values = [
            [last(i, topic) for i in range(len(ticks))] for topic in (COORDINATED, ESTIMATED)
        ]
        is_whole = all(value is not None for of_all in values for value in of_all)
        if self._due.due(ticks[0].k) and is_whole:
            rows = [tick.reference.row for tick in ticks]
            self._coordination = _Coordination(ticks[0].k, joints, rows, *map(np.array, values))

    def instant(self, plant: ObservedPlant) -> ModulesInstant | None:  # noqa: ARG002 - see `update`
        """The present instant, if the coordinator has just been at work."""
        return self._instant

    def _instant_of(
        self, t: float, ticks: Sequence[Step], before: _Coordination, wrenches: Array
    ) -> ModulesInstant:
        pairs = zip(ticks, self._biases, before.references, strict=True)
        return ModulesInstant(
            t=t,
            states=[STATES[number] for number in before.joints.states],
            roles=roles_of(before.joints.led_by.tolist()),
            joint_wrenches=wrenches,
            errors=np.array([error_of(tick.x[0], bias, row) for tick, bias, row in pairs]),
            feed_forward=before.feed_forward,
            external=before.external,
        )

    def _note(self, t: float, joints: JointStates) -> None:
        """Note what has changed since the last instant."""
        before, self._joints = self._joints, joints
        for i in np.flatnonzero(joints.lost > before.lost):
            self._losses.append(ModuleLoss(t, self._names[i], self._names[joints.led_by[i]]))
        for j, name in enumerate(self.spec.joints):
            if joints.states[j] != before.states[j]:
                self._events.append(JointEvent(t, name, STATES[joints.states[j]]))
            old, new = Hold(int(before.holds[j])), Hold(int(joints.holds[j]))
            if old != new:
                self._orders += [(t, LatchOrder(name, each)) for each in _orders(old, new)]

    @property
    def course(self) -> Course:
        """Course of the modules so far."""
        joints, names = self._joints, list(self.spec.joints)
        failed = [
            name for name, has_failed in zip(names, joints.failed, strict=True) if has_failed
        ]
        failure = f"joint '{failed[0]}': failed (see coordinator_node's log)" if failed else None
        returns = dict(zip(names, joints.returns.tolist(), strict=True))
        history = (self._losses, self._events, self._orders)
        return Course(joints.steps_done, failure, returns, *history)


def _orders(old: Hold, new: Hold) -> list[LatchCommand]:
    """Orders that lead a latch from one hold to another."""
    if new == Hold.OPEN:
        return [LatchCommand.RELEASE]
    if old == Hold.CAUGHT:
        return [LatchCommand.LOCK]
    again = [] if old == Hold.OPEN else [LatchCommand.RELEASE]
    return [*again, LatchCommand.CATCH, *([LatchCommand.LOCK] if new == Hold.LOCKED else [])]
