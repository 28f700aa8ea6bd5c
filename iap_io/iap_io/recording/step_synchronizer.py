# SPDX-License-Identifier: BSD-3-Clause
"""Puts states and all that goes with them in messages together again, one tick after the other."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import ArmRecord, Step, WrenchRecord
from iap_description.vehicles.gripper import row_of
from iap_io.runs.topics import (
    COMMAND,
    ESTIMATED,
    JOINT_COMMAND,
    JOINT_STATES,
    REFERENCE,
    REVISED,
    TASK,
    WRENCHES,
)
from iap_io.wire.stamps import SECOND

MOST_AHEAD = SECOND // 2  # simulation time between a message and the newest state [ns]
# Wall time for which a tick waits for what is missing [s]: more than the 3 s after which a reliable writer of DDS
# offers again what a busy reader has lost. Meanwhile all that follows on that topic is held back.
PATIENCE = 5.0
MEASURED_WRENCHES = WRENCHES[:3]  # raw, filtered, estimated
NO_WRENCH = np.zeros(6)
NO_LOAD = row_of(None)
for each in (NO_WRENCH, NO_LOAD):
    each.setflags(write=False)


class StateSample(NamedTuple):
    """The state of a vehicle at an instant.

    Attributes:
        stamp: of the instant [ns].
        k: its number.
        x: (bodies, 13) state rows.
        rpm: (N, 4) speeds of rotors [rpm].
        tilt: (N, 4) their angles [rad]; None where none tilts.
        load: (10,) what an arm's gripper holds, see `vehicles.gripper.row_of`.
    """

    stamp: int
    k: int
    x: Array
    rpm: Array
    tilt: Array | None
    load: Array

    @classmethod
    def copied(
        cls, stamp: int, k: int, x: Array, rpm: Array, tilt: Array | None, load: Array
    ) -> "StateSample":
        """Of arrays that may change afterwards."""
        turned = None if tilt is None else tilt.copy()
        return cls(stamp, k, x.copy(), rpm.copy(), turned, load.copy())


@dataclass
class _VehicleInstant:
    """Messages of one vehicle that are not recorded yet."""

    expected: tuple[str, ...]
    states: deque[StateSample] = field(default_factory=deque)
    arrivals: deque[float] = field(default_factory=deque)  # of these states, in wall time [s]
    waiting: dict[str, dict[int, Any]] = field(default_factory=dict)  # topic -> stamp -> value
    latest: dict[str, int] = field(default_factory=dict)  # topic -> stamp of its newest message
    last: dict[str, Any] = field(default_factory=dict)  # topic -> the last one recorded
    newest: int = -1  # stamp of the last state [ns]
    last_stamp: int = -1  # stamp of the last state that went out [ns]

    def missing(self) -> Iterator[str]:
        """Topics without a value for the oldest state."""
        stamp = self.states[0].stamp
        return (name for name in self.expected if stamp not in self.waiting.get(name, {}))

    def awaits(self, now: float) -> bool:
        """True while something may come that goes with the oldest state; now is wall time [s].

        A topic's messages come in their order, so what is older than one of them is lost.
        """
        is_patient, stamp = now - self.arrivals[0] < PATIENCE, self.states[0].stamp
        return is_patient and any(self.latest.get(name, -1) < stamp for name in self.missing())

    def put(self, topic: str, values: Mapping[int, Any]) -> None:
        """Keep a topic's values by their stamps [ns] for the states that they go with."""
        self.waiting.setdefault(topic, {}).update(values)
        self.latest[topic] = max(self.latest.get(topic, -1), *values, -1)

    def take_oldest(self) -> Step | None:
        """The oldest state and what goes with it, or the last of it; None before the first command."""
        state = self.drop_oldest()
        self.last_stamp = state.stamp
        for name, waiting in self.waiting.items():
            if state.stamp in waiting:
                self.last[name] = waiting[state.stamp]
            for stamp in list(takewhile(state.stamp.__ge__, waiting)):
                del waiting[stamp]
        if REFERENCE not in self.last or COMMAND not in self.last:
            return None
        has_wrenches = all(name in self.expected for name in MEASURED_WRENCHES)
        return step_of(state, self.last, has_wrenches=has_wrenches)

    def drop_oldest(self) -> StateSample:
        """The oldest state, which is not kept."""
        self.arrivals.popleft()
        return self.states.popleft()


def step_of(state: StateSample, last: Mapping[str, Any], *, has_wrenches: bool) -> Step:
    """The control step of a vehicle at a state.

    Args:
        state: of the vehicle.
        last: newest values of topics in `iap_io.runs.topics`; at least a Reference and a Command.
        has_wrenches: whether wrenches at the vehicle are measured.
    """
    return Step(
        state.k,
        state.stamp / SECOND,
        state.x,
        last[REFERENCE],
        last[COMMAND],
        state.rpm,
        _wrench_record(last) if has_wrenches else None,
        last.get(ESTIMATED),
        state.tilt,
        _arm_record(last, state.load),
    )


