# SPDX-License-Identifier: BSD-3-Clause
"""Roles in the closed loop: agents command vehicles, guidance gives them references, observers look on.

A new part of a flight takes one of these roles or several of them; the loop knows no more of it.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from iap_description.errors import FlightFailed
from iap_description.signals import Reference, Step
from iap_description.states import Command
from iap_io.runs.columns import Columns
from iap_physics.plant.plant import Plant


class Agent(Protocol):
    """Commands vehicles in place of their own controllers."""

    def command(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """Commands of vehicles, by their numbers, at control instant k; it measures what it needs to know.

        Args:
            k: number of the instant; each comes once, in order.
            plant: at that instant.
            references: of all vehicles.
        """


class Guidance(Protocol):
    """Gives references in place of those of the vehicles' timelines, or changes them."""

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:
        """Put references of vehicles at control instant k in place of those that stand there.

        Args:
            k: number of the instant; each comes once, in order.
            plant: at that instant.
            references: of all vehicles, in their order.
        """


@runtime_checkable
class StepObserver(Protocol):
    """Takes every control step of every vehicle, such as a recorder."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take a control step of one vehicle; arrays are overwritten by the next."""


@runtime_checkable
class RowObserver(StepObserver, Protocol):
    """A step observer that takes many control steps at once as well."""

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take consecutive control steps of one vehicle; arrays are overwritten by the next call."""


@runtime_checkable
class FlightCheck(Protocol):
    """Ends a flight that has failed."""

    def check_flight(self, plant: Plant) -> None:
        """Check a control instant at which all vehicles have been commanded.

        Raises:
            FlightFailed: the flight has failed.
        """


@runtime_checkable
class EndCheck(Protocol):
    """Refuses to call a flight complete."""

    def end_flight(self, t: float) -> None:
        """Check a flight whose references have come to their end at a time [s].

        Raises:
            FlightFailed: the flight is not complete.
        """


@runtime_checkable
class PeriodObserver(Protocol):
    """Takes the plant at the end of every control period, and may end the flight."""

    @property
    def is_over(self) -> bool:
        """True if the flight is over."""

    def observe(self, plant: Plant) -> None:
        """Observe the present control instant."""


@runtime_checkable
class Pacing(Protocol):
    """Holds a flight back, and says how much of it may be flown in one go."""

    def allow(self, k: int, most: int) -> int:
        """Wait until the flight may go on from control instant k.

        Args:
            k: number of the instant; it may come again.
            most: number of periods that would be flown in one go.

        Returns:
            Number of periods that may be flown in one go, at most `most`; 0 lets the loop fly one as it always does,
            which agents and guidance take part in.
        """


Observer = StepObserver | FlightCheck | PeriodObserver | EndCheck | Pacing


class SensorSampler(Protocol):
    """All sensors of a run."""

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the present state at control instant k, and pass the readings on."""


class FastPeriods(Protocol):
    """Flies control periods of a single vehicle, with its own controller, faster than the loop does."""

    def fly(self, k: int, periods: int) -> tuple[Columns, FlightFailed | None]:
        """Fly from a control instant on.

        Args:
            k: its number.
            periods: largest number of periods to fly.

        Returns:
            Rows of the control instants, overwritten by the next call; and what has ended the flight after the last of
            them, None while it goes on.
        """
