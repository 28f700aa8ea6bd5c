# SPDX-License-Identifier: BSD-3-Clause
"""A task: what flies, what is commanded, seen and wanted, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Mapping
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
    validate,
)
from iap_learning.tasks.files import TASKS, task_tree
from iap_learning.tasks.kinds.platform.observations import TERMS
from iap_learning.tasks.kinds.platform.quantities import Quantity
from iap_learning.tasks.kinds.platform.rewards import Reward
from iap_learning.tasks.terms import known_terms
from iap_simulation.batch.actions import KINDS, action_size


class ActionRange(Record):
    """What the numbers of an action mean, which a policy gives in [-1, 1].

    Attributes:
        kind: see `iap_simulation.batch.actions`.
        low: what -1 stands for, in SI units, of each column; those of an aircraft count for all.
        high: what 1 stands for.
    """

    kind: str
    low: tuple[Real, ...]
    high: tuple[Real, ...]

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"choose {', '.join(KINDS)}")
        return kind

    @model_validator(mode="after")
    def _are_bounds(self) -> Self:
        size = action_size(self.kind, 1)
        for key in ("low", "high"):
            if len(getattr(self, key)) != size:
                raise ValueError(f"key '{key}': kind '{self.kind}' has {size} columns")
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError("key 'low': it must not be above 'high'")
        return self


class DepthImage(Record):
    """The image of a depth camera that a policy sees.

    Attributes:
        preset: of depth cameras.
        settings: keys of it that are others here, such as ``width``.
        blocks: rows and columns of pixels of which a policy sees the nearest alone.
        inverse: a policy sees this depth over the measured one, at most 1, and 0 where nothing is measured [m]; None:
            it sees the depth over the largest, and 1 where nothing is measured.
    """

    preset: str
    settings: dict[str, Any]
    blocks: tuple[Count, Count] = (1, 1)
    inverse: Positive | None = None


class Success(Record):
    """When an episode has succeeded.

    Attributes:
        within: bounds that all these quantities must keep to.
        lasting: for how long without a break, until the end of the episode [s].
        ends: whether the episode ends as soon as they have.
    """

    within: Annotated[dict[Quantity, NonNegative], Field(min_length=1)]
    lasting: NonNegative
    ends: Flag


class Task(Record):
    """A task.

    Attributes:
        name: of its file.
        description: one sentence.
        scenario: its name or file, which says what flies.
        settings: of the scenario's keys, by their dotted paths.
        platform: that flies; None takes the scenario's.
        goal: the scenario's reference at the present instant, or its last one.
        action: what is commanded.
        observation: its terms, see `observations`, and by what each is divided.
        depth: the image that follows them; None where a policy sees none.
        reward: of every step.
        success: of an episode.
        fails_beyond: quantities that end an episode as a failure once they are above this.
        clearance: how close to obstacles the platform's origin may come, else it has collided [m]; None: as it likes.
        seconds: time limit of an episode [s].
        repeat: control periods of a step.
    """

    name: FileName
    description: str
    scenario: str
    settings: dict[str, Any]
    platform: str | None
    goal: Literal["present", "last"]
    action: ActionRange
    observation: Annotated[dict[str, Positive], Field(min_length=1)]
    depth: DepthImage | None
    reward: Reward
    success: Success
    fails_beyond: dict[Quantity, NonNegative]
    clearance: Positive | None
    seconds: Positive
    repeat: Count

    @field_validator("observation")
    @classmethod
    def _are_known(cls, observation: dict[str, float]) -> dict[str, float]:
        return known_terms(observation, TERMS)

    @property
    def minds_obstacles(self) -> bool:
        """Whether it matters how far obstacles are."""
        factors = [factor for term in self.reward.terms.values() for factor in term.factors]
        named = {*self.success.within, *self.fails_beyond, *(factor.of for factor in factors)}
        return self.clearance is not None or "clearance" in named

    @classmethod
    def of(cls, name: str, settings: Mapping[str, Any] | None = None) -> Self:
        """A task by name, or by the path of a YAML file.

        Args:
            name: of it.
            settings: values of its keys by their dotted paths, such as ``{"action.kind": "wrench"}``.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        return validate(cls, task_tree(name, settings), source=str(TASKS.file_or_path(name)))
