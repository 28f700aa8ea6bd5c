# SPDX-License-Identifier: BSD-3-Clause
"""What follows a task while it is flown."""

from typing import Any, Protocol

from iap_physics.plant.plant import Plant


class Judge(Protocol):
    """Follows a task, and ends the flight when it is over."""

    key: str  # of metrics.json
    missed: str  # outcome of a flight in which the task has not succeeded

    @property
    def is_over(self) -> bool:
        """Whether it is."""

    @property
    def failure(self) -> str | None:
        """Why the task has failed, or has not succeeded so far, in a sentence; None of a success."""

    def watch(self, plant: Plant) -> None:
        """Take the present instant."""

    def metrics(self, plant: Plant) -> dict[str, Any]:
        """What metrics.json says of it."""
