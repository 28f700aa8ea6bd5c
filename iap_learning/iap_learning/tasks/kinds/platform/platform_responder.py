# SPDX-License-Identifier: BSD-3-Clause
"""Answers to states of one platform, once their references and the images that a policy sees have come in messages."""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command, Q
from iap_io.ros.synchronizer import Instant, TimeSynchronizer
from iap_learning.tasks.image_wait import ImageWait
from iap_learning.tasks.kind import FlyingPolicy
from iap_learning.tasks.senses import Sense, Senses
from iap_physics.measured.wrench_sensor import to_world

STATE, REFERENCE = range(2)  # sources of an instant, before those that the policy asks for
Answer = Reference | Command


class PlatformResponder(ImageWait[Answer]):
    """Answers every instant once; one that comes again gets the same answer, an earlier one begins a new flight.

    At an instant at which the policy acts it waits for an image of the same period.

    Args:
        make: makes the policy of a flight.

    Attributes:
        policy: of the present flight.
        stamp: of the newest answer [ns]; -1 before the first.
        sequence: its state's number.
        answered: number of instants so far.
    """

    def __init__(self, make: Callable[[], FlyingPolicy]) -> None:
        self._make, self.answered = make, 0
        self._begin()
        self._senses = self.policy.asks_for
        self._parts = TimeSynchronizer(REFERENCE + 1 + len(self._senses))

    def _begin(self) -> None:
        """Begin a flight."""
        self.policy = self._make()
        self.stamp, self.sequence = -1, 0
        self._answer: Answer | None = None
        self._begin_images()

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
                velocities (2, n) of the arm's joints, or what the gripper holds and bears (2,).
        """
        source = REFERENCE + 1 + self._senses.index(sense)
        return self._completed(self._parts.take(source, stamp, 0, part))

    def _pilot(self) -> FlyingPolicy:
        """Policy of the present flight."""
        return self.policy

    def _completed(self, instant: Instant | None) -> Answer | None:
        if instant is None or instant.stamp < self.stamp:
            return None
        return self._try(instant)

    def _try(self, instant: Instant) -> Answer | None:
        """Answer an instant, unless it waits for an image."""
        if instant.stamp > self.stamp:
            (k, x, rpm), row, *parts = instant.parts
            if self._waits(instant, k):
                return None
            given = {sense.value: part for sense, part in zip(self._senses, parts, strict=True)}
            if Sense.WRENCH in self._senses:
                given[Sense.WRENCH.value] = _in_world(given[Sense.WRENCH.value], x[0, Q])
            self._answer = self.policy(k, x, rpm, row, Senses(**given))
            self.stamp, self.sequence = instant.stamp, k
            self.answered += 1
        return self._answer


def _in_world(wrench_P: Array, q_WP: Array) -> Array:
    """The wrench (6,) in world axes at an attitude (4,)."""
    out = np.zeros(6)
    to_world(wrench_P, q_WP, out)
    return out
