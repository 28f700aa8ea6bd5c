# SPDX-License-Identifier: BSD-3-Clause
"""The programs that draw, made when first needed: each knows only what the image at hand asks for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_sensors.cameras import shaders

FOG_HEIGHT = 30.0  # of the layer of fog below the sky [m]
UNITS = {"textures": 0, "shadows": 1, "body_shadows": 2}
ATTRIBUTES = "2f 1f 4f 1f", "uv", "layer", "color", "label"


@dataclass(frozen=True)
class Look:
    """Parts of the shaders that an image of colours or grey levels needs."""

    mono: bool
    fog: bool
    bodies: bool
    vignetting: bool

    @property
    def defines(self) -> tuple[str, ...]:
        """The switches of the shaders."""
        return (
            f"FOG_HEIGHT {FOG_HEIGHT}",
            *(name.upper() for name, on in vars(self).items() if on),
        )


class Program:
    """A program with the vertices that it draws."""

    def __init__(self, program: moderngl.Program, vertices: moderngl.VertexArray) -> None:
        self._vertices = vertices
        self._members: dict[str, Any] = {name: program[name] for name in program}
        for name, unit in UNITS.items():
            if name in self._members:
                program[name] = unit

    def draw(self, values: Mapping[str, ArrayLike], count: int) -> None:
        """Draw `count` vertices with what is given of the program's uniforms; matrices are written row by row."""
        if count == 0:
            return
        for name, value in values.items():
            if name in self._members:
                self._members[name].write(np.transpose(value).astype(np.float32).tobytes())
        self._vertices.render(vertices=count)


class Programs:
    """All programs that draw the same vertices.

    Args:
        context: to draw with.
        corners: buffer with position and normal of each vertex.
        attributes: buffer with what else there is of it.
        faces: buffer with the vertices of the faces that are drawn.
    """

    def __init__(
        self,
        context: moderngl.Context,
        corners: moderngl.Buffer,
        attributes: moderngl.Buffer,
        faces: moderngl.Buffer,
    ) -> None:
        over_faces = partial(_over_faces, context, corners, attributes, faces)
        # Of functions, not of methods: in a cycle the programs would outlive this object on the graphics card.
        self.surface, self.range = (
            cache(partial(_surface, over_faces)),
            cache(partial(_range, over_faces)),
        )
        self.sky = cache(partial(_sky, context))


def _surface(over_faces: Callable[[str, str], Program], look: Look) -> Program:
    """Draws surfaces."""
    macros = look.defines
    return over_faces(
        shaders.source(shaders.SURFACE_VERTEX, defines=macros),
        shaders.source(shaders.SENSOR, shaders.SURFACE_FRAGMENT, defines=macros),
    )


def _range(over_faces: Callable[[str, str], Program]) -> Program:
    """Draws depth and labels."""
    return over_faces(shaders.source(shaders.RANGE_VERTEX), shaders.source(shaders.RANGE_FRAGMENT))


def _sky(context: moderngl.Context, look: Look) -> Program:
    """Draws the sky, with three vertices."""
    fragment = shaders.source(shaders.SENSOR, shaders.SKY_FRAGMENT, defines=look.defines)
    program = context.program(
        vertex_shader=shaders.source(shaders.SKY_VERTEX), fragment_shader=fragment
    )
    return Program(program, context.vertex_array(program, []))


def _over_faces(
    context: moderngl.Context,
    corners: moderngl.Buffer,
    attributes: moderngl.Buffer,
    faces: moderngl.Buffer,
    vertex_shader: str,
    fragment_shader: str,
) -> Program:
    program = context.program(vertex_shader=vertex_shader, fragment_shader=fragment_shader)
    layouts = [
        _layout(program, corners, "3f 3f", "position", "normal"),
        _layout(program, attributes, *ATTRIBUTES),
    ]
    return Program(program, context.vertex_array(program, layouts, faces))


def _layout(
    program: moderngl.Program, buffer: moderngl.Buffer, form: str, *names: str
) -> tuple[moderngl.Buffer | str, ...]:
    """The columns of a buffer that a program reads; the others are skipped."""
    columns, used = [], []
    for column, name in zip(form.split(), names, strict=True):
        if name in program:
            used.append(name)
            columns.append(column)
        else:
            columns.append(f"{4 * int(column[0])}x")
    return (buffer, " ".join(columns), *used)
