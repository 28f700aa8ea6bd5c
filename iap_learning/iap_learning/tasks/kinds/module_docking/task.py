# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking modules as data, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Collection
from typing import ClassVar, Literal

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Real
from iap_learning.tasks.kinds.module_docking.observations import TERMS
from iap_learning.tasks.kinds.platform.task import CommandRange
from iap_learning.tasks.task import Task


class ModuleDockingPotential(Record):
    """ModuleDockingWeights of the potential whose growth is rewarded, at the true states."""

    along: Real  # distance of the faces along their axis [1/m]
    aside: Real  # across it [1/m]
    angle: Real  # between both attitudes [1/rad]


class ModuleDockingReward(Record):
    """The reward of a step, a sum of these; costs have negative weights."""

    potential: ModuleDockingPotential
    time: Real  # [1/s]
    change: Real  # of the mean square of the action's change
    touch: Real  # of the closing speed at the catch above `gentle_touch` [s/m]
    gentle_touch: NonNegative  # [m/s]
    success: Real  # in the step in which the latch catches
    failure: Real  # in the step in which it fails


class ModuleDockingTask(Task):
    """A task of docking one module onto another.

    The latch catches by the thresholds of the scenario's `modules.machine.approach`, on low-passed measured poses, as
    the coordinator has it. `repeat` is a multiple of the periods of the coordination.

    Attributes:
        episodes: ``module_docking``: what the file is.
        platform: that both are; None takes the scenario's.
        action: what is commanded of the follower.
        reward: of every step.
        closing_speed: at the catch, beyond which an episode fails [m/s].
        overlap: of the faces without a catch, beyond which they have collided [m].
        fails_beyond: distance of the follower from its place before the leader at which it is out of bounds [m].
    """

    TERMS: ClassVar[Collection[str]] = TERMS

    episodes: Literal["module_docking"]
    platform: str | None
    action: CommandRange
    reward: ModuleDockingReward
    closing_speed: Positive
    overlap: Positive
    fails_beyond: Positive
