# SPDX-License-Identifier: BSD-3-Clause
"""Entities of a simulation by name, as simulation_interfaces asks for them: vehicles, their aircraft, objects."""

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Shape
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.states import P, Q
from iap_physics.session.session import Session

SIDES = 16  # flat sides of what is round
OBJECT, ROBOT, STATIC_OBJECT = 0, 1, 5  # EntityCategory
UNBOUNDED, SPHERE = 0, 3  # Bounds
ANY = 0  # TagsFilter
CORNERS = np.array(list(product((0, 1), repeat=3)))  # of a box: lower or upper end along each axis


class Entity(NamedTuple):
    """Something in the simulation that has a name and a pose.

    Attributes:
        name: of a vehicle, VEHICLE/BODY, or of an object.
        category: of EntityCategory.
        description: a sentence.
        tags: words.
        vehicle: number of the vehicle that it is or belongs to; None for an object.
        row: of the vehicle's states, or number of the object.
        boxes: (n, 2, 3) around its collision shapes along its axes: lower and upper corner [m].
    """

    name: str
    category: int
    description: str
    tags: tuple[str, ...]
    vehicle: int | None
    row: int
    boxes: Array

    @property
    def is_vehicle(self) -> bool:
        """True for a whole vehicle."""
        return self.vehicle is not None and self.row == 0


class Entities:
    """All of a session's."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._of_name = {each.name: each for each in _all(session)}

    def __getitem__(self, name: str) -> Entity:
        if name not in self._of_name:
            raise BadInput(f"no entity '{name}': {', '.join(self._of_name)}")
        return self._of_name[name]

    def state(self, entity: Entity) -> Array:
        """(13,) state row of an entity in `map`."""
        if entity.vehicle is None:
            row: Array = self._session.plant.engine.object_states()[entity.row]
        else:
            row = self._session.plant.state(entity.vehicle)[0, entity.row]
        return row

    def filtered(self, filters: Any) -> list[Entity]:  # noqa: ANN401 - EntityFilters
        """The entities that a message of type EntityFilters describes.

        Raises:
            BadInput: its expression is none.
            NotImplementedError: bounds of another type than a sphere.
        """
        bounds = filters.bounds
        if bounds.type not in (UNBOUNDED, SPHERE):
            raise NotImplementedError("bounds: TYPE_SPHERE alone")
        try:
            expression = re.compile(filters.filter)
        except re.error as error:
            raise BadInput(f"filter '{filters.filter}': {error}") from error
        categories = {each.category for each in filters.categories}
        return [
            each
            for each in self._of_name.values()
            if expression.search(each.name)
            and (not categories or each.category in categories)
            and _has_tags(each.tags, filters.tags)
            and (bounds.type == UNBOUNDED or self._overlaps(each, bounds.points))
        ]

    def box(self, entity: Entity) -> Array:
        """(2, 3) lower and upper corner of the box around an entity along its axes [m]; a vehicle has its aircraft."""
        row, corners = self.state(entity), []
        for each in self._parts(entity):
            x, points = self.state(each), each.boxes[:, CORNERS, np.arange(3)].reshape(-1, 3)
            in_map = x[P] + so3.rotate(x[Q], points)
            corners.append(so3.rotate(so3.conjugate(row[Q]), in_map - row[P]))
        every = np.concatenate(corners)
        return np.array([every.min(axis=0), every.max(axis=0)])

    def _parts(self, entity: Entity) -> list[Entity]:
        """A vehicle's bodies, or what has no parts."""
        if not entity.is_vehicle:
            return [entity]
        return [each for each in self._of_name.values() if each.vehicle == entity.vehicle]

    def _overlaps(self, entity: Entity, points: Sequence[Any]) -> bool:
        """True if a box around a shape of an entity meets the sphere of two points: middle, and radius in x.

        Raises:
            BadInput: there are not two points.
        """
        if len(points) != 2:
            raise BadInput("bounds: a sphere has two points")
        middle, radius = np.array([points[0].x, points[0].y, points[0].z]), points[1].x
        return any(self._distance(each, middle) <= radius for each in self._parts(entity))

    def _distance(self, entity: Entity, point: Array) -> float:
        """From a point in `map` to the nearest box around a shape of a body or object [m]; 0 inside."""
        x = self.state(entity)
        point = so3.rotate(so3.conjugate(x[Q]), point - x[P])
        nearest = np.clip(point, entity.boxes[:, 0], entity.boxes[:, 1])
        return float(np.linalg.norm(nearest - point, axis=1).min())


def _has_tags(tags: Sequence[str], tag_filter: Any) -> bool:  # noqa: ANN401 - TagsFilter
    fits = [tag in tags for tag in tag_filter.tags]
    return not fits or (any(fits) if tag_filter.filter_mode == ANY else all(fits))


def _all(session: Session) -> Iterable[Entity]:
    for number, vehicle in enumerate(session.spec.vehicles):
        platform, bodies = vehicle.platform, vehicle.assembly.bodies
        for row, body in enumerate(bodies):
            name = vehicle.name if row == 0 else f"{vehicle.name}/{body.name}"
            text = platform.description if row == 0 else f"An aircraft of {vehicle.name}."
            tags = ("vehicle", platform.name) if row == 0 else ("aircraft",)
            yield Entity(name, ROBOT, text, tags, number, row, _boxes(body.collision))
    for number, (name, each) in enumerate(session.spec.world.objects.items()):
        moves = each.mass is not None or each.motion is not None
        category = OBJECT if moves else STATIC_OBJECT
        tags = (each.type, "moving" if moves else "standing")
        shapes = each.pieces()
        yield Entity(name, category, f"A {each.type}.", tags, None, number, _boxes(shapes))


def _boxes(shapes: Sequence[Shape]) -> Array:
    """(n, 2, 3) boxes around shapes; the origin where there are none."""
    if not shapes:
        return np.zeros((1, 2, 3))
    corners = [mesh(shape, sides=SIDES)[0] for shape in shapes]
    return np.array([[each.min(axis=0), each.max(axis=0)] for each in corners])
