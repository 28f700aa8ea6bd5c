# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a rod pushes a loose object to a place."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Count, NonNegative, Positive, Real
from iap_learning.tasks.kinds.push_object.observations import TERMS
from iap_learning.tasks.late_sensors import DelayPeriods, WrenchSensorSpec
from iap_learning.tasks.touch_task import TimedReward, TouchAction, TouchTask

COLUMNS = 2


class GoalSpec(Record):
    """Places of goals, of which each seed draws one evenly; in level axes of the object at its start.

    Attributes:
        along: mean forwards [m].
        along_width: half-width of it [m].
        aside_width: half-width to the left and right [m].
    """

    along: Positive
    along_width: NonNegative
    aside_width: NonNegative


class ObjectSensorSpec(Record):
    """Errors of the object's pose that is observed.

    Attributes:
        noise: standard deviation of each sample, per axis [m].
        heading_noise_deg: likewise of the heading [deg].
        hold: control periods between samples.
        delay: control periods after which one is known.
    """

    noise: NonNegative
    heading_noise_deg: NonNegative
    hold: Count
    delay: DelayPeriods


class ShoveSuccess(Record):
    """Demands on a push; forces are means over a control period.

    Attributes:
        near: largest distance of the object from its goal [m].
        heading_deg: largest turn of the object from its start [deg].
        speed: largest of the object at its goal [m/s].
        lasting: time for which all this holds [s].
        tilt_deg: from which on the object has toppled [deg].
        peak: largest force [N].
    """

    near: Positive
    heading_deg: Positive
    speed: Positive
    lasting: Positive
    tilt_deg: Positive
    peak: Positive


class ShoveReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        nearer: of what the object has come nearer to its goal [1/m].
        force: of the force [1/(N s)].
    """

    nearer: Real
    force: Real


class LevelVelocity(TouchAction):
    """Two numbers: velocities of the tip's reference [m/s], forwards and to the left of the object at its start."""

    kind: Literal["level_velocity"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return COLUMNS


class ShoveTask(TouchTask):
    """A push on an object of the scenario that lies loose, until it is at its goal.

    Attributes:
        pushed: name of the object.
        goal: where it shall go.
        sensor: of the wrench that is observed.
        object_sensor: of the object's pose that is observed.
        reward: of each step.
        success: demands.
    """

    TERMS = TERMS

    episodes: Literal["push_object"]
    action: LevelVelocity
    pushed: str
    goal: GoalSpec
    sensor: WrenchSensorSpec
    object_sensor: ObjectSensorSpec
    reward: ShoveReward
    success: ShoveSuccess
