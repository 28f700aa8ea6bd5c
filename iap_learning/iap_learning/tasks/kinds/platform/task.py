# SPDX-License-Identifier: BSD-3-Clause
"""A task: what flies, what is commanded, seen and wanted, read from ``data/tasks/NAME.yaml``."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from iap_description.config.record import Record, validate
from iap_description.config.values import Count, Flag, NonNegative, Positive
from iap_learning.tasks.depth_numbers import DepthImage
from iap_learning.tasks.kinds.platform.quantities import AnyQuantity
from iap_learning.tasks.kinds.platform.rewards import Reward
from iap_learning.tasks.kinds.platform.term_table import TERMS
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import TASKS, Task, task_tree
from iap_learning.tasks.user_terms import is_user_function
from iap_simulation.batch.actions import KINDS, action_size

ESTIMATED = "estimated"  # value of the key `observed`
MAX_HISTORY = 1000  # steps that are observed at once
ImageAge = Annotated[int, Field(strict=True, ge=0, le=MAX_HISTORY)]


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

    def size(self, aircraft: int) -> int:
        """Numbers of an action on a platform of N aircraft."""
        return action_size(self.kind, aircraft) if self.function is None else len(self.low)


class TaskSuccess(Record):
    """Conditions on which an episode has succeeded.

    Attributes:
        within: bounds that all these quantities must keep to.
        lasting: for how long without a break, until the end of the episode [s].
        ends: whether the episode ends as soon as they have.
    """

    within: Annotated[dict[AnyQuantity, NonNegative], Field(min_length=1)]
    lasting: NonNegative
    ends: Flag


class PlatformTask(Task):
    """A task of one platform.

    Attributes:
        platform: that flies; None takes the scenario's.
        goal: the scenario's reference at the present instant, or its last one.
        history: steps whose terms are observed, the present one first; those before the first are the first.
        observed: what terms of states are made of: the truth, what controllers have measured of it last, or the
            estimate that the vehicle goes by (`control.state_source`).
        depth: the image that follows the terms of an observation; None where a policy observes none.
        image_ages: steps ago of the images that are observed, ascending from 0, which is the present one.
        reward: of every step.
        success: of an episode.
        fails_beyond: quantities that end an episode as a failure once they are above this.
        clearance: how close to obstacles the platform's origin may come, else it has collided [m]; None: as it likes.
    """

    TERMS: ClassVar[Collection[str]] = TERMS
    LATER: ClassVar[tuple[str, ...]] = ("history", "observed", "image_ages")

    platform: str | None
    goal: Literal["present", "last"]
    action: CommandRange
    history: Annotated[Count, Field(le=MAX_HISTORY)] = 1
    observed: Literal["truth", "measured", "estimated"] = "truth"
    depth: DepthImage | None
    image_ages: Annotated[tuple[ImageAge, ...], Field(min_length=1)] = (0,)
    reward: Reward
    success: TaskSuccess
    fails_beyond: dict[AnyQuantity, NonNegative]
    clearance: Positive | None

    @field_validator("image_ages")
    @classmethod
    def _ascend_from_zero(cls, ages: tuple[int, ...]) -> tuple[int, ...]:
        if ages[0] != 0 or any(later <= age for age, later in pairwise(ages)):
            raise ValueError("ascend from 0")
        return ages

    @model_validator(mode="after")
    def _has_images(self) -> Self:
        if self.depth is None and len(self.image_ages) > 1:
            raise ValueError("key 'image_ages': there are no images without key 'depth'")
        return self

    @property
    def own_quantities(self) -> dict[str, str]:
        """Quantities of the user's own, each with the key that names it, but for those of the key `own`."""
        terms = self.reward.terms.items()
        named = {
            factor.of: f"reward.terms.{name}" for name, term in terms for factor in term.factors
        }
        named |= dict.fromkeys(self.success.within, "success.within")
        named |= dict.fromkeys(self.fails_beyond, "fails_beyond")
        return {name: key for name, key in named.items() if is_user_function(name)}

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
