# SPDX-License-Identifier: BSD-3-Clause
"""Monitors of tasks: they follow a flight instant by instant, end it when its task is over, and report."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from iap_description.arrays import Array
from iap_physics.latching.latches import LatchEvent, Phase


class ObservedLatches(Protocol):
    """Latches as monitors read them, see `iap_physics.latching.latches.Latches`."""

    @property
    def events(self) -> Sequence[LatchEvent]:
        """Events since the start, in order."""

    def phase(self, name: str) -> Phase:
        """Phase of a latch."""


class ObservedPlant(Protocol):
    """A flight as monitors read it: the plant of the closed loop, or a replay of the topics of nodes."""

    @property
    def t(self) -> float:
        """Simulation time [s]."""

    def part(self, kind: type[Any]) -> Any:  # noqa: ANN401 - of that kind, or what reads like it
        """The first part of a kind, such as `iap_physics.latching.latches.Latches`; None where there is none."""

    def state(self, vehicle: int) -> Array:
        """(1, bodies, 13) state of a vehicle."""

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the world's objects."""

    def contact_wrench(self, vehicle: int) -> Array:
        """(6,) wrench of contact and latches on a vehicle, mean over the last control period [N, N m]."""


PlantT = TypeVar("PlantT", contravariant=True)  # what a monitor reads, such as `ObservedPlant`


class TaskMonitor(ABC, Generic[PlantT]):
    """Follows a task, and ends the flight when it is over.

    Attributes:
        key: of metrics.json.
        missed: outcome of a flight whose task has not succeeded.
    """

    key: str
    missed: str

    @property
    def is_over(self) -> bool:
        """True if the task has come to its end; False of one that ends with the references."""
        return False

    @property
    @abstractmethod
    def failure(self) -> str | None:
        """Why the task has failed, or has not succeeded so far, in a sentence; None of a success."""

    @property
    @abstractmethod
    def success(self) -> str:
        """Sentence about a task that has not failed; empty where the flight alone counts."""

    @abstractmethod
    def observe(self, plant: PlantT) -> None:
        """Observe the present control instant, each once and in order, from the second one on."""

    def warm_up(self) -> None:  # noqa: B027 - most have nothing that takes long
        """Compile what `observe` runs, before time goes on, and observe nothing; nothing by default."""

    @abstractmethod
    def metrics(self, plant: PlantT) -> dict[str, Any]:
        """Value of the key in metrics.json."""

    def events(self, plant: PlantT) -> list[dict[str, Any]]:  # noqa: ARG002 - as others need it
        """Events so far, as `metrics` has them: times ``t_s`` [s] and words; none by default."""
        return []

    def write(self, folder: Path) -> None:
        """Write into a run folder what is recorded besides; nothing by default.

        Raises:
            RecordingFailed: that is not possible.
        """
