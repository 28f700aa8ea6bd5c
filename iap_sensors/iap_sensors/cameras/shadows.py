# SPDX-License-Identifier: BSD-3-Clause
"""Shadows of a distant light: the depth of what stands in it, seen from the light."""

from collections.abc import Sequence
from typing import Any, Self

import moderngl
import numpy as np

from iap_description.arrays import Array, Booleans, Singles
from iap_sensors.cameras import shaders
from iap_sensors.cameras.geometry import Geometry

SCENE_MAP_SIZE, BODY_MAP_SIZE = (
    2048,
    512,
)  # sides of the shadow maps of the scene and of the bodies [pixels]
MIN_CASTER_HEIGHT = 0.05  # what is nowhere higher casts no shadow [m]
OFFSET = (1.5, 2.0)  # by which a surface is behind itself: per slope, and steps of depth


class ShadowMap:
    """A map of one side's length in pixels, over what casts shadows; whatever is outside of it is in the light.

    Args:
        context: to draw with.
        size: [pixels].
        corners: buffer with position and normal of each vertex in `map`.
        faces: buffer with the vertices of the faces that cast shadows; None: there are no shadows.

    Attributes:
        texture: the map, which compares depths.
        shade_of_map: (4, 4) from `map` to the map's clip space.
        has_faces: whether anything casts shadows.
    """

    def __init__(
        self,
        context: moderngl.Context,
        size: int,
        corners: moderngl.Buffer,
        faces: moderngl.Buffer | None,
    ) -> None:
        self._context, self._size = context, size
        self.texture = context.depth_texture((size, size))
        self.texture.compare_func = "<="
        self.texture.repeat_x = self.texture.repeat_y = False
        self._target = context.framebuffer(depth_attachment=self.texture)
        self._target.clear(depth=1.0)
        self.shade_of_map = np.eye(4)
        self.has_faces = faces is not None
        if faces is None:
            return
        program = context.program(
            vertex_shader=shaders.source(shaders.SHADOW_VERTEX),
            fragment_shader=shaders.source(shaders.SHADOW_FRAGMENT),
        )
        self._shade_of_map: Any = program["shade_of_map"]
        self._mesh = context.vertex_array(program, [(corners, "3f 3x4", "position")], faces)

    @classmethod
    def of(
        cls,
        context: moderngl.Context,
        corners: moderngl.Buffer,
        geometry: Geometry,
        parts: Booleans,
        *,
        size: int,
        is_lit: bool,
    ) -> Self:
        """A map of chosen parts (parts,), which cast shadows where there is light."""
        triangles = geometry.faces[np.repeat(parts, np.diff(geometry.firsts))]
        casts = len(triangles) > 0 and is_lit
        return cls(context, size, corners, context.buffer(triangles.tobytes()) if casts else None)

    def draw(self, spheres_W: Singles, direction_W: Sequence[float]) -> None:
        """Draw the faces, if there are any, which keep within spheres (n, 4) [m], as the light sees them."""
        if not self.has_faces:
            return
        self.shade_of_map = _fitted(_boxes(spheres_W), direction_W, 1.0 - 4.0 / self._size)
        self._shade_of_map.write(self.shade_of_map.T.astype("f4").tobytes())
        self._target.use()
        self._target.clear(depth=1.0)
        self._context.polygon_offset = OFFSET
        self._mesh.render()
        self._context.polygon_offset = 0.0, 0.0


def tops(geometry: Geometry) -> Array:
    """Height (parts,) of the highest vertex of each part, in its frame [m]."""
    first, last = geometry.firsts[:-1], geometry.firsts[1:]
    heights = [geometry.corners[geometry.faces[a:b], 2] for a, b in zip(first, last, strict=True)]
    return np.array([each.max(initial=-np.inf) for each in heights])


def _fitted(points_W: Array, direction_W: Sequence[float], share: float) -> Array:
    """(4, 4) from `map` to a cube of which the points' box, along the light, fills a share."""
    z = -np.asarray(direction_W, dtype=float) / np.linalg.norm(direction_W)
    x = np.cross(z, [0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(z, x), z])
    projected = points_W @ axes.T
    lower, upper = projected.min(axis=0), projected.max(axis=0)
    scale = 2.0 * share / np.maximum(upper - lower, 1e-3)
    to_shade = np.eye(4)
    to_shade[:3, :3] = scale[:, None] * axes
    to_shade[:3, 3] = -0.5 * scale * (lower + upper)
    return to_shade


def _boxes(spheres: Singles) -> Array:
    """Corners (n, 3) [m] of boxes around spheres (m, 4)."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    return (spheres[:, None, :3] + spheres[:, None, 3:] * signs).reshape(-1, 3).astype(float)
