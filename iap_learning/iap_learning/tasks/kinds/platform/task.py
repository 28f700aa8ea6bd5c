# SPDX-License-Identifier: BSD-3-Clause
"""A task: what flies, what is commanded, seen and wanted, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator

from iap_description.config.record import (
    Count,
    Flag,
    NonNegative,
    Positive,
    Record,
    validate,
)
from iap_learning.tasks.kinds.platform.observations import TERMS
from iap_learning.tasks.kinds.platform.quantities import Quantity
from iap_learning.tasks.kinds.platform.rewards import Reward
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import TASKS, Task, task_tree
from iap_simulation.batch.actions import KINDS, action_size


class CommandRange(ActionRange):
    """Range of what is commanded of a platform, see `iap_simulation.batch.actions`."""

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"choose {', '.join(KINDS)}")
        return kind

    @property
    def columns(self) -> int:
        """Number of columns of the kind, for one aircraft."""
        return action_size(self.kind, 1)


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


class TaskSuccess(Record):
    """Conditions on which an episode has succeeded.

    Attributes:
        within: bounds that all these quantities must keep to.
        lasting: for how long without a break, until the end of the episode [s].
        ends: whether the episode ends as soon as they have.
    """

    within: Annotated[dict[Quantity, NonNegative], Field(min_length=1)]
    lasting: NonNegative
    ends: Flag


class PlatformTask(Task):
    """A task of one platform.

    Attributes:
        platform: that flies; None takes the scenario's.
        goal: the scenario's reference at the present instant, or its last one.
        depth: the image that follows the terms of an observation; None where a policy observes none.
        reward: of every step.
        success: of an episode.
        fails_beyond: quantities that end an episode as a failure once they are above this.
        clearance: how close to obstacles the platform's origin may come, else it has collided [m]; None: as it likes.
    """

    TERMS: ClassVar[Collection[str]] = TERMS

    platform: str | None
    goal: Literal["present", "last"]
    action: CommandRange
    depth: DepthImage | None
    reward: Reward
    success: TaskSuccess
    fails_beyond: dict[Quantity, NonNegative]
    clearance: Positive | None

    @property
    def minds_obstacles(self) -> bool:
        """True if it matters how far obstacles are."""
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
