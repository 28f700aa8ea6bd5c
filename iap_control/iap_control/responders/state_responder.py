# SPDX-License-Identifier: BSD-3-Clause
"""Answers to states, once their references, and the wrenches measured there, have come in messages."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from iap_control.responders.inputs import Kind
from iap_control.responders.reference_input import ReferenceInput
from iap_control.responders.wrench_input import WrenchInput
from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible, is_unit
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import STATE_SIZE, Q

Answer = TypeVar("Answer")
SECOND = 1e9  # [ns]


@dataclass
class AnswerCounts:
    """Counts of states.

    Attributes:
        answered: states that got an answer.
        skipped: states that were overtaken by the next one before all that they needed came.
    """

    answered: int = 0
    skipped: int = 0


class StateResponder(ABC, Generic[Answer]):
    """Answers every state once.

    A state that comes again gets the same answer again, and advances nothing: so either side may
    repeat what may have been lost. A state that is older than the last one is a reset of the
    simulation, and everything starts again.

    Args:
        references: to be tracked.
        wrenches: the measured wrench; None where none is.

    Attributes:
        counts: what happened so far.
        stamp: of the last state [ns]; -1 before the first.
        sequence: its number.
        answer: to the last state, once it is there.
        tracked: the reference that it was made of; it changes with the next.
    """

    def __init__(self, references: ReferenceInput, wrenches: WrenchInput | None) -> None:
        self.references, self.wrenches = references, wrenches
        self.counts = AnswerCounts()
        self.stamp, self.sequence = -1, 0
        self.answer: Answer | None = None
        self.tracked: Reference | None = None
        self._x = np.zeros(STATE_SIZE)

    @abstractmethod
    def _compute(self, reference: Reference, wrench_P: Array | None) -> Answer:
        """The answer to the present state; the wrench is None where none is measured."""

    @abstractmethod
    def _begin_anew(self) -> None:
        """Simulation time started again."""

    def central(self, rows: Array) -> Array:
        """The row (13,) to answer of a platform's rows (bodies, 13)."""
        row: Array = rows[0]
        return row

    @property
    def t(self) -> float:
        """Simulation time of the last state [s]."""
        return self.stamp / SECOND

    @property
    def is_waiting(self) -> bool:
        """True if a state is there and something that its answer needs is not."""
        return self.stamp >= 0 and self.answer is None

    @property
    def waits_for_wrench(self) -> bool:
        """True if the last state waits for its wrench."""
        wrenches = self.wrenches
        return self.is_waiting and wrenches is not None and wrenches.is_awaited(self.stamp)

    @property
    def has_lost_wrench(self) -> bool:
        """True if a wrench should be measured and none comes."""
        return self.wrenches is not None and self.wrenches.is_lost

    def take_state(self, stamp: int, sequence: int, x: Array) -> Answer | None:
        """Take a state row (13,) of the central body; returns the answer if all that it needs is there.

        Raises:
            BadInput: the state is not finite, beyond all bounds, or its attitude is none.
        """
        if stamp == self.stamp and self.answer is not None:
            return self.answer
        if not are_plausible(x):
            raise BadInput("state: not finite, or beyond all bounds")
        if not is_unit(x[Q]):
            raise BadInput("state: its attitude is not a unit quaternion")
        if stamp < self.stamp:
            self._reset(stamp)
        elif self.is_waiting and stamp > self.stamp:
            self._overtake()
        self.stamp, self.sequence, self.answer = stamp, sequence, None
        self._x[:] = x
        return self._try()

    def take_reference(self, stamp: int, level: int, row: Array, wrench_P: Array) -> Answer | None:
        """Take a reference as `ReferenceInput.take` does; returns the answer if it completes one."""
        self.references.take(self.t, stamp, level, row, wrench_P)
        return self._try() if self.is_waiting else None

    def take_wrench(self, stamp: int, wrench_P: Array) -> Answer | None:
        """Take a measured wrench as `WrenchInput.take` does; returns the answer if it completes one."""
        assert self.wrenches is not None  # noqa: S101 - only nodes with a wrench topic call it
        self.wrenches.take(stamp, wrench_P)
        return self._try() if self.is_waiting else None

    def take_pose(self, stamp: float, pose: Array) -> None:
        """Follow a pose (7,) as `ReferenceInput.take_pose` does; `stamp` [s] of any clock."""
        self.references.take_pose(self.t, stamp, pose)

    def take_rates(self, kind: Kind, rates: Array, *, in_body: bool) -> None:
        """Follow a velocity or an acceleration (6,) as `ReferenceInput.take_rates` does."""
        self.references.take_rates(self.t, kind, rates, self._x[Q], in_body=in_body)

    def _reset(self, stamp: int) -> None:
        self._begin_anew()
        self.references.reset()
        if self.wrenches is not None:
            self.wrenches.reset(stamp)

    def _overtake(self) -> None:
        self.counts.skipped += 1
        if self.wrenches is not None and self.waits_for_wrench:
            self.wrenches.overtaken()

    def _try(self) -> Answer | None:
        """Answer the last state if all that it needs is there."""
        if self.waits_for_wrench:
            return None
        reference = self.references.at(self.t, self.stamp, self._x)
        if reference is None:
            return None
        measured_P = None if self.wrenches is None else self.wrenches.at(self.stamp)
        self.tracked = reference
        self.answer = self._compute(reference, measured_P)
        self.counts.answered += 1
        return self.answer
