# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a patch sticks to a wall."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Real
from iap_learning.tasks.kinds.perch_on_wall.observations import TERMS
from iap_learning.tasks.late_sensors import DelayPeriods
from iap_learning.tasks.touch_task import NormalVelocity, TimedReward, TouchTask


class RangeSensorSpec(Record):
    """Errors of the range that is observed.

    Attributes:
        range_noise: standard deviation of each control period's range [m].
        closing_noise: likewise of its rate [m/s].
        range_bias: half-width of an even draw for each episode [m].
        closing_bias: likewise of its rate [m/s].
        delay: control periods after which they are known.
    """

    range_noise: NonNegative
    closing_noise: NonNegative
    range_bias: NonNegative
    closing_bias: NonNegative
    delay: DelayPeriods


class PerchSuccess(Record):
    """Demands on a perch; forces are means over a control period.

    Attributes:
        lasting: time for which the lock holds [s].
        peak: largest force [N].
    """

    lasting: Positive
    peak: Positive


class PerchReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        approach: of what the range has shrunk beyond its least so far [1/m].
        hold: of the time that the lock holds [1/s].
        force: of the force before it does [1/(N s)].
    """

    approach: Real
    hold: Real
    force: Real


class PerchTask(TouchTask):
    """A platform that sticks to a wall by a latch of the scenario, whose socket is that wall.

    Attributes:
        latch: name of the latch.
        sensor: of the range that is observed.
        centering: rate at which the platform goes back to its line of approach, and turns back [1/s].
        reward: of each step.
        success: demands.
    """

    TERMS = TERMS

    episodes: Literal["perch_on_wall"]
    action: NormalVelocity
    latch: str
    sensor: RangeSensorSpec
    centering: Positive
    reward: PerchReward
    success: PerchSuccess
