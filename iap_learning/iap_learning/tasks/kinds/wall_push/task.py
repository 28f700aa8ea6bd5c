# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a tool pushes on a wall."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, NonNegativeCount, Positive, Real
from iap_learning.tasks.kinds.wall_push.observations import TERMS
from iap_learning.tasks.late_sensors import DelayPeriods
from iap_learning.tasks.touch_task import NormalVelocity, TouchReward, TouchTask


class ForceSensorSpec(Record):
    """Errors of the force that is observed.

    Attributes:
        noise: standard deviation of each control period's [N].
        bias: half-width of an even draw for each episode [N].
        delay: control periods after which it is known.
        touch: force from which on the wall is felt [N].
    """

    noise: NonNegative
    bias: NonNegative
    delay: DelayPeriods
    touch: Positive


class PushSuccess(Record):
    """Demands on a push; forces are means over a control period.

    Attributes:
        force_rmse: largest from the desired force, over the end of the episode [N].
        lasting: length of that end [s]; of a shorter episode all of it.
        peak: largest force [N].
        losses: most losses of contact.
        slip: furthest of the tip from where it touched first, along the wall [m].
    """

    force_rmse: Positive
    lasting: Positive
    peak: Positive
    losses: NonNegativeCount
    slip: Positive


class PushReward(TouchReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        error: of the force's error, at most the desired force [1/(N s)].
        peak: of the force beyond twice the desired one [1/(N s)].
    """

    error: Real
    peak: Real


class WallPushTask(TouchTask):
    """A push on an object of the scenario, with the force of its key `push`, along one axis of P.

    Attributes:
        wall: name of the object.
        sensor: of the force that is observed.
        centering: rate at which the platform goes back to its line of approach, and turns back [1/s].
        reward: of each step.
        success: demands at an episode's end.
    """

    TERMS = TERMS

    episodes: Literal["wall_push"]
    action: NormalVelocity
    wall: str
    sensor: ForceSensorSpec
    centering: Positive
    reward: PushReward
    success: PushSuccess
