# SPDX-License-Identifier: BSD-3-Clause
"""When a flight has failed: crashed into the ground, overturned, or lost its way. Collisions are noted, not fatal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import FlightFailed
from iap_physics.engines.engine import WORLD
from iap_physics.plant import Plant
from iap_simulation.vehicle import Vehicle

Array = NDArray[np.float64]
FAR = 10.0  # from the reference [m]


def is_far(row: Array, reference: Array) -> bool:
    """Whether a body's row (3+) is further than `FAR` from a reference row (3+) along an axis."""
    return bool(max(abs(row[j] - reference[j]) for j in range(3)) > FAR)


@dataclass
class FlightMonitor:
    """Looks at every control step.

    Attributes:
        pilots: the vehicles, in the plant's order.
        collisions: first touch of every pair, as (t, name, name).
    """

    pilots: Sequence[Vehicle]
    collisions: list[tuple[float, str, str]] = field(default_factory=list)
    _touched: dict[int, list[float]] = field(default_factory=dict)

    @property
    def collision_records(self) -> list[dict[str, Any]]:
        """The collisions as metrics.json has them."""
        return [{"t_s": t, "vehicles": [a, b]} for t, a, b in self.collisions]

    def check(self, plant: Plant) -> None:
        """Note collisions and end a failed flight.

        Raises:
            FlightFailed: crash or divergence.
        """
        for i, pilot in enumerate(self.pilots):
            row = plant.state(i)[0, 0]
            k = min(round(plant.t / pilot.timeline.dt), len(pilot.timeline.rows) - 1)
            if is_far(row, pilot.timeline.rows[k]):
                raise FlightFailed(
                    "diverged",
                    plant.t,
                    f"{pilot.name} is more than {FAR:.0f} m from its reference",
                )
        self.check_state(plant)

    def check_state(self, plant: Plant) -> None:
        """The same without the references, where these are not known.

        Raises:
            FlightFailed: crash.
        """
        for i, pilot in enumerate(self.pilots):
            q = plant.state(i)[0, 0, 3:7]
            if q[0] * q[0] + q[1] * q[1] > 0.5:  # the platform's z axis points below the horizon
                raise FlightFailed("crashed", plant.t, f"{pilot.name} is upside down")
        self._check_contacts(plant)
        self._check_losses(plant)

    def _check_contacts(self, plant: Plant) -> None:
        for contact in plant.engine.contacts():
            rows = (contact.body_a, contact.body_b)
            a, b = (self._name(plant, row) for row in rows)
            if a == b or contact.distance > 0.0:  # engines also report what is about to touch
                continue
            if None in (a, b):
                self._check_touch(plant, str(a or b), max(rows), min(rows))
            elif (a, b) not in [pair[1:] for pair in self.collisions]:
                self.collisions.append((plant.t, str(a), str(b)))

    def _check_touch(self, plant: Plant, name: str, body: int, other: int) -> None:
        """Landing is for who may land; the objects of the world are there for the central body to touch."""
        if other == WORLD:
            if not self._may_land(name):
                raise FlightFailed("crashed", plant.t, f"{name} hit the ground")
        elif body not in [drive.rows.start for drive in plant.drives]:
            raise FlightFailed("crashed", plant.t, f"an aircraft of {name} hit an object")

    def _check_losses(self, plant: Plant) -> None:
        """A push that has lost its contact for good has failed."""
        for i, pilot in enumerate(self.pilots):
            push = pilot.push
            if push is None or push.lost_after is None:
                continue
            touched = self._touched.setdefault(i, [0.0, plant.t])  # for how long, and when last
            if plant.contact_wrench(i).any():
                touched[0] += pilot.timeline.dt
                touched[1] = plant.t
            is_done = push.hold is not None and touched[0] >= push.hold
            if touched[0] > 0.0 and not is_done and plant.t - touched[1] > push.lost_after:
                raise FlightFailed("contact_lost", plant.t, f"{pilot.name} lost its contact")

    def _name(self, plant: Plant, row: int) -> str | None:
        """The vehicle that owns a state row; None for the world."""
        for drive, pilot in zip(plant.drives, self.pilots, strict=True):
            if drive.rows.start <= row < drive.rows.stop:
                return pilot.name
        return None

    def _may_land(self, name: str) -> bool:
        return next(pilot.on_ground for pilot in self.pilots if pilot.name == name)
