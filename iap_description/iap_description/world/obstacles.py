# SPDX-License-Identifier: BSD-3-Clause
"""Fields of obstacles that a seed draws: boxes, walls and panels, thin rods, trees; presets are ``data/obstacles``.

A field is one object of the world. Its pieces are convex and made of triangles, which are touched and seen alike; those
of `asset_obstacles` may be seen as they are and touched by convex pieces.
"""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Presets, merged
from iap_description.config.values import Degrees, NonNegative, Position, Positive, Real, Seed
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import whole_path
from iap_description.geometry.shapes import Rgba, Shape, Surface
from iap_description.geometry.solids import Faces, hull
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.world.objects import WorldObject

PRESETS = Presets(Path(__file__).parents[1] / "data" / "obstacles", "obstacles")
Extent = tuple[Positive, Positive]  # least and largest [m]
Hulls = tuple[
    Array, Faces
]  # vertices (n, k, 3) of n alike pieces in O [m], faces (m, 3) of each, ccw from outside
MAX_PIECES = 20_000  # of an object
ROUNDS = 200  # of drawing places anew for what would stand in a free column
ROD_SIDES, BRANCH_SIDES = 8, 6  # flat sides
THINNEST = 0.4  # radius of a branch over that of its trunk
FOOT, RISE = (
    0.3,
    np.deg2rad(35.0),
)  # where branches begin, as a share of the height, and how steeply they go up


class Obstacles(WorldObject):
    """Obstacles that are spread evenly over a rectangle of the plane z = 0 of O, each at a heading of its own."""

    position: Position = (0.0, 0.0, 0.0)  # of O in map [m]
    surface: Surface = Surface(friction=0.8, restitution=0.1)
    seed: Seed | None = None  # None: drawn with each seed of the scenario
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_PIECES)]
    area: tuple[tuple[Real, Real], tuple[Real, Real]]  # two corners, x and y in O [m]
    yaw_deg: tuple[Degrees, Degrees] = (-180.0, 180.0)  # least and largest heading
    free: tuple[
        tuple[Real, Real, NonNegative], ...
    ] = ()  # upright columns without obstacles: x, y, radius [m]

    @abstractmethod
    def hulls(self) -> list[Hulls]:
        """The pieces, in groups that are alike."""

    def pieces(self) -> tuple[Shape, ...]:
        """A hull for each piece."""
        return tuple(
            hull(vertices, faces, self.color)
            for group, faces in self.hulls()
            for vertices in group
        )

    def solids(self) -> list[tuple[Array, bool]]:
        """Corners (n, 3, 3) of the triangles of each solid that is seen, in O [m], and whether it is convex."""
        return [(vertices[faces], True) for group, faces in self.hulls() for vertices in group]

    def corners(self) -> list[Array]:
        """Corners (n, 3, 3) of each solid's triangles in O [m]."""
        return [corners for corners, _ in self.solids()]

    @property
    def dice(self) -> np.random.Generator:
        """The distribution that they are drawn from.

        Raises:
            BadInput: the seed is open; `iap_simulation.scenario.randomization` fills it in.
        """
        if self.seed is None:
            raise BadInput(f"key 'seed': the seed of {self.count} obstacles is still open")
        return stream(self.seed, "obstacles")

    def positions(self, rng: np.random.Generator, radii: Array) -> Array:
        """Places (n, 2) of obstacles with radii (n,) in plan [m], none in a free column.

        Raises:
            BadInput: there is no room.
        """
        low, high = np.sort(np.array(self.area), axis=0)
        xy = rng.uniform(low, high, (len(radii), 2))
        for _ in range(ROUNDS):
            bad = np.zeros(len(radii), dtype=bool)
            for x, y, radius in self.free:
                bad |= np.hypot(xy[:, 0] - x, xy[:, 1] - y) < radius + radii
            if not bad.any():
                return xy
            xy[bad] = rng.uniform(low, high, (int(bad.sum()), 2))
        raise BadInput("key 'free': these columns leave no room for obstacles in the area")


class Boxes(Obstacles):
    """Boxes: crates, walls, panels."""

    type: Literal["boxes"]
    size: tuple[
        tuple[Positive, Positive, Positive], tuple[Positive, Positive, Positive]
    ]  # least, largest [m]
    heights: tuple[Real, Real] | None = None  # of their middles [m]; None: they stand on the plane
    tilt_deg: NonNegative = 0.0  # largest, off the vertical

    def hulls(self) -> list[Hulls]:
        """All of them."""
        rng = self.dice
        size = np.column_stack(
            [between(rng, each, self.count) for each in zip(*self.size, strict=True)]
        )
        R = turns(rng, self.count, self.tilt_deg, self.yaw_deg)
        xy = self.positions(rng, 0.5 * np.linalg.norm(size, axis=1))
        z = _heights(rng, self.heights, 0.5 * size[:, 2])
        vertices, faces = _prism(4)
        # the square's corners are at 45 deg on a circle of radius 1
        return [(_placed(vertices * np.sqrt([0.5, 0.5, 1.0]) * size[:, None], R, xy, z), faces)]


class Rods(Obstacles):
    """Thin rods, such as bars, wires and stems."""

    type: Literal["rods"]
    radius: Extent
    length: Extent
    heights: tuple[Real, Real] | None = None  # of their middles [m]; None: they stand on the plane
    tilt_deg: NonNegative = 0.0  # largest, off the vertical

    def hulls(self) -> list[Hulls]:
        """All of them."""
        rng = self.dice
        radius = between(rng, self.radius, self.count)
        length = between(rng, self.length, self.count)
        R = turns(rng, self.count, self.tilt_deg, self.yaw_deg)
        xy = self.positions(
            rng, np.hypot(radius, 0.5 * length * np.sin(np.deg2rad(self.tilt_deg)))
        )
        z = _heights(rng, self.heights, 0.5 * length)
        size = np.stack([radius, radius, length], -1)
        vertices, faces = _prism(ROD_SIDES)
        return [(_placed(vertices * size[:, None], R, xy, z), faces)]


