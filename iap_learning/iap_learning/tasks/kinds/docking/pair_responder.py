# SPDX-License-Identifier: BSD-3-Clause
"""Answers to states of a docking pair, once all that was measured with them has come in messages."""

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from iap_description.arrays import Array
from iap_io.ros.synchronizer import Instant, TimeSynchronizer
from iap_simulation.docking.pair_pilot import PairPilot, Sensed


class Source(IntEnum):
    """Inputs of an answer: of target and chaser the measured row and the wrench, and whether the latch holds."""

    TARGET, CHASER, TARGET_WRENCH, CHASER_WRENCH, LATCHED = range(5)


class PairResponder:
    """Answers every instant once; one that comes again gets the same answer, an earlier one begins a new flight.

    Args:
        make: makes the pilot of a flight.

    Attributes:
        pilot: of the present flight.
        stamp: of the newest answer [ns]; -1 before the first.
        sequence: its state's number.
        answer: (2, 4) thrust [N] and body rates [rad/s] of target and chaser.
        answered: number of instants so far.
    """

    def __init__(self, make: Callable[[], PairPilot]) -> None:
        self._make, self.answered = make, 0
        self.answer, self._parts = np.zeros((2, 4)), TimeSynchronizer(len(Source))
        self._begin()

    def _begin(self) -> None:
        """Begin a flight, of which some parts may be there."""
        self.pilot = self._make()
        self.stamp, self.sequence = -1, 0

    def take(self, source: Source, stamp: int, sequence: int, part: object) -> Array | None:
        """Take a part of an instant, an array of its own; returns the answer that it completes.

        Args:
            source: whose part it is.
            stamp: simulation time [ns].
            sequence: number of the state, of states and latches; 0 of wrenches.
            part: measured row (13,), wrench (6,) in the vehicle's axes, or whether the latch holds.
        """
        if source == Source.TARGET and stamp < self.stamp:  # simulation time began anew
            self._begin()
        instant = self._parts.take(source, stamp, sequence, (sequence, part))
        if instant is None or instant.stamp < self.stamp:
            return None
        if instant.stamp > self.stamp:
            self._answer(instant)
        return self.answer

    def _answer(self, instant: Instant) -> None:
        numbers, parts = zip(*instant.parts, strict=True)
        target, chaser, *wrenches, latched = parts
        sensed = Sensed(np.stack([target, chaser]), np.stack(wrenches), latched)
        k = numbers[Source.TARGET]  # whichever part has come last
        self.answer[:] = self.pilot(k, sensed)
        self.stamp, self.sequence = instant.stamp, k
        self.answered += 1
