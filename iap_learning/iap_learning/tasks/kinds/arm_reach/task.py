# SPDX-License-Identifier: BSD-3-Clause
"""The task of reaching targets with an end effector as data, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Collection
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Real, Vec3
from iap_learning.tasks.kinds.arm_reach.observations import TERMS
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import Task
from iap_physics.identified.dynamics import SIZE


class VelocityRange(ActionRange):
    """Range of commanded velocities: u_l, u_m, u_n [m/s], yaw rate and joint rates [rad/s]."""

    kind: Literal["arm_velocity"]

    @property
    def columns(self) -> int:
        """Number of velocities."""
        return SIZE


class TargetBox(Record):
    """A box in which targets are drawn, evenly: from the end effector's start, along the axes of `map` [m]."""

    low: Vec3
    high: Vec3

    @model_validator(mode="after")
    def _has_a_volume(self) -> Self:
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError(f"key 'low': {self.low} must not be above 'high', {self.high}")
        return self


class ArmReachReward(Record):
    """The reward of a step, a sum of these; costs have negative weights."""

    closer: Real  # by how much the distance from the target has shrunk [1/m]
    time: Real  # [1/s]
    change: Real  # of the mean square of the action's change
    cut: Real  # of each joint whose command was cut to its limits
    success: Real  # in the step in which it has arrived
    failure: Real  # in place of all in the step in which it fails


class ReachCriterion(Record):
    """Conditions on which an episode has arrived."""

    distance: Positive  # of the end effector from the target [m]
    speed: Positive  # of the end effector [m/s]
    lasting: NonNegative  # for how long without a break [s]


class ArmReachTask(Task):
    """A task of reaching a target with an end effector on an identified plant; the scenario's path is not flown.

    Attributes:
        episodes: ``arm_reach``: what the file is.
        target: where targets are drawn.
        reward: of every step.
        success: when an episode has arrived.
        fails_beyond: distance of the end effector from the target at which it is out of bounds [m].
    """

    TERMS: ClassVar[Collection[str]] = TERMS

    episodes: Literal["arm_reach"]
    action: VelocityRange
    target: TargetBox
    reward: ArmReachReward
    success: ReachCriterion
    fails_beyond: Positive
