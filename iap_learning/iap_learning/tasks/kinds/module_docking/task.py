# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking modules as data, read from ``data/tasks/NAME.yaml``."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from iap_description.config.record import Count, FileName, NonNegative, Positive, Real, Record
from iap_learning.tasks.kinds.module_docking.sight import TERMS
from iap_learning.tasks.kinds.platform.task import ActionRange
from iap_learning.tasks.terms import known_terms


class Potential(Record):
    """Weights of the potential whose growth is rewarded, at the true states."""

    along: Real  # distance of the faces along their axis [1/m]
    aside: Real  # across it [1/m]
    angle: Real  # between both attitudes [1/rad]


class ModuleDockingReward(Record):
    """The reward of a step, a sum of these; costs have negative weights."""

    potential: Potential
    time: Real  # [1/s]
    change: Real  # of the mean square of the action's change
    touch: Real  # of the closing speed at the catch above `gentle_touch` [s/m]
    gentle_touch: NonNegative  # [m/s]
    success: Real  # in the step in which the latch catches
    failure: Real  # in the step in which it fails


class ModuleDockingTask(Record):
    """A task of docking one module onto another.

    The latch catches by the thresholds of the scenario's `modules.machine.approach`, on low-passed measured poses, as
    the coordinator has it.

    Attributes:
        name: of its file.
        episodes: ``module_docking``: what the file is.
        description: one sentence.
        scenario: its name or file, which says what flies and what the latch catches.
        settings: of the scenario's keys, by their dotted paths.
        platform: that both are; None takes the scenario's.
        action: what is commanded of the follower.
        observation: its terms, see `iap_learning.tasks.kinds.module_docking.sight`, and by what each is divided.
        reward: of every step.
        closing_speed: at the catch, beyond which an episode fails [m/s].
        overlap: of the faces without a catch, beyond which they have collided [m].
        fails_beyond: distance of the follower from its place before the leader at which it is out of bounds [m].
        seconds: time limit of an episode [s].
        repeat: control periods of a step, a multiple of those of the coordination.
    """

    name: FileName
    episodes: Literal["module_docking"]
    description: str
    scenario: str
    settings: dict[str, Any]
    platform: str | None
    action: ActionRange
    observation: Annotated[dict[str, Positive], Field(min_length=1)]
    reward: ModuleDockingReward
    closing_speed: Positive
    overlap: Positive
    fails_beyond: Positive
    seconds: Positive
    repeat: Count

    @field_validator("observation")
    @classmethod
    def _are_known(cls, observation: dict[str, float]) -> dict[str, float]:
        return known_terms(observation, TERMS)
