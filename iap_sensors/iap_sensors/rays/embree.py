# SPDX-License-Identifier: BSD-3-Clause
"""Rays at triangles by Embree, in single precision: a hit at distance d is exact to about 1e-7 d.

Embree holds Python's lock while it casts, so that threads gain nothing: many worlds on several cores are shared out to
processes.
"""

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene

from iap_description.arrays import Booleans
from iap_sensors.rays.caster import NOTHING, Hits, Single
from iap_sensors.rays.surfaces import Surface
from iap_sensors.rays.turning import settle

SKIN = 1e-5  # way beyond a surface at which a ray goes on [m]


class EmbreeCaster:
    """A surface in a scene of Embree's. A solid does not stop a ray that begins in it.

    Args:
        surface: the triangles.
    """

    def __init__(self, surface: Surface) -> None:
        self._is_solid = np.ascontiguousarray(surface.is_solid)
        self._scene = EmbreeScene(robust=True)
        self._is_empty = len(surface.corners) == 0
        if not self._is_empty:
            TriangleMesh(self._scene, surface.corners.astype(np.float32))

    def first_hits(self, starts: Single, ways: Single, reach: Single) -> Hits:
        """See `iap_sensors.rays.caster.SurfaceCaster`."""
        distance, face = reach.copy(), np.full(len(reach), NOTHING, np.int32)
        if self._is_empty or not len(reach):
            return Hits(distance, face, np.zeros((len(reach), 3), np.float32))
        hits = self._scene.run(starts, ways, dists=reach.copy(), output=1)
        tfar, prim, normal = hits["tfar"], hits["primID"], hits["Ng"]
        if settle(tfar, prim, normal, ways, self._is_solid, distance, face):
            left = np.flatnonzero((prim >= 0) & (face == NOTHING))
            passed = tfar[left] + np.float32(SKIN)
            self._go_on(left, passed, (starts, ways, reach), Hits(distance, face, normal))
        return Hits(distance, face, normal)

    def _go_on(
        self, rays: np.ndarray, passed: Single, given: tuple[Single, Single, Single], out: Hits
    ) -> None:
        """Cast the rays that leave a solid again, behind it, until all have ended."""
        starts, ways, reach = given
        while len(rays):
            way = ways[rays]
            at = starts[rays] + passed[:, None] * way
            hits = self._scene.run(at, way, dists=reach[rays] - passed, output=1)
            face = hits["primID"]
            along = np.einsum("ij,ij->i", hits["Ng"], way)
            leaves = (face >= 0) & self._is_solid[face] & (along > 0.0)
            ends = (face >= 0) & ~leaves
            out.distance[rays[ends]] = passed[ends] + hits["tfar"][ends]
            out.face[rays[ends]] = face[ends]
            out.normal[rays[ends]] = hits["Ng"][ends]
            passed = passed[leaves] + hits["tfar"][leaves] + np.float32(SKIN)
            rays = rays[leaves]

    def is_blocked(self, starts: Single, ways: Single, reach: Single) -> Booleans:
        """See `iap_sensors.rays.caster.SurfaceCaster`."""
        if self._is_empty or not len(reach):
            return np.zeros(len(reach), dtype=bool)
        hit = self._scene.run(starts, ways, dists=reach.copy(), query="OCCLUDED")
        return np.asarray(hit >= 0)
