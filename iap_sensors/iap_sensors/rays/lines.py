# SPDX-License-Identifier: BSD-3-Clause
"""Rays from points to points that end at the ground, the scene, the world's objects and the vehicles, by Embree.

What is round has `SIDES` flat sides. Embree works in single precision: a hit at distance d is exact to about
1e-7 d. A body's triangles stay in its frame and rays are turned into it, so that nothing is built anew when
bodies move. A solid does not stop a ray that begins in it: beams begin at a lidar's least range, which may be
inside the airframe.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.process.extras import LazyModule
from iap_description.scenes.library import load_scene
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import collision_shapes
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_sensors.rays.caster import Single
from iap_sensors.rays.embree import SKIN
from iap_sensors.rays.embree_packets import EXTRA, PURPOSE, scenes
from iap_sensors.rays.surfaces import corners_of, ground, placed

meshes = LazyModule("embreex.mesh_construction", PURPOSE, EXTRA)


class Lines:
    """Lines through a world with its vehicles.

    Args:
        world: its ground, scene and objects.
        assemblies: the vehicles.
    """

    def __init__(self, world: World, assemblies: Sequence[Assembly]) -> None:
        items = list(world.objects.values())
        scene = () if world.scene is None else load_scene(world.scene).solids
        sheets = [corners_of(scene), *([ground()] if world.has_ground else [])]
        solids: list[Array] = [np.zeros((0, 3, 3))]
        for item in items:
            shapes = item.visual()
            kind = sheets if shapes[0].shape == "surface" else solids
            if not item.moves:
                kind.append(placed(corners_of(shapes), item.row(0.0)))
        self._still = _Sheets(np.concatenate(sheets)), _Solids(np.concatenate(solids))
        self._movers = {
            k: _Solids(corners_of(item.visual())) for k, item in enumerate(items) if item.moves
        }
        self._bodies = [_Solids(corners_of(each)) for each in collision_shapes(assemblies)]

    def cast(
        self, starts_W: Array, ends_W: Array, x: Array, objects: Array, *, world_only: bool
    ) -> Array:
        """Fraction (rays,) of each line at its first hit, 1 if none.

        Args:
            starts_W: (rays, 3) where they begin [m].
            ends_W: (rays, 3) where they end [m].
            x: (bodies + links, 13) of all vehicles and of the links of their arms.
            objects: (objects, 13) of the world's objects.
            world_only: lines go through vehicles.
        """
        ways_W = ends_W - starts_W
        share = np.ones(len(starts_W), np.float32)
        for still in self._still:
            share = still.cast(starts_W, ways_W, share)
        moving = [(shape, objects[k]) for k, shape in self._movers.items()]
        if not world_only:
            moving += zip(self._bodies, x, strict=True)
        for shape, row in moving:
            near = shape.is_near(starts_W, ways_W, row[P])
            q_BW = so3.conjugate(row[Q])
            starts = so3.rotate(q_BW, starts_W[near] - row[P])
            share[near] = shape.cast(starts, so3.rotate(q_BW, ways_W[near]), share[near])
        return share.astype(np.float64)


class _Sheets:
    """Triangles (n, 3 corners, 3) in a frame of their own [m], which stop rays from both sides."""

    def __init__(self, corners: Array) -> None:
        self._scene = scenes.EmbreeScene(robust=True)
        self._is_empty = len(corners) == 0
        self._radius = np.linalg.norm(corners, axis=-1).max(initial=0.0)
        if not self._is_empty:
            meshes.TriangleMesh(self._scene, corners.astype(np.float32))

    def cast(self, starts: Array, ways: Array, limits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Fractions (rays,) at the first hits, or the limits of those that hit nothing before."""
        if self._is_empty or not len(starts):
            return limits
        return self._first_hits(starts.astype(np.float32), ways.astype(np.float32), limits)

    def _first_hits(self, starts: Single, ways: Single, limits: Single) -> Single:
        distances: Single = self._scene.run(starts, ways, dists=limits.copy(), query="DISTANCE")
        return distances

    def is_near(self, starts_W: Array, ways_W: Array, center_W: Array) -> Booleans:
        """True if rays come as near to a centre (3,) as the farthest corner is to the frame's origin."""
        to_center = center_W - starts_W
        squares = np.einsum("ij,ij->i", ways_W, ways_W)
        along = np.einsum("ij,ij->i", to_center, ways_W) / np.maximum(squares, 1e-12)
        away = to_center - np.clip(along, 0.0, 1.0)[:, None] * ways_W
        return np.asarray(np.einsum("ij,ij->i", away, away) <= self._radius**2)


class _Solids(_Sheets):
    """Triangles around solids, counter-clockwise from outside: rays that leave one go on."""

    def _first_hits(self, starts: Single, ways: Single, limits: Single) -> Single:
        distances, rays = limits.copy(), np.arange(len(limits))
        passed = np.zeros(len(limits), np.float32)  # share of each ray that is behind it
        while len(rays):
            at, way = starts[rays] + passed[rays, None] * ways[rays], ways[rays]
            hits = self._scene.run(at, way, dists=limits[rays] - passed[rays], output=1)
            is_hit = hits["primID"] >= 0
            leaves = is_hit & (np.einsum("ij,ij->i", hits["Ng"], way) > 0.0)
            enters = is_hit & ~leaves
            distances[rays[enters]] = passed[rays[enters]] + hits["tfar"][enters]
            step = SKIN / np.linalg.norm(way[leaves], axis=1)
            rays = rays[leaves]
            passed[rays] += hits["tfar"][leaves] + step
        return distances
