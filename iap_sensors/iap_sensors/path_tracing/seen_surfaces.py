# SPDX-License-Identifier: BSD-3-Clause
"""First hits of a pinhole's rays through the middles of its pixels: exact depths and labels."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.math import so3
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.view import PinholeView
from iap_sensors.path_tracing.traced_scene import Singles
from iap_sensors.rays.caster import Hits
from iap_sensors.rays.embree import EmbreeCaster
from iap_sensors.rays.surfaces import TriangleSurface

FARTHEST = 1e5  # [m]


class SeenSurfaces:
    """Opaque triangles of a scene and of bodies, which are seen from their front.

    Args:
        geometry: of both.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        counts = np.diff(geometry.firsts)
        opaque = np.repeat(geometry.opacity == 1.0, counts)
        rows = np.repeat(geometry.rows, counts)
        self._labels = geometry.attributes["label"].astype(np.int32)
        self._rows = rows[opaque & (rows >= 0)]
        self._standing = geometry.faces[opaque & (rows < 0)]
        self._moving = geometry.faces[opaque & (rows >= 0)]
        self._caster = _caster(geometry.corners, self._standing)

    def look(
        self, shot: Shot, view: PinholeView, place: tuple[Array, Array], corners: Singles
    ) -> tuple[Array, Array]:
        """Depth along the view (h, w) [m], infinite where nothing is seen, and labels (h, w), 0 there.

        Args:
            shot: of the camera.
            view: its pinhole.
            place: p_WC_W (3,) and q_WC (4,).
            corners: (vertices, 6) in `map`, those of bodies where they are.
        """
        p_WC_W, q_WC = place
        v, u = np.mgrid[0 : view.height, 0 : view.width]
        x, y = (u - view.K[0, 2]) / view.K[0, 0], (v - view.K[1, 2]) / view.K[1, 1]
        ways_C = np.stack([x, y, np.ones_like(x)], -1).reshape(-1, 3)
        lengths = np.linalg.norm(ways_C, axis=1)
        ways_C /= lengths[:, None]
        ways = np.ascontiguousarray(ways_C @ so3.matrix_from_quaternion(q_WC).T, np.float32)
        near = shot.spec.near * lengths  # what is closer along the view lets rays through
        starts = np.ascontiguousarray(p_WC_W + near[:, None] * ways, np.float32)
        reach = np.full(len(ways), FARTHEST, np.float32)
        hits, faces = self._caster.first_hits(starts, ways, reach), self._standing
        labels = self._labels_of(hits, faces)
        shown = self._moving[~np.isin(self._rows, shot.hidden)]
        if len(shown):
            reach = hits.distance.copy()
            nearer = _caster(corners, shown).first_hits(starts, ways, reach)
            first = nearer.face >= 0
            labels = np.where(first, self._labels_of(nearer, shown), labels)
            hits = Hits(
                np.where(first, nearer.distance, hits.distance),
                np.where(first, nearer.face, hits.face),
                hits.normal,
            )
        depth = np.where(hits.face >= 0, (hits.distance + near) / lengths, np.inf)
        shape = view.height, view.width
        return depth.reshape(shape), labels.reshape(shape)

    def _labels_of(self, hits: Hits, faces: NDArray[np.int32]) -> Array:
        if len(faces) == 0:
            return np.zeros(len(hits.face), np.int32)
        return np.where(hits.face >= 0, self._labels[faces[hits.face, 0]], 0)


def _caster(corners: Singles, faces: NDArray[np.int32]) -> EmbreeCaster:
    """The caster of triangles that let rays through from behind."""
    points = np.ascontiguousarray(corners[:, :3], float)[faces].reshape(-1, 3, 3)
    return EmbreeCaster.of(TriangleSurface.of([points], is_solid=True, label=0))
