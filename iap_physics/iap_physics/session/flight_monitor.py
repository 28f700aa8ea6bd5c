# SPDX-License-Identifier: BSD-3-Clause
"""Failures of a flight: a crash into the ground or itself, an overturn, a lost contact.

Collisions of one vehicle with another are noted, not fatal. Those that a latch is to hold together may touch, and those
that hold together: modules of one structure touch at corners, too, where no joint joins them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.world.objects import WorldObject
from iap_description.world.obstacles import Obstacles
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec

UPSIDE_DOWN = "{} is upside down"
CRASHED = "crashed"  # outcome of a flight whose vehicle touched what it must not, or overturned


def is_upside_down(rows: Array) -> Any:  # noqa: ANN401 - one truth value, or an array of them
    """True if the z axis of bodies (..., 13) points below the horizon."""
    return rows[..., 3] * rows[..., 3] + rows[..., 4] * rows[..., 4] > 0.5


@dataclass
class FlightMonitor:
    """Looks at every control step.

    Attributes:
        spec: of the plant.
        collisions: first touch of every pair, as (t, name, name); parts of one vehicle are NAME/BODY.
        partners: pairs of vehicles that are joined in flight, and touch.
        structure_of: tells the numbers of the vehicles that hold together with one; None where nothing does.
        landing: vehicles, by their numbers, that come down where no landing was planned.
        landed: those of them that have touched the ground.
    """

    spec: PlantSpec
    collisions: list[tuple[float, str, str]] = field(default_factory=list)
    partners: frozenset[frozenset[str]] = frozenset()
    structure_of: Callable[[int], set[int]] | None = None
    landing: set[int] = field(default_factory=set)
    landed: set[int] = field(default_factory=set)
    _touched: dict[int, list[float]] = field(default_factory=dict)
    _meant: set[frozenset[str]] = field(init=False)  # pairs of vehicles that are to touch

    def __post_init__(self) -> None:
        """Vehicles that a latch is to hold together do not collide where they touch."""
        self._meant = {frozenset(latch.vehicles) for latch in self.spec.latches.values()}
        self._meant |= self.partners

    @property
    def collision_records(self) -> list[dict[str, Any]]:
        """The collisions as metrics.json has them."""
        return [{"t_s": t, "vehicles": [a, b]} for t, a, b in self.collisions]

    def check_flight(self, plant: Plant) -> None:
        """Note collisions and end a failed flight.

        Raises:
            FlightFailed: crash, or a contact lost for good.
        """
        for i, vehicle in enumerate(self.spec.vehicles):
            if is_upside_down(plant.state(i)[0, 0]):
                raise FlightFailed(CRASHED, plant.t, UPSIDE_DOWN.format(vehicle.name))
        self._check_contacts(plant)
        self._check_losses(plant)

    def _check_contacts(self, plant: Plant) -> None:
        for contact in plant.engine.contacts():
            rows = (contact.body_a, contact.body_b)
            a, b = (self._name(plant, row) for row in rows)
            if (
                contact.distance > 0.0 or max(rows) < 0
            ):  # about to touch only; objects among themselves
                continue
            if a == b:
                self._fold(plant, *sorted(rows))
            elif None in (a, b):
                self._check_touch(plant, max(rows), min(rows))
            elif {a, b} not in self._meant and not self._hold_together(plant, *rows):
                self._note_collision(plant.t, str(a), str(b))

    def _hold_together(self, plant: Plant, a: int, b: int) -> bool:
        """True if the vehicles of two state rows hold together."""
        if self.structure_of is None:
            return False
        return plant.vehicle_of(b) in self.structure_of(plant.vehicle_of(a))

    def _note_collision(self, t: float, a: str, b: str) -> None:
        """Note the first touch of two by their names."""
        if (a, b) not in [pair[1:] for pair in self.collisions]:
            self.collisions.append((t, a, b))

    def _fold(self, plant: Plant, *rows: int) -> NoReturn:
        """End the flight of a vehicle of which two bodies, by their rows, have collided."""
        number = plant.vehicle_of(rows[0])
        name, propulsion = self.spec.vehicles[number].name, plant.propulsion[number]
        bodies = self.spec.vehicles[number].assembly.bodies
        one, other = (bodies[row - propulsion.rows.start].name for row in rows)
        self._note_collision(plant.t, f"{name}/{one}", f"{name}/{other}")
        raise FlightFailed(CRASHED, plant.t, f"{one} and {other} of {name} have collided")

    def _check_touch(self, plant: Plant, body: int, other: int) -> None:
        """Refuse the ground to vehicles that may not land, and objects of the world to all but central bodies."""
        number = plant.vehicle_of(body)
        vehicle, first = self.spec.vehicles[number], plant.propulsion[number].rows.start
        if other == WORLD and number in self.landing:
            self.landed.add(number)
        elif other == WORLD and not vehicle.may_land:
            raise FlightFailed(CRASHED, plant.t, f"{vehicle.name} hit the ground")
        if other != WORLD and isinstance(self._object(other), Obstacles):
            raise FlightFailed(CRASHED, plant.t, f"{vehicle.name} hit an obstacle")
        if other != WORLD and body != first:
            raise FlightFailed(CRASHED, plant.t, f"an aircraft of {vehicle.name} hit an object")

    def _object(self, row: int) -> WorldObject:
        """An object of the world by the number that contacts have of it."""
        return list(self.spec.world.objects.values())[OBJECT - row]

    def _check_losses(self, plant: Plant) -> None:
        """A push that has lost its contact for good has failed."""
        for i, vehicle in enumerate(self.spec.vehicles):
            if vehicle.lost_after is None:
                continue
            touched = self._touched.setdefault(i, [0.0, plant.t])  # for how long, and when last
            if plant.contact_wrench(i).any():
                touched[0] += self.spec.dt
                touched[1] = plant.t
            is_done = vehicle.push_hold is not None and touched[0] >= vehicle.push_hold
            if touched[0] > 0.0 and not is_done and plant.t - touched[1] > vehicle.lost_after:
                raise FlightFailed("contact_lost", plant.t, f"{vehicle.name} lost its contact")

    def _name(self, plant: Plant, row: int) -> str | None:
        """The vehicle that owns a state row; None for the world."""
        return None if row < 0 else self.spec.vehicles[plant.vehicle_of(row)].name
