# SPDX-License-Identifier: BSD-3-Clause
"""A coordinator between messages: what modules tell in, their references, roles and joints out."""

from collections import deque
from collections.abc import Collection, Mapping
from enum import IntEnum

import numpy as np

from iap_control.modules.coordination import CoordinationSpec
from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import ModuleReports, ModuleRole, mean_wrench
from iap_control.modules.joint_states import joint_states
from iap_description.arrays import Array
from iap_description.states import REF_FIXED, Level, P
from iap_io.ros.synchronizer import Instant, RateSchedule, TimeSynchronizer
from iap_io.wire.module_views import JointStates

TIMEOUT = 100_000_000  # simulation time for which a wrench counts where none follows [ns]
ROLES = {role: number for number, role in enumerate(ModuleRole)}  # as the message has them
SECOND = 1e9  # [ns]


class ExternalWrenches:
    """Wrenches by modules and stamps.

    An instant waits for the wrenches of those modules that told theirs of the instant before. Who was overtaken by
    the next instant shows that time does not wait, and is not waited for until a wrench comes in time again: observers
    fall silent where commands stay away, and commands stay away where references do.

    Args:
        count: number of modules.
        control_hz: rate at which they tell wrenches [Hz].
        every: control periods between two coordinations.

    Attributes:
        instant: newest stamp that the states of all modules have reached [ns]; -1 before the first.
    """

    def __init__(self, count: int, control_hz: float, every: int) -> None:
        self._entries: list[deque[tuple[int, Array]]] = [
            deque(maxlen=every + 1) for _ in range(count)
        ]
        self._window = round((every + 0.5) / control_hz * SECOND)  # between two coordinations [ns]
        self._states = [-1] * count  # stamps of the modules' newest states [ns]
        self.instant = -1

    def begin(self) -> None:
        """Begin a flight, of which some wrenches and states may be there."""
        self.instant = -1

    def late(self, module: int, stamp: int) -> list[int]:
        """Numbers of modules that a new instant does not wait for, by a module's state of a stamp [ns].

        An instant is new once all states have reached it: a state of one module's wrong clock ends no other's.
        Wrenches do not count: one of another time, taken here, would keep all instants from being answered.
        """
        self._states[module] = stamp
        if max(self._states) < self.instant:  # time began anew
            self.instant = -1
        reached, last = min(self._states), self.instant
        if reached <= last:
            return []
        self.instant = reached
        newest = [each[-1][0] if each else -1 for each in self._entries]
        return [i for i, at in enumerate(newest) if at not in (last, reached) and last >= 0]

    def is_over(self, stamp: int) -> bool:
        """True if a newer instant has begun than that of a stamp [ns]."""
        return stamp < self.instant

    def take(self, module: int, stamp: int, wrench_P: Array) -> None:
        """Take a module's wrench (6,) of a stamp [ns]; it is kept."""
        entries = self._entries[module]
        if not entries or stamp != entries[-1][0]:
            entries.append((stamp, wrench_P))

    def before(self, stamp: int, lost: Collection[int]) -> Array:
        """Mean wrenches (n, 6) since the coordination before that of a stamp [ns]; the last one where none came since.

        Zero at the start of a flight; nan where they stayed away for longer than `TIMEOUT`, but of lost modules.
        """
        return np.array(
            [self._at(i, stamp, ages=i not in lost) for i in range(len(self._entries))]
        )

    def _at(self, module: int, stamp: int, *, ages: bool) -> Array:
        entries = [each for each in self._entries[module] if 0 <= each[0] < stamp]
        at, newest_P = entries[-1] if entries else (0, np.zeros(6))
        if ages and stamp - at > TIMEOUT:
            return np.full(6, np.nan)
        return mean_wrench([each for t, each in entries if stamp - t < self._window] or [newest_P])


class ReportPart(IntEnum):
    """Parts of every module's report of an instant."""

    REFERENCE = 0  # its own: a row (20,) and a level
    STATE = 1  # as it estimates it, a row (13,)
    WRENCH = 2  # that acts on it from outside (6,)


