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
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.cameras.shadows import OFFSET
from iap_sensors.physical.lamp_colors import lamp_colors
from iap_sensors.physical.programs import columns_of, program, write

SQUARE, ACROSS = 512, 8  # pixels of a square of the atlas, and squares in a row
SHADOW_BEGIN, SHADOW_END = 0.1, 100.0  # what casts shadows of a lamp [m]
WIDER = 1.03  # a square sees more than its lamp lights, so that shadows have neighbours at edges
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

    Args:
        context: to draw with.
        corners: buffer with position and normal of each vertex.
        geometry: of the scene.
        standing: (parts,) those that cast shadows.
        lamps: at least one.

    Attributes:
        defines: switches of the shaders.
        values: of the variables in ``lamps.glsl``.
        shadows: the atlas.
    """

    def __init__(
        self,
        context: moderngl.Context,
        corners: moderngl.Buffer,
        geometry: Geometry,
        standing: Booleans,
        lamps: Sequence[Lamp],
    ) -> None:
        self._context, self._count = context, len(lamps)
        views = [list(_views(lamp)) for lamp in lamps]
        firsts = np.cumsum([0, *(len(each) for each in views)])
        count = int(firsts[-1])
        rows = -(-count // ACROSS)
        size = min(count, ACROSS) * SQUARE, rows * SQUARE
        self.shadows = context.depth_texture(size)
        self.shadows.compare_func = "<="
        self.shadows.repeat_x = self.shadows.repeat_y = False
        target = context.framebuffer(depth_attachment=self.shadows)
        clips = [clip for each in views for clip in each]
        self._draw(
            target, corners, geometry.faces[np.repeat(standing, np.diff(geometry.firsts))], clips
        )
        squares = np.array([_in_atlas(k, size) @ clip for k, clip in enumerate(clips)])
        colors = lamp_colors(lamps)
        self.defines = f"LAMPS {len(lamps)}", f"SQUARES {count}"
        self.values: Mapping[str, ArrayLike] = {
            "lamp_places": [(*lamp.position, lamp.radius**2) for lamp in lamps],
            "lamp_axes": [_axis(lamp) for lamp in lamps],
            "lamp_colors": np.column_stack([colors, firsts[:-1]]),
            "lamp_squares": squares,
        }
        areas = np.pi * np.array([[lamp.radius**2] for lamp in lamps])
        discs = [(*lamp.position, lamp.radius) for lamp in lamps]
        rows_ = np.column_stack([discs, colors / areas]).astype(np.float32)
        self._discs = context.buffer(rows_.tobytes())
        self._programs: dict[bool, tuple[moderngl.Program, moderngl.VertexArray]] = {}

    def draw(self, values: Mapping[str, ArrayLike], *, mono: bool) -> None:
        """Draw the bodies of the lamps."""
        if mono not in self._programs:
            made = program(
                self._context, "glow.vert", ("common.glsl", "glow.frag"), ["MONO"] if mono else []
            )
            layout = columns_of(made, self._discs, "4f 3f", "place_radius", "luminance")
            layout = (layout[0], f"{layout[1]}/i", *layout[2:])
            self._programs[mono] = made, self._context.vertex_array(made, [layout])
        made, vertices = self._programs[mono]
        write(made, values)
        vertices.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=self._count)

    def _draw(
        self,
        target: moderngl.Framebuffer,
        corners: moderngl.Buffer,
        faces: np.ndarray,
        clips: Sequence[Array],
    ) -> None:
        """Draw what stands in the light of each square."""
        target.clear(depth=1.0)
        if len(faces) == 0:
            return
        made = self._context.program(
            vertex_shader=shaders.source(shaders.SHADOW_VERTEX),
            fragment_shader=shaders.source(shaders.SHADOW_FRAGMENT),
        )
        shade_of_map: Any = made["shade_of_map"]
        mesh = self._context.vertex_array(
            made, [(corners, "3f 3x4", "position")], self._context.buffer(faces.tobytes())
        )
        target.use()
        self._context.polygon_offset = OFFSET
        for k, clip in enumerate(clips):
            target.viewport = k % ACROSS * SQUARE, k // ACROSS * SQUARE, SQUARE, SQUARE
            shade_of_map.write(clip.T.astype("f4").tobytes())
            mesh.render()
        self._context.polygon_offset = 0.0, 0.0


def _views(lamp: Lamp) -> Iterator[Array]:
    """(4, 4) from `map` to clip space of each of a lamp's squares."""
    d = lamp.axis_W
    if d is not None:
        up = np.array([0.0, 0.0, 1.0] if abs(d[2]) < 0.9 else [0.0, 1.0, 0.0])
        yield _clip(lamp.position, d, up, float(np.tan(0.5 * np.deg2rad(lamp.cone_deg))))
        return
    for way, up_ in SIDES:
        yield _clip(lamp.position, np.array(way, float), np.array(up_, float), 1.0)


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
