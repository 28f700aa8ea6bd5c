# SPDX-License-Identifier: BSD-3-Clause
"""Keys that tasks in worlds with contact share."""

from abc import abstractmethod
from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Real
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import Task


class TouchReward(Record):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        change: of the mean square of the action's change.
        success: at the end.
        failure: at the end.
    """

    change: Real
    success: Real
    failure: Real


class TimedReward(TouchReward):
    """Rewards of a step with a cost of time.

    Attributes:
        time: of the time flown [1/s].
    """

    time: Real


class TouchAction(ActionRange):
    """Numbers of a reference, which the suite's law flies."""

    @property
    def gives_references(self) -> bool:
        """True: its outputs are references for the vehicle's controller."""
        return True

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of columns."""


class NormalVelocity(TouchAction):
    """One number: the velocity of the platform towards the wall [m/s]."""

    kind: Literal["normal_velocity"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return 1


class TouchTask(Task):
    """A task in worlds with contact.

    Attributes:
        action: what actions stand for.
        reward: of each step.
    """

    action: TouchAction
    reward: TouchReward

    def periods(self, dt: float) -> int:
        """Control periods of dt [s] in an episode, a whole number of steps."""
        return self.repeat * max(1, round(self.seconds / (self.repeat * dt)))
