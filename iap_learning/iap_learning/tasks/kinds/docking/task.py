# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking as data: what is commanded, seen and rewarded, read from ``data/tasks/NAME.yaml``."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from iap_description.config.record import (
    Count,
    FileName,
    Flag,
    NonNegative,
    Positive,
    Real,
    Record,
)
from iap_learning.tasks.kinds.docking.actions import KINDS
from iap_learning.tasks.kinds.docking.observations import TERMS
from iap_learning.tasks.terms import known_terms


class DockingAction(Record):
    """What the numbers of an action mean, which a policy gives in [-1, 1].

    Attributes:
        kind: see `iap_learning.tasks.kinds.docking.actions`.
        low: what -1 stands for, in SI units, of each column of one aircraft; target and chaser have the same.
        high: what 1 stands for.
        compensated: whether the estimated disturbance is taken from accelerations.
    """

    kind: Literal["acceleration", "thrust_rates", "printed"]
    low: tuple[Real, ...]
    high: tuple[Real, ...]
    compensated: Flag

    @model_validator(mode="after")
    def _are_bounds(self) -> Self:
        size = KINDS[self.kind].size
        for key in ("low", "high"):
            if len(getattr(self, key)) != size:
                raise ValueError(f"key '{key}': kind '{self.kind}' has {size} columns")
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError("key 'low': it must not be above 'high'")
        if self.compensated and self.kind != "acceleration":
            raise ValueError(f"key 'compensated': kind '{self.kind}' commands no accelerations")
        return self


class Potential(Record):
    """Weights of the potential whose growth is rewarded, see `iap_learning.tasks.kinds.docking.rewards`."""

    along: Real  # distance of the probe's end from its place in the latch along the socket's axis [1/m]
    aside: Real  # from the axis [1/m]
    angle: Real  # between the axes of both ports [1/rad]
    latched: Real  # while the latch holds


class DockingReward(Record):
    """The reward of a step, a sum of these; costs have negative weights."""

    potential: Potential
    time: Real  # [1/s]
    force: Real  # of the largest force in the step above `gentle_force` [1/N]
    gentle_force: NonNegative  # [N]
    change: Real  # of the mean square of the action's change
    touch: Real  # of the closing speed at the first touch above `gentle_touch` [s/m]
    gentle_touch: NonNegative  # [m/s]
    success: Real  # in the step in which the docking has succeeded
    failure: Real  # in the step in which it fails


class DockingTask(Record):
    """A task of docking.

    Attributes:
        name: of its file.
        episodes: ``docking``: what the file is.
        description: one sentence.
        scenario: its name or file, which says what flies and when a docking has succeeded.
        settings: of the scenario's keys, by their dotted paths.
        platform: that both are; None takes the scenario's.
        action: what is commanded.
        observation: its terms, see `iap_learning.tasks.kinds.docking.observations`, and by what each is divided.
        reward: of every step.
        fails_beyond: distance of an aircraft from its place of reference at which it is out of bounds [m].
        force: largest on a vehicle (mean over a control period), beyond which an episode fails [N].
        seconds: time limit of an episode [s].
        repeat: control periods of a step.
    """

    name: FileName
    episodes: Literal["docking"]
    description: str
    scenario: str
    settings: dict[str, Any]
    platform: str | None
    action: DockingAction
    observation: Annotated[dict[str, Positive], Field(min_length=1)]
    reward: DockingReward
    fails_beyond: Positive
    force: Positive
    seconds: Positive
    repeat: Count

    @field_validator("observation")
    @classmethod
    def _are_known(cls, observation: dict[str, float]) -> dict[str, float]:
        return known_terms(observation, TERMS)
