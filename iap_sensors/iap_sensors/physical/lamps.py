# SPDX-License-Identifier: BSD-3-Clause
"""Lamps on the graphics card: their shadows in one atlas, and the discs by which they are seen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans
from iap_description.scenes.lighting import Lamp
from iap_sensors.cameras import shaders
from iap_sensors.cameras.drawn_geometry import DrawnGeometry
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.shadows import OFFSET
from iap_sensors.physical.lamp_colors import lamp_colors, lamp_levels
from iap_sensors.physical.programs import UNITS, columns_of, program, write

SQUARE, ACROSS = 512, 8  # pixels of a square of the atlas, and squares in a row
SHADOW_BEGIN, SHADOW_END = 0.1, 100.0  # what casts shadows of a lamp [m]
WIDER = 1.03  # a square sees more than its lamp lights, so that shadows have neighbours at edges
MAX_SINE = 0.97  # of half the angle that bodies are seen under: 76 deg to each side
EVERYWHERE = -2.0  # in place of a cosine, of a lamp that shines to all sides
SIDES = (  # looking and upward directions of the six squares of a lamp that shines to all sides
    ((1, 0, 0), (0, 0, 1)),
    ((-1, 0, 0), (0, 0, 1)),
    ((0, 1, 0), (0, 0, 1)),
    ((0, -1, 0), (0, 0, 1)),
    ((0, 0, 1), (0, 1, 0)),
    ((0, 0, -1), (0, 1, 0)),
)


class DrawnLamps:
    """The lamps of a scene.

    The scene's shadows are drawn once, in squares of an atlas. Those of bodies are drawn whenever bodies have moved.
    They have an atlas of their own, with one square a lamp that is as wide as all bodies are seen from it.

    Args:
        context: to draw with.
        drawn: the scene and bodies.
        lamps: at least one.

    Attributes:
        defines: switches of the shaders.
        constants: values of their variables that stay as they are.
    """

    def __init__(
        self, context: moderngl.Context, drawn: DrawnGeometry, lamps: Sequence[Lamp]
    ) -> None:
        self._context, self._lamps = context, lamps
        views = [list(_views(lamp)) for lamp in lamps]
        firsts = np.cumsum([0, *(len(each) for each in views)])
        clips = np.array([clip for each in views for clip in each])
        shadows = self._shadows = LampShadows(context, drawn, drawn.standing, len(clips))
        shadows.draw(clips)
        squares = np.array([shadows.in_atlas(k) @ clip for k, clip in enumerate(clips)])
        colors = lamp_colors(lamps)
        self.defines: tuple[str, ...] = (f"LAMPS {len(lamps)}", f"SQUARES {len(clips)}")
        self._body_shadows: LampShadows | None = None
        self._body_clips = np.broadcast_to(np.eye(4), (len(lamps), 4, 4))
        if drawn.casters.any():
            self._body_shadows = LampShadows(context, drawn, drawn.casters, len(lamps))
            columns, rows = self._body_shadows.shape
            self.defines = (*self.defines, f"LAMP_BODIES vec2({columns}.0, {rows}.0)")
        self.constants: Mapping[str, ArrayLike] = {
            "lamp_places": [(*lamp.position, lamp.radius**2) for lamp in lamps],
            "lamp_axes": [_axis(lamp) for lamp in lamps],
            "lamp_squares": squares,
            "lamp_colors": np.column_stack([colors, firsts[:-1]]),
        }
        areas = np.pi * np.array([[lamp.radius**2] for lamp in lamps])
        discs = [(*lamp.position, lamp.radius) for lamp in lamps]
        rows_ = np.column_stack([discs, colors / areas]).astype(np.float32)
        self._discs = context.buffer(rows_.tobytes())
        self._programs: dict[bool, tuple[moderngl.Program, moderngl.VertexArray]] = {}

    def place(self, drawn: DrawnGeometry) -> None:
        """Draw the shadows of bodies where they are now."""
        if self._body_shadows is None:
            return
        spheres = drawn.spheres[drawn.casters].astype(float)
        self._body_clips = np.array([_towards(lamp.position, spheres) for lamp in self._lamps])
        self._body_shadows.draw(self._body_clips)

    def use(self) -> None:
        """Take the textures for what is drawn next."""
        self._shadows.texture.use(UNITS["lamp_shadows"])
        if self._body_shadows is not None:
            self._body_shadows.texture.use(UNITS["lamp_body_shadows"])

    def values(self, shot: Shot) -> Mapping[str, ArrayLike]:
        """Values of the lamps' variables for an image."""
        return {"lamp_levels": lamp_levels(self._lamps, shot), "lamp_bodies": self._body_clips}

    def draw(self, values: Mapping[str, ArrayLike], *, mono: bool) -> None:
        """Draw the bodies of the lamps."""
        if mono not in self._programs:
            made = program(
                self._context,
                ("camera.glsl", "glow.vert"),
                ("common.glsl", "glow.frag"),
                (*self.defines, *(["MONO"] if mono else [])),
            )
            layout = columns_of(made, self._discs, "4f 3f", "place_radius", "luminance")
            layout = (layout[0], f"{layout[1]}/i", *layout[2:])
            self._programs[mono] = made, self._context.vertex_array(made, [layout])
        made, vertices = self._programs[mono]
        write(made, values)
        vertices.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=len(self._lamps))