def _wrench_record(last: Mapping[str, Any]) -> WrenchRecord:
    raw_P, filtered_P, estimated_P = (last.get(name, NO_WRENCH) for name in MEASURED_WRENCHES)
    tracked = last.get(REVISED, last[REFERENCE])
    return WrenchRecord(raw_P, filtered_P, estimated_P, tracked, last.get(TASK))


def _arm_record(last: Mapping[str, Any], load: Array) -> ArmRecord | None:
    """Joints of an arm with its load, and what they were told last; None where there are none."""
    if JOINT_STATES not in last:
        return None
    q, v, efforts = last[JOINT_STATES]
    target = last.get(JOINT_COMMAND, np.stack([q, 0.0 * v, 0.0 * v]))
    return ArmRecord(q, v, efforts, target, load)


class StepSynchronizer:
    """Collects the messages of a run and hands over complete ticks.

    A tick goes out once all that is expected of every vehicle at one stamp is there. Where a topic's next message
    is there already, or after `PATIENCE`, it goes out with the last of whatever is missing. Ticks before the first
    reference and command are left out.

    Args:
        expected: topics of what goes with the states of each vehicle, in the order of the vehicles.
        write: takes the ticks of all vehicles at one instant.
        clock: wall time [s].

    Attributes:
        missing: number of ticks that went out without a message of theirs, by its topic.
    """

    def __init__(
        self,
        expected: Sequence[tuple[str, ...]],
        write: Callable[[Sequence[Step]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vehicles = [_VehicleInstant(each) for each in expected]
        self._write, self._clock = write, clock
        self.missing: Counter[str] = Counter()

    def is_reset(self, vehicle: int, stamp: int) -> bool:
        """True if a state's stamp [ns] lies before one that has come: the simulation began anew."""
        return stamp < self._vehicles[vehicle].newest

    def take_state(
        self,
        vehicle: int,
        stamp: int,
        k: int,
        x: Array,
        rpm: Array,
        tilt: Array | None = None,
        load: Array = NO_LOAD,
    ) -> None:
        """Take state rows (bodies, 13), rotor speeds and angles (N, 4), and an arm's load (10,); they are copied."""
        mine = self._vehicles[vehicle]
        if stamp > mine.newest:
            mine.states.append(StateSample.copied(stamp, k, x, rpm, tilt, load))
            mine.arrivals.append(self._clock())
            mine.newest = stamp
            self._flush()

    def take(self, vehicle: int, topic: str, stamp: int, value: object) -> None:
        """Take what goes with the state of a stamp [ns]; it is kept.

        Args:
            vehicle: whose it is.
            topic: one of those in `iap_io.runs.topics`.
            stamp: of the state.
            value: a Reference, Command, wrench (6,) or ForceTask, as the topic has it.

        Raises:
            BadInput: the stamp is far later than the newest state's.
        """
        if stamp > self._vehicles[vehicle].newest + MOST_AHEAD:
            raise BadInput("header.stamp: far later than the newest state's")
        self._vehicles[vehicle].put(topic, {stamp: value})
        self._flush()

    def last(self, vehicle: int, topic: str) -> Any:  # noqa: ANN401 - as `take` was given it
        """The value of a topic that went with the newest tick, or one before; None where none came."""
        return self._vehicles[vehicle].last.get(topic)

    def take_over(self, before: "StepSynchronizer") -> None:
        """Take what a run before this one was given for ticks that it had passed.

        After a reset, what goes with the first states may come before them, and then to the run that has ended.
        """
        for mine, other in zip(self._vehicles, before._vehicles, strict=True):
            for topic, waiting in other.waiting.items():
                early = {
                    stamp: value for stamp, value in waiting.items() if stamp <= other.last_stamp
                }
                mine.put(topic, early)

    def finish(self) -> None:
        """Hand over what is left, complete or not."""
        self._flush(at_end=True)

    def _flush(self, *, at_end: bool = False) -> None:
        vehicles = self._vehicles
        while all(vehicle.states for vehicle in vehicles):
            head = max(vehicle.states[0].stamp for vehicle in vehicles)
            late = [vehicle for vehicle in vehicles if vehicle.states[0].stamp < head]
            for vehicle in late:  # the others' states of that instant were lost
                vehicle.drop_oldest()
            if late:
                continue
            missing = [name for vehicle in vehicles for name in vehicle.missing()]
            if missing and not at_end and any(each.awaits(self._clock()) for each in vehicles):
                return
            ticks = [vehicle.take_oldest() for vehicle in vehicles]
            whole = [tick for tick in ticks if tick is not None]
            if len(whole) == len(ticks):
                self.missing.update(missing)
                self._write(whole)
