# SPDX-License-Identifier: BSD-3-Clause
"""The task of reaching targets with an end effector as data, read from ``data/tasks/NAME.yaml``."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from iap_description.config.record import (
    Count,
    FileName,
    NonNegative,
    Positive,
    Real,
    Record,
    Vec3,
)
from iap_learning.tasks.kinds.arm_reach.sight import TERMS
from iap_learning.tasks.terms import known_terms
from iap_physics.identified.dynamics import CHANNELS, SIZE

Seven = Annotated[tuple[Real, ...], Field(min_length=SIZE, max_length=SIZE)]


class VelocityRange(Record):
    """What the numbers of an action mean, which a policy gives in [-1, 1]: commanded velocities of the plant.

    Attributes:
        kind: ``arm_velocity``.
        low: what -1 stands for: u_l, u_m, u_n [m/s], yaw rate and joint rates [rad/s].
        high: what 1 stands for.
    """

    kind: Literal["arm_velocity"]
    low: Seven
    high: Seven

    @model_validator(mode="after")
    def _are_bounds(self) -> Self:
        for name, low, high in zip(CHANNELS, self.low, self.high, strict=True):
            if low > high:
                raise ValueError(f"key 'low': of {name} it must not be above 'high'")
        return self


class Box(Record):
    """Where targets are drawn, evenly: from the end effector's start, along the axes of `map` [m]."""

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


class Reached(Record):
    """When an episode has arrived."""

    distance: Positive  # of the end effector from the target [m]
    speed: Positive  # of the end effector [m/s]
    lasting: NonNegative  # for how long without a break [s]


class ArmReachTask(Record):
    """A task of reaching a target with an end effector.

    Attributes:
        name: of its file.
        episodes: ``arm_reach``: what the file is.
        description: one sentence.
        scenario: of an arm on an identified plant, its name or file; its path is not flown.
        settings: of the scenario's keys, by their dotted paths.
        action: what is commanded.
        target: where targets are drawn.
        observation: its terms, see `iap_learning.tasks.kinds.arm_reach.sight`, and by what each is divided.
        reward: of every step.
        success: when an episode has arrived.
        fails_beyond: distance of the end effector from the target at which it is out of bounds [m].
        seconds: time limit of an episode [s].
        repeat: control periods of a step.
    """

    name: FileName
    episodes: Literal["arm_reach"]
    description: str
    scenario: str
    settings: dict[str, Any]
    action: VelocityRange
    target: Box
    observation: Annotated[dict[str, Positive], Field(min_length=1)]
    reward: ArmReachReward
    success: Reached
    fails_beyond: Positive
    seconds: Positive
    repeat: Count

    @field_validator("observation")
    @classmethod
    def _are_known(cls, observation: dict[str, float]) -> dict[str, float]:
        return known_terms(observation, TERMS)