class LampShadows:
    """Depths of what stands in the light of lamps, in squares of an atlas.

    Args:
        context: to draw with.
        drawn: the scene and bodies.
        which: (parts,) those that cast shadows.
        count: of squares.

    Attributes:
        texture: the atlas, which compares depths.
        shape: of squares in it, columns and rows.
    """

    def __init__(
        self, context: moderngl.Context, drawn: DrawnGeometry, which: Booleans, count: int
    ) -> None:
        self._context = context
        self.shape = min(count, ACROSS), -(-count // ACROSS)
        self._size = self.shape[0] * SQUARE, self.shape[1] * SQUARE
        self.texture = context.depth_texture(self._size)
        self.texture.compare_func = "<="
        self.texture.repeat_x = self.texture.repeat_y = False
        self._target = context.framebuffer(depth_attachment=self.texture)
        self._target.clear(depth=1.0)
        geometry = drawn.geometry
        faces = geometry.faces[np.repeat(which, np.diff(geometry.firsts))]
        if len(faces) == 0:
            self._mesh = None
            return
        made = context.program(
            vertex_shader=shaders.source(shaders.SHADOW_VERTEX),
            fragment_shader=shaders.source(shaders.SHADOW_FRAGMENT),
        )
        self._shade_of_map: Any = made["shade_of_map"]
        buffer = context.buffer(faces.tobytes())
        self._mesh = context.vertex_array(
            made, [(drawn.corner_buffer, "3f 3x4", "position")], buffer
        )

    def draw(self, clips: Array) -> None:
        """Draw each square by its map (squares, 4, 4) from `map` to clip space."""
        self._target.clear(depth=1.0)
        if self._mesh is None:
            return
        self._target.use()
        self._context.polygon_offset = OFFSET
        for k, clip in enumerate(clips):
            self._target.viewport = k % ACROSS * SQUARE, k // ACROSS * SQUARE, SQUARE, SQUARE
            self._shade_of_map.write(clip.T.astype("f4").tobytes())
            self._mesh.render()
        self._context.polygon_offset = 0.0, 0.0

    def in_atlas(self, k: int) -> Array:
        """(4, 4) from clip space to a square of the atlas and depth in 0..1."""
        return _in_atlas(k, self._size)


def _views(lamp: Lamp) -> Iterator[Array]:
    """(4, 4) from `map` to clip space of each of a lamp's squares."""
    d = lamp.axis_W
    if d is not None:
        yield _clip(lamp.position, d, _up_of(d), float(np.tan(0.5 * np.deg2rad(lamp.cone_deg))))
        return
    for way, up_ in SIDES:
        yield _clip(lamp.position, np.array(way, float), np.array(up_, float), 1.0)


def _towards(place: Sequence[float], spheres: Array) -> Array:
    """(4, 4) from `map` to clip space of a square that sees spheres (n, 4) from a place, as far as one square can."""
    middle = 0.5 * (spheres[:, :3].min(axis=0) + spheres[:, :3].max(axis=0))
    off = middle - place
    distance = float(np.linalg.norm(off))
    way = off / distance if distance > 0.0 else np.array([0.0, 0.0, -1.0])
    radius = float((np.linalg.norm(spheres[:, :3] - middle, axis=1) + spheres[:, 3]).max())
    sine = min(radius / max(distance, 1e-9), MAX_SINE)
    return _clip(place, way, _up_of(way), sine / np.sqrt(1.0 - sine * sine))


def _up_of(way: Array) -> Array:
    """(3,) a direction that is not along another one: upwards, or y where that is steep."""
    return np.array([0.0, 0.0, 1.0] if abs(way[2]) < 0.9 else [0.0, 1.0, 0.0])


def _clip(place: Sequence[float], way: Array, up: Array, slope: float) -> Array:
    """(4, 4) perspective from a place along a direction, of a slope at its edges."""
    x = np.cross(way, up)
    x /= np.linalg.norm(x)
    R = np.stack([x, np.cross(x, way), way])
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = R, -R @ place
    s = 1.0 / (WIDER * slope)
    a, b = (
        (SHADOW_END + SHADOW_BEGIN) / (SHADOW_END - SHADOW_BEGIN),
        -2.0 * SHADOW_END * SHADOW_BEGIN / (SHADOW_END - SHADOW_BEGIN),
    )
    return np.array([[s, 0, 0, 0], [0, s, 0, 0], [0, 0, a, b], [0, 0, 1.0, 0]]) @ view


def _in_atlas(k: int, size: tuple[int, int]) -> Array:
    """(4, 4) from clip space to a square of the atlas and depth in 0..1."""
    out = np.diag([0.5 * SQUARE / size[0], 0.5 * SQUARE / size[1], 0.5, 1.0])
    out[0, 3] = (k % ACROSS + 0.5) * SQUARE / size[0]
    out[1, 3] = (k // ACROSS + 0.5) * SQUARE / size[1]
    out[2, 3] = 0.5
    return out


def _axis(lamp: Lamp) -> tuple[float, ...]:
    """The cone's axis and the cosine at its edge."""
    d = lamp.axis_W
    return (0.0, 0.0, 0.0, EVERYWHERE) if d is None else (*d.tolist(), lamp.edge_cosine)
