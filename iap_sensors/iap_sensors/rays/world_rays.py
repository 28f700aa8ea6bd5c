# SPDX-License-Identifier: BSD-3-Clause
"""All rays of one world: at its ground, scene and objects, and at the vehicles in their states.

Triangles of vehicles stay in their bodies' frames, and rays are turned into them. Objects that move are instances below
a tree of Embree's, which alone is built anew in flight.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import IapError
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, resting_state
from iap_description.vehicles.arm_links import collision_shapes
from iap_description.vehicles.assembly import Assembly
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_sensors.rays.caster import Bundle, Hits, Numbers
from iap_sensors.rays.embree import EmbreeCaster
from iap_sensors.rays.embree_packets import InstanceScene
from iap_sensors.rays.lines import Lines
from iap_sensors.rays.surfaces import (
    TriangleSurface,
    body_surface,
    numbered_on,
    object_surface,
    standing_surface,
)
from iap_sensors.rays.turning import (
    Indices,
    bodies_near,
    merge,
    rays_near,
    relative_pose,
    turned,
)

STANDING = resting_state(np.zeros(3), so3.IDENTITY)  # (13,) in `map`
MOST_SHAPES = 512  # of moving objects that are kept


@dataclass(frozen=True, eq=False)
class Mover:
    """Something that moves, in a frame of its own.

    Attributes:
        surface: its triangles.
        caster: for rays at them.
        radius: of the sphere around its frame's origin that holds it [m].
    """

    surface: TriangleSurface
    caster: EmbreeCaster
    radius: float

    @classmethod
    def of(cls, surface: TriangleSurface) -> "Mover":
        """The caster of a surface."""
        return cls(surface, EmbreeCaster.of(surface), surface.radius)


@lru_cache(maxsize=MOST_SHAPES)
def _mover_of(item: WorldObject, number: int) -> Mover:
    """The caster of an object in its frame O, which worlds that have the same one share."""
    return Mover.of(object_surface(item, number))


def object_mover(item: WorldObject, number: int) -> Mover:
    """The caster of an object that moves, wherever it is."""
    shape = {"position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 0.0), "motion": None}
    return _mover_of(item.model_copy(update=shape), number)


def movers_of(assemblies: Sequence[Assembly]) -> tuple[Mover, ...]:
    """The bodies of vehicles, then the links of their arms, which worlds with the same vehicles can share."""
    shapes = collision_shapes(assemblies)
    return tuple(Mover.of(body_surface(each, row)) for row, each in enumerate(shapes))


@dataclass(frozen=True, eq=False)
class RayView:
    """A bundle of rays from a sensor at an instant.

    Attributes:
        bundle: its rays.
        p_WS_W: (3,) the place of its frame [m].
        R_WS: (3, 3) the attitude of its frame.
        axis_S: (3,) along a cone that holds all rays, from the frame's origin.
        half: half angle of that cone [rad]; pi where rays go anywhere.
        hidden: rows of the bodies that rays go through, such as the one that carries the sensor.
    """

    bundle: Bundle
    p_WS_W: Array
    R_WS: Array
    axis_S: Array
    half: float
    hidden: tuple[int, ...] = ()


class Rays:
    """The rays of a world with its vehicles, in the states of the last `follow`.

    Args:
        world: its ground, scene and objects.
        assemblies: the vehicles.
        bodies: their movers, if they are made already.

    Attributes:
        surface: what stands still.
        segments: (faces,) label of each face in segmented images, of what stands first, then of objects that move, then
            of vehicles.
        labels: (faces,) labels of the user's own, which may be written to; until then the number of the shape that a
            face belongs to, over all things.
    """

    def __init__(
        self,
        world: World,
        assemblies: Sequence[Assembly],
        bodies: Sequence[Mover] | None = None,
    ) -> None:
        self._world, self._assemblies = world, assemblies
        self._movers_set = bodies
        self._x, self._objects = np.zeros((0, STATE_SIZE)), np.zeros((0, STATE_SIZE))
        self._has_moved = False  # since objects were placed last

    def twin(self) -> Self:
        """The rays of a world that is alike, which follow states of their own; both have the same `labels`."""
        _ = self._caster, self._firsts, self._radii, self.segments, self.labels  # are made once
        other = copy.copy(self)
        other.__dict__.pop("_instances", None)
        return other

    def follow(self, x: Array, objects: Array) -> None:
        """Move vehicles and objects to their states.

        Args:
            x: (bodies + links, 13) of all vehicles and of the links of their arms.
            objects: (objects, 13) of the world's objects.
        """
        self._x, self._objects, self._has_moved = x, objects, True

    def row(self, vehicle: str, body: int) -> int:
        """The row among all bodies of a vehicle's body."""
        first = 0
        for each in self._assemblies:
            if each.name == vehicle:
                return first + body
            first += len(each.bodies)
        raise IapError(f"rays: there is no vehicle '{vehicle}'")

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray at its first hit, see `iap_sensors.mounted.mounted_sensors.RayCaster`."""
        return self._lines.cast(starts_W, ends_W, self._x, self._objects, world_only=world_only)

    def first_hits(self, view: RayView) -> Hits:
        """The first hits of a sensor's rays, normals in `map`; faces are numbered as in `segments`."""
        hits = self._placed_caster().first_hits(*self._turned(view), view.bundle.reach)
        for mover, first, row, rays, bundle in self._near(view, hits.distance):
            p_BS_B, R_BS, R_WB = relative_pose(view.p_WS_W, view.R_WS, row)
            hits_of_mover = mover.caster.first_hits(*turned(bundle, p_BS_B, R_BS), bundle.reach)
            merge(rays, tuple(hits_of_mover), first, R_WB, tuple(hits))
        return hits

    def is_blocked(self, view: RayView) -> Booleans:
        """True if (n,) anything is in the way of a sensor's rays."""
        bundle = view.bundle
        blocked = self._placed_caster().is_blocked(*self._turned(view), bundle.reach)
        for mover, _, row, rays, near in self._near(view, bundle.reach):
            p_BS_B, R_BS, _ = relative_pose(view.p_WS_W, view.R_WS, row)
            blocked[rays] |= mover.caster.is_blocked(*turned(near, p_BS_B, R_BS), near.reach)
        return blocked

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._world, self._assemblies)

    @cached_property
    def surface(self) -> TriangleSurface:
        """The surfaces that stand still."""
        return standing_surface(self._world)

    @cached_property
    def _caster(self) -> EmbreeCaster:
        return EmbreeCaster.of(self.surface)

    @cached_property
    def _moving_objects(self) -> dict[int, Mover]:
        items = enumerate(self._world.objects.values())
        return {k: object_mover(item, k) for k, item in items if item.moves}

    @cached_property
    def _instances(self) -> tuple[InstanceScene, EmbreeCaster]:
        """What stands, and the objects that move, in a scene that is this world's alone."""
        surfaces = [self.surface, *(each.surface for each in self._moving_objects.values())]
        casters = [self._caster, *(each.caster for each in self._moving_objects.values())]
        scene = InstanceScene(
            [each.scene for each in casters], [len(each.corners) for each in surfaces]
        )
        return scene, EmbreeCaster(scene, np.concatenate([each.is_solid for each in surfaces]))

    def _placed_caster(self) -> EmbreeCaster:
        """The caster of all but vehicles, with the objects that move where they are."""
        if not self._moving_objects:
            return self._caster
        scene, caster = self._instances
        if self._has_moved:
            scene.move(np.vstack([STANDING, self._objects[list(self._moving_objects)]]))
            self._has_moved = False
        return caster

    @cached_property
    def _bodies(self) -> tuple[Mover, ...]:
        return movers_of(self._assemblies) if self._movers_set is None else tuple(self._movers_set)

    @cached_property
    def _movers(self) -> tuple[Mover, ...]:
        """All that moves, in the order of its faces."""
        return (*self._moving_objects.values(), *self._bodies)

    @cached_property
    def _firsts(self) -> list[int]:
        """Number of the first face of each body."""
        sizes = [len(self.surface.corners), *(len(m.surface.corners) for m in self._movers)]
        return np.cumsum(sizes)[len(self._moving_objects) : -1].tolist()

    @cached_property
    def _radii(self) -> Array:
        return np.array([each.radius for each in self._bodies])

    @property
    def _surfaces(self) -> list[TriangleSurface]:
        return [self.surface, *(each.surface for each in self._movers)]

    @cached_property
    def segments(self) -> Numbers:
        """See the class."""
        return np.concatenate([each.segments for each in self._surfaces])

    @cached_property
    def labels(self) -> Numbers:
        """See the class."""
        return numbered_on([each.pieces for each in self._surfaces])

    def _turned(self, view: RayView) -> tuple[np.ndarray, np.ndarray]:
        return turned(view.bundle, view.p_WS_W, view.R_WS)

    def _near(
        self, view: RayView, reach: np.ndarray
    ) -> Iterator[tuple[Mover, int, Array, Indices, Bundle]]:
        """Bodies that may be hit: each, its first face, its state row, numbers of the rays, and these."""
        if not self._bodies:
            return
        rows, bundle, axis_W = self._x, view.bundle, view.R_WS @ view.axis_S
        cone = (view.p_WS_W, axis_W, view.half, bundle.far)
        for k in bodies_near(*cone, rows, self._radii).tolist():
            if k in view.hidden:
                continue
            center_S = view.R_WS.T @ (rows[k, P] - view.p_WS_W)
            rays = rays_near(bundle.starts_S, bundle.ways_S, reach, center_S, self._radii[k])
            if len(rays):
                some = Bundle(bundle.starts_S[rays], bundle.ways_S[rays], reach[rays], bundle.far)
                yield self._bodies[k], self._firsts[k], rows[k], rays, some
