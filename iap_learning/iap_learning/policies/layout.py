# SPDX-License-Identifier: BSD-3-Clause
"""The meaning of a policy's numbers, platform, rate, observation and action, and the header of its file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import Field, model_validator

from iap_description.config.record import ExtendedRecord, Record
from iap_description.config.values import Count, FileName, Hertz, Positive, Real
from iap_description.errors import BadInput, shown
from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.blocks.gru import Gru

TermLayout = tuple[
    tuple[str, int, float], ...
]  # of an observation: terms, their numbers, and by what they are divided

Activation = Literal["tanh"]
AnyBlock = Annotated[
    Convolution | Gru, Field(discriminator="kind")
]  # kinds of blocks, by that key


class TaskActions(Protocol):
    """A task, as far as it says what its actions mean."""

    @property
    def action(self) -> Any:  # noqa: ANN401 - a range of its kind
        """Kind of action with its bounds `low` and `high`."""

    @property
    def repeat(self) -> int:
        """Control periods of a step."""


class ActionLayout(Record):
    """The meaning of the numbers of an action, which a policy gives in [-1, 1].

    Attributes:
        kind: of action.
        low: what -1 stands for, in SI units, of each column.
        high: what 1 stands for.
    """

    kind: str
    low: tuple[Real, ...]
    high: tuple[Real, ...]


class Layout(Record):
    """The meaning of a policy's numbers.

    Attributes:
        platform: that flies.
        rate_hz: at which it is asked.
        observation: terms one after the other: name, numbers, and by what they are divided.
        action: that follows.
    """

    platform: str
    rate_hz: Hertz
    observation: Annotated[tuple[tuple[str, Count, Positive], ...], Field(min_length=1)]
    action: ActionLayout

    @classmethod
    def of(
        cls, task: TaskActions, terms: TermLayout, size: int, platform: str, control_hz: float
    ) -> Self:
        """The layout of a task.

        Args:
            task: what is to be done.
            terms: of an observation.
            size: numbers of an action.
            platform: its name.
            control_hz: rate of control periods.
        """
        bounds, rate = task.action, control_hz / task.repeat
        repeats = size // len(bounds.low)
        action = ActionLayout(
            kind=bounds.meaning, low=bounds.low * repeats, high=bounds.high * repeats
        )
        return cls(platform=platform, rate_hz=rate, observation=terms, action=action)

    @property
    def size(self) -> int:
        """Numbers of an observation."""
        return sum(size for _, size, _ in self.observation)

    def check(self, other: "Layout", source: str, owner: str) -> None:
        """Refuse to stand for another layout.

        Args:
            other: what is needed.
            source: file of this one, for the error.
            owner: whose layout the other one is, for the error.

        Raises:
            BadInput: naming the first key that differs.
        """
        for key, mine, theirs in _differences(self, other):
            raise BadInput(
                f"{source}: key '{key}': {shown(mine)}, but {owner} has {shown(theirs)}"
            )


def _differences(mine: Layout, other: Layout) -> Iterator[tuple[str, object, object]]:
    """Keys at which two layouts differ, with both values."""
    a, b = mine.model_dump(), other.model_dump()
    pairs = [(key, a[key], b[key]) for key in ("platform", "rate_hz")]
    pairs += [(f"action.{key}", a["action"][key], b["action"][key]) for key in a["action"]]
    names = [[term[0] for term in each["observation"]] for each in (a, b)]
    pairs.append(("observation", names[0], names[1]))
    terms = zip(a["observation"], b["observation"], strict=False)
    pairs += [(f"observation.{mine[0]}", mine[1:], theirs[1:]) for mine, theirs in terms]
    return ((key, x, y) for key, x, y in pairs if x != y)


class Trainable(Protocol):
    """Episodes, as far as a policy's header tells of them."""

    @property
    def task(self) -> Any:  # noqa: ANN401 - of any kind
        """The task."""

    @property
    def worlds(self) -> Any:  # noqa: ANN401 - of any kind
        """Worlds that fly."""

    @property
    def policy_layout(self) -> Layout:
        """Meaning of a policy's numbers."""


class Hashes(Record):
    """SHA-256 of what a policy was trained with, in hexadecimal.

    Attributes:
        task: the resolved task as JSON.
        data: the data set; None without one.
    """

    task: str
    data: str | None


class Header(ExtendedRecord, Layout):
    """The header of a policy's file, as JSON beside the arrays.

    Attributes:
        format: of the file.
        task: that it was trained for.
        scenario: the same.
        activation: of hidden layers of the perceptron; the last one is linear.
        blocks: between the observation and the perceptron, one after the other.
        hashes: of what it was trained with.
        settings: values of the task's keys by their dotted paths, over those of its file.
        definition: all keys of a task that does not ship with the suite; None for one that does.
        training: whatever the training notes.
    """

    LATER: ClassVar[tuple[str, ...]] = ("blocks",)

    format: Literal[1] = 1
    task: FileName
    scenario: str
    activation: Activation
    blocks: tuple[AnyBlock, ...] = ()
    hashes: Hashes
    settings: dict[str, Any] = {}
    definition: dict[str, Any] | None = None
    training: dict[str, Any]

    @classmethod
    def for_episodes(
        cls,
        episodes: Trainable,
        training: Mapping[str, Any],
        *,
        settings: Mapping[str, Any] | None = None,
        data: str | None = None,
        blocks: Sequence[AnyBlock] = (),
    ) -> Self:
        """The header of a policy that flies a task.

        Args:
            episodes: of the task.
            training: whatever the training notes.
            settings: of the task's keys, with which it was made.
            data: hash of the data set; None without one.
            blocks: before the perceptron.
        """
        return cls(
            **dict(episodes.policy_layout),
            task=episodes.task.name,
            definition=episodes.task.definition,
            scenario=episodes.worlds.scenario.scenario,
            activation="tanh",
            blocks=tuple(blocks),
            hashes=Hashes(task=episodes.task.digest, data=data),
            settings=dict(settings or {}),
            training=dict(training),
        )

    @model_validator(mode="after")
    def _feeds_every_block(self) -> Self:
        _ = self.features
        return self

    @property
    def inputs(self) -> tuple[int, ...]:
        """Numbers before each block."""
        sizes = [self.size]
        for block in self.blocks[:-1]:
            sizes.append(block.outputs(sizes[-1]))
        return tuple(sizes[: len(self.blocks)])

    @property
    def features(self) -> int:
        """Numbers before the perceptron."""
        return self.blocks[-1].outputs(self.inputs[-1]) if self.blocks else self.size

    @property
    def shapes(self) -> tuple[dict[str, tuple[int, ...]], ...]:
        """Shapes of every block's arrays, by their names."""
        parts = zip(self.blocks, self.inputs, strict=True)
        return tuple(block.shapes(size) for block, size in parts)

    @property
    def layout(self) -> Layout:
        """The meaning of the numbers, alone."""
        return Layout.model_construct(**{key: getattr(self, key) for key in Layout.model_fields})
