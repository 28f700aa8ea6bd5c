# SPDX-License-Identifier: BSD-3-Clause
"""Draws a loaded scene in physical light, as a camera sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.drawn_geometry import DrawnGeometry, ShotView
from iap_sensors.cameras.framebuffers import RenderTarget
from iap_sensors.cameras.programs import Programs
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.view import PinholeView
from iap_sensors.physical.darkroom import Darkroom, LightFormat, LightTarget
from iap_sensors.physical.day_course import DayCourse
from iap_sensors.physical.lamps import DrawnLamps
from iap_sensors.physical.material_maps import MaterialMaps
from iap_sensors.physical.programs import UNITS, columns_of, program, write
from iap_sensors.physical.scene_light import SceneLight
from iap_sensors.physical.scene_textures import FORM, MaterialTextures
from iap_sensors.physical.tone import WHITE, curve_of, gain_of

FINE = 2  # pixels of light along one of an image with several samples a pixel


@dataclass(frozen=True)
class _Look:
    """Parts of the shaders that an image needs."""

    mono: bool
    fog: bool
    bodies: bool
    water: bool

    @property
    def defines(self) -> tuple[str, ...]:
        """The switches of the shaders."""
        return tuple(name.upper() for name, on in vars(self).items() if on)


class LightPainter:
    """A scene and bodies in physical light.

    Args:
        context: to draw with; it has to be current in every call.
        scene: what stands still, with its light.
        bodies: parts of what moves.

    Raises:
        BadInput: a part has an unknown texture or material, or there is no light.
    """

    def __init__(
        self, context: moderngl.Context, scene: Scene, bodies: Sequence[Sequence[MeshPart]]
    ) -> None:
        self._context = context
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky is as far as can be
        self._course = DayCourse(scene)
        self._drawn = drawn = DrawnGeometry(context, scene, bodies)
        self._ranges = Programs(
            context, drawn.corner_buffer, drawn.attribute_buffer, drawn.face_buffer
        )
        parts = [*scene.parts, *(part for body in bodies for part in body)]
        self._maps = maps = MaterialMaps(parts, scene.surfaces)
        self._materials = MaterialTextures(context, maps)
        self._light = SceneLight(context, drawn, maps, self._course.environment)
        self._lamps: DrawnLamps | None = None
        if self._course.environment.lamps:
            self._lamps = DrawnLamps(context, drawn, self._course.environment.lamps)
        self._targets: dict[LightFormat, LightTarget] = {}
        self._darkroom = Darkroom(context)
        attributes = context.buffer(maps.attributes.tobytes() or bytes(40))
        self._buffers = drawn.corner_buffer, attributes, drawn.face_buffer
        self._make_programs()

    def _make_programs(self) -> None:
        """Forget the programs of the light before."""
        defines = () if self._lamps is None else self._lamps.defines
        defines = (*defines, "OPENNESS") if self._light.has_openness else defines
        defines = (*defines, "GLOW") if self._materials.glow is not None else defines
        constants = {
            **self._light.constants,
            **({} if self._lamps is None else self._lamps.constants),
            "varied": self._materials.varied + 0.5,
        }
        # Of functions, not of methods: in a cycle the programs would outlive this object on the graphics card.
        self._surface = cache(
            partial(_surface, self._context, self._buffers, (defines, constants))
        )
        self._sky_program = cache(partial(_sky, self._context, constants))

    def luminance(self, shot: Shot) -> float:
        """Luminance of light 1 [cd/m^2]."""
        return 1000.0 * self._course.environment.exposed_for / (WHITE * 2.0**shot.spec.exposure)

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (bodies, 7)."""
        if self._drawn.place(poses):
            self._light.place(self._drawn)
            if self._lamps is not None:
                self._lamps.place(self._drawn)

    def _advance(self, t: float) -> None:
        """Light the scene as at a time of the flight [s]."""
        if self._course.advance(t):
            self._context.gc()
            self._light = SceneLight(
                self._context, self._drawn, self._maps, self._course.environment
            )
            self._light.place(self._drawn)
            self._make_programs()

    def paint(
        self, target: RenderTarget, shot: Shot, view: PinholeView, place: tuple[Array, Array]
    ) -> None:
        """Draw what a camera sees, see `Artist`."""
        viewpoint = ShotView(shot, view, place)
        if target.format.kind == "range":
            target.begin()
            opaque = self._drawn.pick(viewpoint, see_through=False)
            self._ranges.range().draw({"clip_of_map": viewpoint.clip_of_map}, opaque)
            return
        self._advance(shot.t)
        fine = FINE if shot.spec.antialiasing > 1 else 1
        if target.format.is_light and fine == 1 and shot.spec.vignetting == 0.0:
            self._paint_light(target.drawn, viewpoint, mono=target.format.is_grey)
            return  # nothing is left to develop
        size = fine * target.format.width, fine * target.format.height
        form = LightFormat(*size, target.format.is_grey, target.format.is_light)
        if form not in self._targets:
            self._targets[form] = LightTarget(self._context, form)
        light, curve = self._targets[form], curve_of(shot.spec)
        self._paint_light(light.frame, viewpoint, mono=form.mono)
        K = view.K * fine
        lens = (K[0, 0], K[1, 1], K[0, 2] + 0.5 * fine, K[1, 2] + 0.5 * fine)
        values: Mapping[str, ArrayLike] = {
            "lens": lens,
            "vignetting": shot.spec.vignetting / view.corner,
        }
        self._darkroom.develop(light, target, curve, values)

    def _paint_light(
        self, frame: moderngl.Framebuffer, viewpoint: ShotView, *, mono: bool
    ) -> None:
        """Draw light: first what is opaque, then the sky and lamps, then what one sees through."""
        environment = self._light.environment
        has_water = environment.wetness > 0.0 or environment.weather.snow_cover > 0.0
        look = _Look(
            mono,
            environment.fog_density > 0.0,
            self._light.has_body_shadows,
            has_water,
        )
        values = {**self._light.values, **self._values(viewpoint)}
        frame.use()
        frame.clear()
        self._use_textures()
        surface, triangles = self._surface(look)
        write(surface, values)
        _render(triangles, self._drawn.pick(viewpoint, see_through=False))
        sky, whole = self._sky_program(look)
        write(sky, values)
        whole.render(vertices=3)
        if self._lamps is not None:
            self._lamps.draw(values, mono=mono)
        self._context.enable(moderngl.BLEND)
        _render(triangles, self._drawn.pick(viewpoint, see_through=True))
        frame.depth_mask = False
        self._light.particles.draw(values, viewpoint, frame.size, mono=mono)
        frame.depth_mask = True
        self._context.disable(moderngl.BLEND)

    def _use_textures(self) -> None:
        self._materials.albedo_roughness.use(UNITS["albedo_roughness"])
        self._materials.relief.use(UNITS["relief"])
        self._materials.noise.use(UNITS["noise"])
        if self._materials.glow is not None:
            self._materials.glow.use(UNITS["glow"])
        self._light.use()
        if self._lamps is not None:
            self._lamps.use()

    def _values(self, viewpoint: ShotView) -> Mapping[str, ArrayLike]:
        """Values of the programs' variables that change from image to image."""
        map_of_ray = so3.matrix_from_quaternion(viewpoint.place[1])
        map_of_camera = np.eye(4)
        map_of_camera[:3, :3] = map_of_ray
        return {
            "clip_of_map": viewpoint.clip_of_map,
            **({} if self._lamps is None else self._lamps.values(viewpoint.shot)),
            "place_of_eye": viewpoint.place[0],
            "gain_of_image": gain_of(viewpoint.shot.spec, self._light.environment.exposed_for),
            "map_of_ray": map_of_ray,
            "map_of_camera": map_of_camera,
            "edges": viewpoint.view.edges,
        }