class Trees(Obstacles):
    """Trees without leaves: a trunk, and branches that go up and outwards around it."""

    type: Literal["trees"]
    color: Rgba = (0.45, 0.33, 0.22, 1.0)
    radius: Extent  # of the trunk
    height: Extent
    reach: Extent  # of the branches, from the trunk
    branches: Annotated[int, Field(strict=True, ge=0, le=100)]  # of each

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        if self.count * (1 + self.branches) > MAX_PIECES:
            raise ValueError(f"key 'count': trees have more than {MAX_PIECES} trunks and branches")
        return self

    def hulls(self) -> list[Hulls]:
        """Trunks, then all branches."""
        rng, n = self.dice, self.count
        sizes = (between(rng, each, n) for each in (self.radius, self.height, self.reach))
        radius, height, reach = sizes
        R = turns(rng, n, 0.0, self.yaw_deg)
        xy = self.positions(rng, radius + reach)
        vertices, faces = _prism(ROD_SIDES)
        trunks = vertices * np.stack([radius, radius, height], -1)[:, None]
        shapes = [(_placed(trunks, R, xy, 0.5 * height), faces)]
        if self.branches:
            shapes.append(self._branches(rng, (radius, height, reach), R, xy))
        return shapes

    def _branches(
        self, rng: np.random.Generator, sizes: tuple[Array, Array, Array], R: Array, xy: Array
    ) -> Hulls:
        """The branches of all trees, each at a drawn height and heading."""
        radius, height, reach = (np.repeat(each, self.branches) for each in sizes)
        count = len(radius)
        begins = height * rng.uniform(FOOT, 1.0, count)
        heading = rng.uniform(0.0, 2.0 * np.pi, count)
        length = (radius + reach) / np.cos(RISE) * rng.uniform(0.5, 1.0, count)
        thick = THINNEST * radius * rng.uniform(0.5, 1.0, count)
        euler = np.stack([0.0 * heading, np.full(count, 0.5 * np.pi - RISE), heading], -1)
        vertices, faces = _prism(BRANCH_SIDES)
        along = (vertices + [0.0, 0.0, 0.5]) * np.stack([thick, thick, length], -1)[:, None]
        turns = np.repeat(R, self.branches, axis=0) @ so3.matrix_from_euler(euler)
        return _placed(along, turns, np.repeat(xy, self.branches, axis=0), begins), faces


def objects_tree(tree: object) -> object:
    """The plain tree of a world's objects, of which each may name a preset of obstacles; paths of folders are whole."""
    if not isinstance(tree, dict):
        return tree
    return {name: _filled_in(each) for name, each in tree.items()}


def _filled_in(tree: Any) -> object:  # noqa: ANN401 - YAML
    if not isinstance(tree, dict):
        return tree
    if isinstance(tree.get("preset"), str):
        rest = {key: value for key, value in tree.items() if key != "preset"}
        tree = merged(PRESETS.tree(tree["preset"]), rest)
    if isinstance(tree.get("folder"), str):
        tree = {**tree, "folder": whole_path(tree["folder"])}
    return tree


def between(rng: np.random.Generator, ends: Sequence[float], count: int) -> Array:
    """Numbers (n,) drawn evenly between two."""
    return rng.uniform(min(ends), max(ends), count)


def _heights(rng: np.random.Generator, heights: tuple[float, float] | None, half: Array) -> Array:
    """Heights (n,) of the middles."""
    return half if heights is None else between(rng, heights, len(half))


def turns(
    rng: np.random.Generator, count: int, tilt_deg: float, yaw_deg: tuple[float, float]
) -> Array:
    """Attitudes (n, 3, 3): a heading, after a tilt of at most so much about any level axis."""
    axis, share = rng.uniform(0.0, 1.0, (2, count))
    axis, yaw = 2.0 * np.pi * axis, np.deg2rad(yaw_deg[0] + (yaw_deg[1] - yaw_deg[0]) * share)
    angle = np.deg2rad(tilt_deg) * rng.uniform(0.0, 1.0, count)
    tilt = angle[:, None] * np.stack([np.cos(axis), np.sin(axis), 0.0 * axis], -1)
    euler = np.stack([0.0 * yaw, 0.0 * yaw, yaw], -1)
    return np.asarray(so3.exp(tilt) @ so3.matrix_from_euler(euler))


def _placed(vertices: Array, R: Array, xy: Array, z: Array) -> Array:
    """Vertices (n, k, 3) of pieces turned by R (n, 3, 3) and moved to (n, 2) and heights (n,)."""
    at = np.column_stack([xy, z])
    return np.asarray(np.einsum("nij,nkj->nki", R, vertices) + at[:, None])


def _prism(sides: int) -> Hulls:
    """Vertices (2 sides, 3) of a prism of height 1 in a cylinder of radius 1, middle at the origin; its faces."""
    angles = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    circle = np.stack([np.cos(angles), np.sin(angles)], -1)
    ends = [np.column_stack([circle, np.full(sides, z)]) for z in (-0.5, 0.5)]
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    k = np.arange(1, sides - 1)
    faces = [
        np.stack([i, j, sides + j], -1),
        np.stack([i, sides + j, sides + i], -1),
        np.stack([0 * k, k + 1, k], -1),
        np.stack([sides + 0 * k, sides + k, sides + k + 1], -1),
    ]
    return np.vstack(ends), np.vstack(faces)
