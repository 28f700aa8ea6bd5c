# SPDX-License-Identifier: BSD-3-Clause
"""Answers to states of one platform, once their references and the readings that a policy acts on have come."""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command, Q
from iap_io.ros.synchronizer import Instant, TimeSynchronizer
from iap_io.runs.topics import MEASURED
from iap_learning.tasks.kind import FlyingPolicy
from iap_learning.tasks.senses import Sense, Senses
from iap_learning.tasks.sensor_wait import SensorWait
from iap_physics.measured.wrench_sensor import to_world

MEASURED_KEPT = 64  # instants whose measured states are kept
STATE, REFERENCE = range(2)  # sources of an instant, before those that the policy asks for
Answer = Reference | Command


class PlatformResponder(SensorWait[Answer]):
    """Answers every instant once; one that comes again gets the same answer, an earlier one begins a new flight.

    At an instant at which the policy acts it waits for readings of the same period. A policy that observes measured
    states gets those of the instant before, as controllers had them.

    Args:
        make: makes the policy of a flight.
        on_estimate: whether the vehicle goes by an estimate, which comes beside the true state.
        measured: topic of the measured state.

    Attributes:
        policy: of the present flight.
        stamp: of the newest answer [ns]; -1 before the first.
        sequence: its state's number.
        answered: number of instants so far.
    """

    def __init__(
        self,
        make: Callable[[], FlyingPolicy],
        *,
        on_estimate: bool = False,
        measured: str = MEASURED,
    ) -> None:
        self._make, self.answered, self._topic = make, 0, measured
        self._measured: dict[int, Array] = {}  # by the numbers of their instants
        self._begin()
        asked = self.policy.asks_for
        self._is_measured = Sense.MEASURED in asked
        more = (Sense.ESTIMATE,) if on_estimate else ()
        self._senses = (*(each for each in asked if each is not Sense.MEASURED), *more)
        self._parts = TimeSynchronizer(REFERENCE + 1 + len(self._senses))

    def _begin(self) -> None:
        """Begin a flight."""
        self.policy = self._make()
        self.stamp, self.sequence = -1, 0
        self._answer: Answer | None = None
        self._begin_readings()

    def take_state(self, stamp: int, sequence: int, x: Array, rpm: Array) -> Answer | None:
        """Take a state (bodies, 13) and rotor speeds (N, 4), arrays of their own; returns the answer that it completes.

        Args:
            stamp: simulation time [ns].
            sequence: number of the state.
            x: state.
            rpm: rotor speeds [rpm].
        """
        if stamp < self._newest:  # simulation time began anew
            self._begin()
        return self._completed(self._parts.take(STATE, stamp, sequence, (sequence, x, rpm)))

    def take_reference(self, stamp: int, row: Array) -> Answer | None:
        """Take the scenario's reference (19 + N), an array of its own; returns the answer that it completes."""
        return self._completed(self._parts.take(REFERENCE, stamp, 0, row))

    def take_sense(self, sense: Sense, stamp: int, part: Array) -> Answer | None:
        """Take what the policy asks for, an array of its own; returns the answer that it completes.

        Args:
            sense: one of those.
            stamp: simulation time [ns].
            part: contact wrench (6,) in axes of P, states (n, 13) of objects, phases (m,) of latches, coordinates and
                velocities (2, n) of the arm's joints, what the gripper holds and bears (2,), or the estimated state
                (bodies, 13).
        """
        source = REFERENCE + 1 + self._senses.index(sense)
        return self._completed(self._parts.take(source, stamp, 0, part))

    def take_measured(self, k: int, row: Array) -> Answer | None:
        """Take the measured state (13,) of instant k, an array of its own; returns the answer that waited for it."""
        kept = {n: each for n, each in self._measured.items() if k - MEASURED_KEPT < n < k}
        self._measured = {**kept, k: row}
        return None if self._waiting is None else self._try(self._waiting)

    def _waits(self, instant: Instant, k: int) -> bool:
        """True if instant k has to wait for a reading or a measured state, and does from now on."""
        waits = super()._waits(instant, k)
        if self._is_measured and k > 0 and k - 1 not in self._measured:
            self.awaited, self._waiting, waits = (*self.awaited, self._topic), instant, True
        return waits

    def _pilot(self) -> FlyingPolicy:
        """Policy of the present flight."""
        return self.policy

    def _completed(self, instant: Instant | None) -> Answer | None:
        if instant is None or instant.stamp < self.stamp:
            return None
        return self._try(instant)

    def _try(self, instant: Instant) -> Answer | None:
        """Answer an instant, unless it waits for a reading."""
        if instant.stamp > self.stamp:
            (k, x, rpm), row, *parts = instant.parts
            if self._waits(instant, k):
                return None
            given = {sense.value: part for sense, part in zip(self._senses, parts, strict=True)}
            if Sense.WRENCH in self._senses:
                given[Sense.WRENCH.value] = _in_world(given[Sense.WRENCH.value], x[0, Q])
            if Sense.ESTIMATE in self._senses:
                x = given.pop(Sense.ESTIMATE.value)
            if self._is_measured:
                given[Sense.MEASURED.value] = self._measured.get(k - 1)
            self._answer = self.policy(k, x, rpm, row, Senses(**given))
            self.stamp, self.sequence = instant.stamp, k
            self.answered += 1
        return self._answer


def _in_world(wrench_P: Array, q_WP: Array) -> Array:
    """The wrench (6,) in world axes at an attitude (4,)."""
    out = np.zeros(6)
    to_world(wrench_P, q_WP, out)
    return out
