# SPDX-License-Identifier: BSD-3-Clause
"""A mission of modules: joints that are made and opened one after the other, with pauses."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from iap_control.modules.exchange import LatchOrder, ModuleReports
from iap_control.modules.joint_machine import JointMachine, JointState
from iap_control.modules.settings import HoverStep, JoinStep, MissionStep


class Joiner(Protocol):
    """Makes and opens joints, as a coordinator does."""

    @property
    def machines(self) -> Mapping[str, JointMachine]:
        """State machines of all joints, by their names."""

    @property
    def failure(self) -> str | None:
        """Why a docking has failed; None where none has."""

    def join(self, name: str, reports: ModuleReports) -> list[LatchOrder]:
        """Let a joint's follower dock."""

    def part(self, name: str, reports: ModuleReports) -> None:
        """Let a joint open."""


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
            return self._begin(step, joiner, reports)
        if self._is_over(step, joiner, reports.t - self._begun):
            self.at, self._begun = self.at + 1, None
        return []

    def _begin(
        self, step: MissionStep, joiner: Joiner, reports: ModuleReports
    ) -> list[LatchOrder]:
        if isinstance(step, JoinStep):
            return joiner.join(step.join, reports)
        if not isinstance(step, HoverStep):
            joiner.part(step.part, reports)
        return []

    def _is_over(self, step: MissionStep, joiner: Joiner, elapsed: float) -> bool:
        if isinstance(step, HoverStep):
            return elapsed >= step.hover - 1e-9
        if isinstance(step, JoinStep):
            return joiner.machines[step.join].state == JointState.JOINED
        return joiner.machines[step.part].state == JointState.APART
