# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking as data: what is commanded, seen and rewarded, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Collection
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from iap_control.docking.missed_approach import MissedApproachSettings
from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative, Positive, Real
from iap_learning.tasks.depth_numbers import DepthImage
from iap_learning.tasks.kinds.docking.actions import KINDS
from iap_learning.tasks.kinds.docking.observations import TERMS
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import Task


class DockingAction(ActionRange):
    """Range of what is commanded of each aircraft; target and chaser have the same.

    Attributes:
        kind: see `iap_learning.tasks.kinds.docking.actions`.
        compensated: whether the estimated disturbance is taken from accelerations.
    """

    kind: Literal["acceleration", "thrust_rates", "printed"]
    compensated: Flag

    @property
    def columns(self) -> int:
        """Number of columns of the kind, for one aircraft."""
        return KINDS[self.kind].size

    @model_validator(mode="after")
    def _accelerates(self) -> Self:
        if self.compensated and self.kind != "acceleration":
            raise ValueError(f"key 'compensated': kind '{self.kind}' commands no accelerations")
        return self


class DockingPotential(Record):
    """DockingWeights of the potential whose growth is rewarded, see `iap_learning.tasks.kinds.docking.rewards`."""

    along: Real  # distance of the probe's end from its place in the latch along the socket's axis [1/m]
    aside: Real  # from the axis [1/m]
    angle: Real  # between the axes of both ports [1/rad]
    latched: Real  # while the latch holds


class DockingReward(Record):
    """The reward of a step, a sum of these; costs have negative weights."""

    potential: DockingPotential
    time: Real  # [1/s]
    force: Real  # of the largest force in the step above `gentle_force` [1/N]
    gentle_force: NonNegative  # [N]
    change: Real  # of the mean square of the action's change
    touch: Real  # of the closing speed at the first touch above `gentle_touch` [s/m]
    gentle_touch: NonNegative  # [m/s]
    success: Real  # in the step in which the docking has succeeded
    failure: Real  # in the step in which it fails


class DockingTask(Task):
    """A task of docking.

    Attributes:
        episodes: ``docking``: what the file is.
        platform: that both are; None takes the scenario's.
        reward: of every step.
        fails_beyond: distance of an aircraft from its place of reference at which it is out of bounds [m].
        force: largest on a vehicle (mean over a control period), beyond which an episode fails [N].
        missed_approach: when both back off, whatever the actions are; None leaves that to them.
        flies: aircraft that actions command; where it is the chaser alone, the target holds its place.
        depth: the image of the chaser's camera, which follows the terms of an observation; None where there is none.
    """

    TERMS: ClassVar[Collection[str]] = TERMS
    LATER: ClassVar[tuple[str, ...]] = ("flies", "depth")

    episodes: Literal["docking"]
    platform: str | None
    action: DockingAction
    reward: DockingReward
    fails_beyond: Positive
    force: Positive
    missed_approach: MissedApproachSettings | None = None
    flies: Literal["both", "chaser"] = "both"
    depth: DepthImage | None = None
