# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which an arm's gripper takes a loose object and sets it down at a place."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Count, NonNegative, Positive, Real
from iap_learning.tasks.kinds.arm_pick.observations import TERMS
from iap_learning.tasks.late_sensors import DelayPeriods, WrenchSensorSpec
from iap_learning.tasks.touch_task import TimedReward, TouchAction, TouchTask

COLUMNS = 4


class PlaceSpec(Record):
    """Places of goals, of which each seed draws one evenly, from where the scenario has the object.

    Both are level, forwards and to the left of the platform at its start.

    Attributes:
        way: mean [m].
        width: half-widths [m].
    """

    way: tuple[Real, Real]
    width: tuple[NonNegative, NonNegative]


class PlaceSensorSpec(Record):
    """Errors of the object's place that is observed.

    Attributes:
        noise: standard deviation of each sample, per axis [m].
        bias: half-width of an even draw for each episode, per axis [m].
        hold: control periods between samples.
        delay: control periods after which one is known.
    """

    noise: NonNegative
    bias: NonNegative
    hold: Count
    delay: DelayPeriods


class GripperSensorSpec(Record):
    """Errors of what the gripper tells.

    Attributes:
        load_noise: standard deviation of the force that it bears, in each control period [N].
        load_bias: half-width of an even draw for each episode [N].
        delay: control periods after which force and hold are known.
    """

    load_noise: NonNegative
    load_bias: NonNegative
    delay: DelayPeriods


class PickSuccess(Record):
    """Demands on a pick; forces of contacts are means over a control period.

    Attributes:
        near: largest level distance of the object from its goal, and largest height from its first one [m].
        speed: largest of the object at its goal [m/s].
        lasting: time for which it rests there, let go [s].
        lift: least height to which it is raised on its way [m].
        drop: height from which on it has been dropped, where it leaves the gripper [m].
        tilt_deg: from which on the object has toppled [deg].
        peak: largest force of contacts on the platform [N].
    """

    near: Positive
    speed: Positive
    lasting: Positive
    lift: NonNegative
    drop: Positive
    tilt_deg: Positive
    peak: Positive


class PickReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        reach: of what the tip has come nearer to the object before it takes it [1/m].
        take: once, of the first hold.
        lift: of what the object has been raised further, as far as it shall [1/m].
        nearer: of what the object has come nearer to its goal [1/m].
        force: of the force [1/(N s)].
    """

    reach: Real
    take: Real
    lift: Real
    nearer: Real
    force: Real


class TipAndGripper(TouchAction):
    """Four numbers: velocities of the tip's reference [m/s], and the gripper, which closes above zero.

    Velocities are forwards, to the left and up in level axes of the platform at its start.
    """

    kind: Literal["tip_and_gripper"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return COLUMNS


class PickTask(TouchTask):
    """An object of the scenario that lies loose is taken by its gripper, until it rests at its goal.

    Attributes:
        goal: where it shall be.
        ease: time constant with which the tip's reference takes up a velocity [s]; jumps let a load swing.
        sensor: of the wrench that is observed.
        object_sensor: of the object's place that is observed.
        gripper_sensor: of what the gripper tells.
        reward: of each step.
        success: demands.
    """

    TERMS = TERMS

    episodes: Literal["arm_pick"]
    action: TipAndGripper
    ease: Positive
    goal: PlaceSpec
    sensor: WrenchSensorSpec
    object_sensor: PlaceSensorSpec
    gripper_sensor: GripperSensorSpec
    reward: PickReward
    success: PickSuccess