class CoordinatorResponder:
    """Answers every instant once; one that comes again has the same answer, an earlier one begins a new flight.

    An answer rests on the states and wrenches of the instant before, which all modules had when they were commanded
    there, and on what joints measure now: so it does what the coordinator in the loop of one process does. Those of
    the instant itself are waited for, so that none is missed, wrenches as long as time waits for them too
    (`ExternalWrenches`).

    Args:
        spec: of the modules.

    Attributes:
        coordinator: of the present flight.
        stamp: of the newest answer [ns]; -1 before the first.
        sequence: its state's number.
        rows: (n, 20) references of the modules.
        levels: of them.
        answered: number of instants so far.
    """

    def __init__(self, spec: CoordinationSpec) -> None:
        self._spec, self.answered = spec, 0
        self._names = list(spec.modules.joints)
        self._told = len(ReportPart) * len(
            spec.vehicles
        )  # parts of all modules; behind them, joints'
        is_measured = spec.modules.wrench_source == "joint"
        self._parts = TimeSynchronizer(self._told + is_measured)
        self._every = round(spec.control_hz / spec.modules.rate)
        self._felt = ExternalWrenches(len(spec.vehicles), spec.control_hz, self._every)
        self._biases = np.array([vehicle.position_bias for vehicle in spec.vehicles])
        self._begin()

    def _begin(self) -> None:
        """Begin a flight, of which some parts may be there."""
        spec, n = self._spec, len(self._spec.vehicles)
        self.coordinator = Coordinator(spec.modules, spec.names, spec.lift)
        self._due = RateSchedule([self._every])
        self._estimates = np.array([vehicle.start for vehicle in spec.vehicles])
        self.coordinator.check_start(self._estimates)
        self._felt.begin()
        self.rows = np.zeros((n, REF_FIXED + 1))
        self.levels = [Level.POSE] * n
        self.stamp, self.sequence = -1, 0
        self._heard = [-1] * n  # stamps of the modules' last commands [ns]; -1 before the first

    @property
    def roles(self) -> list[int]:
        """Numbers of the modules' roles."""
        return [ROLES[each] for each in self.coordinator.roles]

    @property
    def joint_states(self) -> JointStates:
        """States of modules and joints, and the holds of latches."""
        return joint_states(self.coordinator)

    def take(self, module: int, part: ReportPart, stamp: int, value: object) -> bool:
        """Take a part of an instant, arrays of its own; returns whether an answer is complete with it.

        Args:
            module: its number.
            part: which it is.
            stamp: simulation time [ns].
            value: of the part.
        """
        if part == ReportPart.STATE and module == 0 and stamp < self.stamp:  # time began anew
            self._begin()
        if part == ReportPart.STATE:
            for late in self._felt.late(module, stamp):
                source = len(ReportPart) * late + ReportPart.WRENCH
                self._parts.take(source, self._felt.instant, 0, None)
        if part == ReportPart.WRENCH:
            self._felt.take(module, stamp, np.asarray(value))
            if self._felt.is_over(stamp):
                return False
        return self._put(len(ReportPart) * module + part, stamp, value)

    def take_borne(self, stamp: int, wrenches_S: Array) -> bool:
        """Take what joints bear (m, 6) at an instant, where that is measured; returns as `take`."""
        return self._put(self._told, stamp, wrenches_S)

    def _put(self, source: int, stamp: int, value: object) -> bool:
        instant = self._parts.take(source, stamp, 0, value)
        if instant is None or instant.stamp < self.stamp:
            return False
        if instant.stamp > self.stamp:
            self._answer(instant)
        return True

    def hear(self, module: int, stamp: int) -> None:
        """Note that a module has been commanded at the state of a stamp [ns]."""
        self._heard[module] = stamp

    def _answer(self, instant: Instant) -> None:
        """Coordinate on what was told before, and keep what is told now."""
        references = instant.parts[ReportPart.REFERENCE : self._told : len(ReportPart)]
        estimates = np.array(instant.parts[ReportPart.STATE : self._told : len(ReportPart)])
        nominal = np.array([row for row, _ in references])
        self.levels = [level for _, level in references]
        step = self._spec.time_step
        t = round(instant.stamp / SECOND / step) * step
        if self._due.due(round(t * self._spec.control_hz)):
            borne = instant.parts[self._told :]
            joint_S = dict(zip(self._names, borne[0], strict=True)) if borne else {}
            self._coordinate(instant.stamp, t, nominal, joint_S)
        self.coordinator.put_rows(t, nominal, self.rows)
        self._estimates = estimates
        self.stamp, self.sequence = instant.stamp, round(t * self._spec.control_hz)
        self.answered += 1

    def _coordinate(
        self, stamp: int, t: float, nominal: Array, joint_S: Mapping[str, Array]
    ) -> None:
        shared = self._estimates.copy()
        shared[:, P] -= self._biases
        newest = max(self._heard)
        command_times = np.array([newest if each < 0 else each for each in self._heard]) / SECOND
        felt_P = self._felt.before(stamp, self.coordinator.lost.modules)
        reports = ModuleReports(
            t, self._estimates, shared, felt_P, nominal, command_times, joint_S
        )
        self.coordinator.update(reports)  # orders to latches are told as what they shall hold