def _render(triangles: moderngl.VertexArray, count: int) -> None:
    if count > 0:
        triangles.render(vertices=count)


def _surface(
    context: moderngl.Context,
    buffers: tuple[moderngl.Buffer, moderngl.Buffer, moderngl.Buffer],
    light: tuple[tuple[str, ...], Mapping[str, ArrayLike]],
    look: _Look,
) -> tuple[moderngl.Program, moderngl.VertexArray]:
    """Draws surfaces in a light, of which there are switches and constants."""
    (corners, attributes, faces), (extra, constants) = buffers, light
    pieces = [
        "common.glsl",
        "surface.frag",
        *(["lamps.glsl"] if any(each.startswith("LAMPS") for each in extra) else []),
    ]
    vertex = ("camera.glsl", "surface.vert")
    made = program(context, vertex, pieces, (*look.defines, *extra), constants)
    layouts = [
        columns_of(made, corners, "3f 3f", "position", "normal"),
        columns_of(made, attributes, *FORM),
    ]
    return made, context.vertex_array(made, layouts, faces)


def _sky(
    context: moderngl.Context, constants: Mapping[str, ArrayLike], look: _Look
) -> tuple[moderngl.Program, moderngl.VertexArray]:
    """Draws the sky, with three vertices."""
    files = ("camera.glsl", "sky.vert"), ("common.glsl", "sky.frag")
    made = program(context, *files, look.defines, constants)
    return made, context.vertex_array(made, [])
