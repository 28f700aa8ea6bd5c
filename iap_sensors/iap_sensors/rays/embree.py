# SPDX-License-Identifier: BSD-3-Clause
"""Rays at triangles by Embree, in single precision: a hit at distance d is exact to about 1e-7 d."""

from typing import Self

import numpy as np

from iap_description.arrays import Booleans
from iap_sensors.rays.caster import NO_FACE, Hits, Single
from iap_sensors.rays.embree_packets import PacketScene, TriangleScene
from iap_sensors.rays.surfaces import TriangleSurface
from iap_sensors.rays.turning import settle

SKIN = 1e-5  # way beyond a surface at which a ray goes on [m]


class EmbreeCaster:
    """A scene of Embree's. A solid does not stop a ray that begins in it.

    Args:
        scene: of the triangles; None of none.
        is_solid: (n,) of each triangle, see `TriangleSurface`.

    Attributes:
        scene: as given.
    """

    def __init__(self, scene: PacketScene | None, is_solid: Booleans) -> None:
        self.scene, self._is_solid = scene, np.ascontiguousarray(is_solid)

    @classmethod
    def of(cls, surface: TriangleSurface) -> Self:
        """The caster of a surface that stands in its frame."""
        scene = TriangleScene(surface.corners) if len(surface.corners) else None
        return cls(scene, surface.is_solid)

    def first_hits(self, starts: Single, ways: Single, reach: Single) -> Hits:
        """The first hits of rays (n, 3), (n, 3) of unit length, up to a distance (n,) [m]."""
        distance, face = reach.copy(), np.full(len(reach), NO_FACE, np.int32)
        if self.scene is None or not len(reach):
            return Hits(distance, face, np.zeros((len(reach), 3), np.float32))
        tfar, prim, normal = self.scene.first_hits(starts, ways, reach)
        if settle(tfar, prim, normal, ways, self._is_solid, distance, face):
            left = np.flatnonzero((prim >= 0) & (face == NO_FACE))
            passed = tfar[left] + np.float32(SKIN)
            hits = Hits(distance, face, normal)
            self._go_on(self.scene, left, passed, (starts, ways, reach), hits)
        return Hits(distance, face, normal)

    def _go_on(
        self,
        scene: PacketScene,
        rays: np.ndarray,
        passed: Single,
        bundle: tuple[Single, Single, Single],
        out: Hits,
    ) -> None:
        """Cast the rays that leave a solid again, behind it, until all have ended."""
        starts, ways, reach = bundle
        while len(rays):
            way = ways[rays]
            at = starts[rays] + passed[:, None] * way
            tfar, face, normal = scene.first_hits(at, way, reach[rays] - passed)
            along = np.einsum("ij,ij->i", normal, way)
            leaves = (face >= 0) & self._is_solid[face] & (along > 0.0)
            ends = (face >= 0) & ~leaves
            out.distance[rays[ends]] = passed[ends] + tfar[ends]
            out.face[rays[ends]] = face[ends]
            out.normal[rays[ends]] = normal[ends]
            passed = passed[leaves] + tfar[leaves] + np.float32(SKIN)
            rays = rays[leaves]

    def is_blocked(self, starts: Single, ways: Single, reach: Single) -> Booleans:
        """True if (n,) anything is in the way of rays, from either side."""
        if self.scene is None or not len(reach):
            return np.zeros(len(reach), dtype=bool)
        return self.scene.is_blocked(starts, ways, reach)
