# SPDX-License-Identifier: BSD-3-Clause
"""The triangles of a scene and of bodies on the graphics card, and those of them that a camera may see."""

from collections.abc import Sequence
from dataclasses import dataclass

import moderngl
import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.geometry.tessellation import MeshPart
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.geometry import Geometry, PlacedParts, place, place_spheres, visible
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.shadows import MIN_CASTER_HEIGHT, tops
from iap_sensors.cameras.view import PinholeView, camera_of_map


@dataclass(frozen=True, eq=False)
class ShotView:
    """A camera's view from a place: p_WC_W (3,) [m] and q_WC (4,)."""

    shot: Shot
    view: PinholeView
    place: tuple[Array, Array]

    @property
    def planes_W(self) -> Array:
        """(6, 4) planes around what is seen, see `PinholeView.planes`."""
        return self.view.planes(self.place, self.shot.spec.near, self.shot.spec.far)

    @property
    def clip_of_map(self) -> Array:
        """(4, 4) from `map` to clip space."""
        projection = self.view.projection(self.shot.spec.near, self.shot.spec.far)
        return np.asarray(projection @ camera_of_map(*self.place))


class DrawnGeometry:
    """Triangles in buffers of the graphics card.

    Args:
        context: to draw with; it has to be current in every call.
        scene: what stands still.
        bodies: parts of what moves.

    Attributes:
        geometry: the triangles.
        corner_buffer: position and normal of each vertex in `map`.
        attribute_buffer: texture coordinates, layer, colour and label of each vertex.
        face_buffer: vertices of the faces that `pick` has sent.
        spheres: (parts, 4) around each part, in `map`.
        standing: (parts,) those of the scene that cast shadows.
        casters: (parts,) those of bodies that do.

    Raises:
        BadInput: a part has a texture that the scene does not have.
    """

    def __init__(
        self, context: moderngl.Context, scene: Scene, bodies: Sequence[Sequence[MeshPart]]
    ) -> None:
        self._count = len(bodies)
        self.geometry = geometry = Geometry.of(scene, bodies)
        self._corners = geometry.corners.copy()  # these and the spheres are in map
        self.spheres = geometry.spheres.copy()
        self._picked = np.zeros_like(geometry.faces)
        self._keys = np.zeros((2, len(geometry.faces)), np.int32)
        self.corner_buffer = context.buffer(self._corners.tobytes() or bytes(24), dynamic=True)
        self.attribute_buffer = context.buffer(geometry.attributes.tobytes() or bytes(32))
        self.face_buffer = context.buffer(reserve=max(geometry.faces.nbytes, 12), dynamic=True)
        of_body, is_opaque = geometry.rows >= 0, geometry.opacity == 1.0
        self.casters: Booleans = of_body & is_opaque
        self.standing: Booleans = ~of_body & is_opaque & (tops(geometry) > MIN_CASTER_HEIGHT)

    def place(self, poses: Array) -> bool:
        """Move the bodies to poses (bodies, 7); False if there are none."""
        if poses.shape != (self._count, 7):
            raise ValueError(f"{self._count} bodies have poses {poses.shape}")
        geometry, first = self.geometry, self.geometry.static
        if first == len(self._corners):
            return False
        moving = self._corners[first:]
        place(geometry.corners[first:], geometry.owners[first:], poses, moving)
        place_spheres(geometry.spheres, geometry.rows, poses, self.spheres)
        self.corner_buffer.write(moving.tobytes(), offset=24 * first)
        return True

    def pick(self, viewpoint: ShotView, *, see_through: bool) -> int:
        """Send the faces that may be seen to the graphics card, opaque ones or the others; the number of vertices."""
        geometry = self.geometry
        drawn = (geometry.opacity < 1.0) == see_through
        for row in viewpoint.shot.hidden:
            drawn &= geometry.rows != row
        count = visible(
            PlacedParts(self._corners, geometry.faces, geometry.firsts, self.spheres),
            drawn,
            np.asarray(viewpoint.place[0], dtype=float),
            viewpoint.planes_W,
            see_through,  # what is behind shines through what is in front
            self._picked,
            self._keys,
        )
        self.face_buffer.orphan()
        self.face_buffer.write(self._picked[:count].tobytes())
        return 3 * count
