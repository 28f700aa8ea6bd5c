# SPDX-License-Identifier: BSD-3-Clause
"""Draws a loaded scene as a camera sees it, with OpenGL."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.drawn_geometry import DrawnGeometry, ShotView
from iap_sensors.cameras.framebuffers import RenderTarget
from iap_sensors.cameras.programs import UNITS, Look, Programs
from iap_sensors.cameras.renderer import Shot, refuse_tone
from iap_sensors.cameras.shadows import BODY_MAP_SIZE, SCENE_MAP_SIZE, ShadowMap
from iap_sensors.cameras.view import PinholeView


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
        self._context, self._scene = context, scene
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky is as far as can be
        self._drawn = drawn = DrawnGeometry(context, scene, bodies)
        self._programs = Programs(
            context, drawn.corner_buffer, drawn.attribute_buffer, drawn.face_buffer
        )
        self._textures = _upload(context, scene, drawn.geometry.layers)
        shared = (context, drawn.corner_buffer, drawn.geometry)
        self._shadows, self._body_shadows = (
            ShadowMap.of(*shared, parts, size=size, is_lit=scene.light.strength > 0.0)
            for parts, size in ((drawn.standing, SCENE_MAP_SIZE), (drawn.casters, BODY_MAP_SIZE))
        )
        self._shadows.draw(drawn.spheres[drawn.standing], scene.light.direction_W)

    def luminance(self, shot: Shot) -> float | None:  # noqa: ARG002
        """Luminance of light 1, which is unknown."""
        return None

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (bodies, 7)."""
        if self._drawn.place(poses):
            casters = self._drawn.spheres[self._drawn.casters]
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
        refuse_tone(shot.spec, "opengl")
        viewpoint = ShotView(shot, view, place)
        clip_of_map = viewpoint.clip_of_map
        if target.format.kind == "range":
            target.begin()
            opaque = self._drawn.pick(viewpoint, see_through=False)
            self._programs.range().draw({"clip_of_map": clip_of_map}, opaque)
        else:
            values = {"clip_of_map": clip_of_map, **self._values(viewpoint)}
            self._paint_look(target, viewpoint, values)

    def _paint_look(
        self, target: RenderTarget, viewpoint: ShotView, values: Mapping[str, ArrayLike]
    ) -> None:
        """Draw what things look like: first what is opaque, then the sky, then what one sees through."""
        look = Look(
            target.format.is_grey,
            self._scene.fog is not None,
            self._body_shadows.has_faces,
            viewpoint.shot.spec.vignetting > 0.0,
        )
        target.begin()
        self._textures.use(UNITS["textures"])
        self._shadows.texture.use(UNITS["shadows"])
        self._body_shadows.texture.use(UNITS["body_shadows"])
        surface = self._programs.surface(look)
        surface.draw(values, self._drawn.pick(viewpoint, see_through=False))
        self._programs.sky(look).draw(values, 3)
        self._context.enable(moderngl.BLEND)
        surface.draw(values, self._drawn.pick(viewpoint, see_through=True))
        self._context.disable(moderngl.BLEND)

    def _values(self, viewpoint: ShotView) -> Mapping[str, ArrayLike]:
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
