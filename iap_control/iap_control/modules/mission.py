# SPDX-License-Identifier: BSD-3-Clause
"""A mission of modules: joints that are made and opened one after the other, with pauses."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from iap_control.modules.exchange import JointState, LatchOrder, ModuleReports
from iap_description.config.record import Record
from iap_description.config.values import NonNegative


class JointProgress(Protocol):
    """The state machine of a joint, as far as a mission follows it."""

    @property
    def state(self) -> JointState:
        """The present state."""


class Joiner(Protocol):
    """Makes and opens joints, as a coordinator does."""

    @property
    def machines(self) -> Mapping[str, JointProgress]:
        """State machines of all joints, by their names."""

    @property
    def failure(self) -> str | None:
        """Why a docking has failed; None where none has."""

    def join(self, name: str, reports: ModuleReports) -> list[LatchOrder]:
        """Let a joint's follower dock."""

    def part(self, name: str, reports: ModuleReports) -> None:
        """Let a joint open."""


class JoinStep(Record):
    """A step of a mission: two modules dock."""

    join: str

    @property
    def joint(self) -> str | None:
        """Name of the joint that it is about; None of none."""
        return self.join

    def begin(self, joiner: Joiner, reports: ModuleReports) -> list[LatchOrder]:
        """Begin it; returns orders to latches."""
        return joiner.join(self.join, reports)

    def is_over(self, joiner: Joiner, elapsed: float) -> bool:  # noqa: ARG002 - as of all steps
        """True if it is done, so long after its begin [s]."""
        return joiner.machines[self.join].state == JointState.JOINED


class PartStep(Record):
    """A step of a mission: two modules part."""

    part: str

    @property
    def joint(self) -> str | None:
        """Name of the joint, see `JoinStep`."""
        return self.part

    def begin(self, joiner: Joiner, reports: ModuleReports) -> list[LatchOrder]:
        """Begin it, see `JoinStep`."""
        joiner.part(self.part, reports)
        return []

    def is_over(self, joiner: Joiner, elapsed: float) -> bool:  # noqa: ARG002
        """True if it is done, see `JoinStep`."""
        return joiner.machines[self.part].state == JointState.APART


class HoverStep(Record):
    """A step of a mission: nothing for a while."""

    hover: NonNegative  # [s]

    @property
    def joint(self) -> str | None:
        """None: it is about no joint."""
        return None

    def begin(self, joiner: Joiner, reports: ModuleReports) -> list[LatchOrder]:  # noqa: ARG002
        """Begin it, see `JoinStep`."""
        return []

    def is_over(self, joiner: Joiner, elapsed: float) -> bool:  # noqa: ARG002
        """True if it is done, see `JoinStep`."""
        return elapsed >= self.hover - 1e-9


MissionStep = JoinStep | PartStep | HoverStep


class Mission:
    """Steps in their order, each begun when the last one is done.

    Args:
        steps: of it.

    Attributes:
        at: number of the present step; as many as there are steps when it is over.
        is_given_up: whether a docking has failed, after which no step is begun.
    """

    def __init__(self, steps: Sequence[MissionStep]) -> None:
        self._steps = tuple(steps)
        self.at, self.is_given_up = 0, False
        self._begun: float | None = None

    @property
    def is_done(self) -> bool:
        """True if all steps are done."""
        return self.at >= len(self._steps)

    def advance(self, joiner: Joiner, reports: ModuleReports) -> list[LatchOrder]:
        """Begin the present step, or the next one where this is done."""
        self.is_given_up |= joiner.failure is not None
        if self.is_done or self.is_given_up:
            return []
        step = self._steps[self.at]
        if self._begun is None:
            self._begun = reports.t
            return step.begin(joiner, reports)
        if step.is_over(joiner, reports.t - self._begun):
            self.at, self._begun = self.at + 1, None
        return []
