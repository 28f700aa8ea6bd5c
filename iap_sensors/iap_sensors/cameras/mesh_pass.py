# SPDX-License-Identifier: BSD-3-Clause
"""Draws a loaded scene as a camera sees it, with OpenGL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.framebuffers import RenderTarget
from iap_sensors.cameras.geometry import Geometry, PlacedParts, place, place_spheres, visible
from iap_sensors.cameras.programs import UNITS, Look, Programs
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.shadows import (
    BODY_MAP_SIZE,
    MIN_CASTER_HEIGHT,
    SCENE_MAP_SIZE,
    ShadowMap,
    tops,
)
from iap_sensors.cameras.view import PinholeView, camera_of_map


@dataclass(frozen=True, eq=False)
class _Viewpoint:
    """A camera's view from a place; planes (6, 4) in `map` around it."""

    shot: Shot
    view: PinholeView
    place: tuple[Array, Array]
    planes_W: Array


class Painter:
    """A scene and bodies on the graphics card.

    Args:
        context: to draw with; it has to be current in every call.
        scene: what stands still.
        bodies: parts of what moves.

    Raises:
        BadInput: a part has a texture that the scene does not have.
    """

    def __init__(
        self, context: moderngl.Context, scene: Scene, bodies: Sequence[Sequence[MeshPart]]
    ) -> None:
        self._context, self._scene, self._count = context, scene, len(bodies)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky is as far as can be
        self._geometry = geometry = Geometry.of(scene, bodies)
        self._corners = geometry.corners.copy()  # these and the spheres are in map
        self._spheres = geometry.spheres.copy()
        self._picked = np.zeros_like(geometry.faces)
        self._keys = np.zeros((2, len(geometry.faces)), np.int32)
        self._corner_buffer = context.buffer(self._corners.tobytes() or bytes(24), dynamic=True)
        attributes = context.buffer(geometry.attributes.tobytes() or bytes(32))
        self._face_buffer = context.buffer(reserve=max(geometry.faces.nbytes, 12), dynamic=True)
        self._programs = Programs(context, self._corner_buffer, attributes, self._face_buffer)
        self._textures = _upload(context, scene, geometry.layers)
        of_body = geometry.rows >= 0
        self._casters = of_body & (geometry.opacity == 1.0)
        standing = ~of_body & (geometry.opacity == 1.0) & (tops(geometry) > MIN_CASTER_HEIGHT)
        shared = (context, self._corner_buffer, geometry)
        self._shadows, self._body_shadows = (
            ShadowMap.of(*shared, parts, size=size, is_lit=scene.light.strength > 0.0)
            for parts, size in ((standing, SCENE_MAP_SIZE), (self._casters, BODY_MAP_SIZE))
        )
        self._shadows.draw(self._spheres[standing], scene.light.direction_W)

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (bodies, 7)."""
        if poses.shape != (self._count, 7):
            raise ValueError(f"{self._count} bodies have poses {poses.shape}")
        geometry, first = self._geometry, self._geometry.static
        if first == len(self._corners):
            return
        moving = self._corners[first:]
        place(geometry.corners[first:], geometry.owners[first:], poses, moving)
        place_spheres(geometry.spheres, geometry.rows, poses, self._spheres)
        self._corner_buffer.write(moving.tobytes(), offset=24 * first)
        casters = self._spheres[self._casters]
        self._body_shadows.draw(casters, self._scene.light.direction_W)

    def paint(
        self, target: RenderTarget, shot: Shot, view: PinholeView, place: tuple[Array, Array]
    ) -> None:
        """Draw what a camera sees.

        Args:
            target: to draw on.
            shot: the camera, and what is not drawn.
            view: what is drawn of it.
            place: p_WC_W (3,) [m] and q_WC (4,) to draw from.
        """
        near, far = shot.spec.near, shot.spec.far
        viewpoint = _Viewpoint(shot, view, place, view.planes(place, near, far))
        clip_of_map = view.projection(near, far) @ camera_of_map(*place)
        if target.format.kind == "range":
            target.begin()
            opaque = self._pick(viewpoint, see_through=False)
            self._programs.range().draw({"clip_of_map": clip_of_map}, opaque)
        else:
            values = {"clip_of_map": clip_of_map, **self._values(viewpoint)}
            self._paint_look(target, viewpoint, values)

    def _paint_look(
        self, target: RenderTarget, viewpoint: _Viewpoint, values: Mapping[str, ArrayLike]
    ) -> None:
        """Draw what things look like: first what is opaque, then the sky, then what one sees through."""
        look = Look(
            target.format.kind == "mono",
            self._scene.fog is not None,
            self._body_shadows.has_faces,
            viewpoint.shot.spec.vignetting > 0.0,
        )
        target.begin()
        self._textures.use(UNITS["textures"])
        self._shadows.texture.use(UNITS["shadows"])
        self._body_shadows.texture.use(UNITS["body_shadows"])
        surface = self._programs.surface(look)
        surface.draw(values, self._pick(viewpoint, see_through=False))
        self._programs.sky(look).draw(values, 3)
        self._context.enable(moderngl.BLEND)
        surface.draw(values, self._pick(viewpoint, see_through=True))
        self._context.disable(moderngl.BLEND)

    def _values(self, viewpoint: _Viewpoint) -> Mapping[str, ArrayLike]:
        """Values of the programs' variables, by name."""
        spec, view, K = viewpoint.shot.spec, viewpoint.view, viewpoint.view.K
        return {
            **self._scene_values,
            "body_shade_of_map": self._body_shadows.shade_of_map,
            "eye": viewpoint.place[0],
            "gain": 2.0**spec.exposure,
            "lens": (K[0, 0], K[1, 1], K[0, 2] + 0.5, K[1, 2] + 0.5),
            "vignetting": spec.vignetting / view.corner,
            "map_of_ray": so3.matrix_from_quaternion(viewpoint.place[1]),
            "edges": view.edges,
        }

    @cached_property
    def _scene_values(self) -> Mapping[str, ArrayLike]:
        light, fog, sky = self._scene.light, self._scene.fog, self._scene.sky
        towards = np.asarray(light.direction_W) / np.linalg.norm(light.direction_W)
        return {
            "shade_of_map": self._shadows.shade_of_map,
            "light": light.strength * towards,
            "ambient": light.ambient,
            "fog_color": (0.0, 0.0, 0.0) if fog is None else fog.color[:3],
            "fog_density": 0.0 if fog is None else fog.density / np.log(2.0),
            "zenith": sky.zenith[:3],
            "horizon": sky.horizon[:3],
        }

    def _pick(self, viewpoint: _Viewpoint, *, see_through: bool) -> int:
        """Send the faces that may be seen to the graphics card, opaque ones or the others; the number of vertices."""
        geometry = self._geometry
        drawn = (geometry.opacity < 1.0) == see_through
        for row in viewpoint.shot.hidden:
            drawn &= geometry.rows != row
        count = visible(
            PlacedParts(self._corners, geometry.faces, geometry.firsts, self._spheres),
            drawn,
            np.asarray(viewpoint.place[0], dtype=float),
            viewpoint.planes_W,
            see_through,  # what is behind shines through what is in front
            self._picked,
            self._keys,
        )
        self._face_buffer.orphan()
        self._face_buffer.write(self._picked[:count].tobytes())
        return 3 * count


def _upload(
    context: moderngl.Context, scene: Scene, layers: Sequence[str]
) -> moderngl.TextureArray:
    """All textures at the size of the largest, their last rows first, where v is 0; the first one is white."""
    images = [scene.textures[name] for name in layers[1:]]
    height, width = np.max([image.shape[:2] for image in images] or [(1, 1)], axis=0).tolist()
    stack = np.full((len(layers), height, width, 4), 255, np.uint8)
    for layer, image in zip(stack[1:], images, strict=True):
        layer[..., :3] = cv2.resize(image[::-1], (width, height), interpolation=cv2.INTER_CUBIC)
    textures = context.texture_array((width, height, len(layers)), 4, stack.tobytes())
    textures.build_mipmaps()
    textures.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    return textures
