# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the physical renderer, of sources in ``data/shaders``, made when first needed."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike

SOURCES = Path(__file__).parents[1] / "data" / "shaders"
UNITS = {  # of textures, by the name of their variable
    "albedo_roughness": 0,
    "relief": 1,
    "shadows": 2,
    "body_shadows": 3,
    "mirrored": 4,
    "noise": 5,
    "lamp_shadows": 6,
    "sky": 7,
    "openness": 8,
    "lamp_body_shadows": 9,
    "glow": 10,
    "image": 0,
    "glare": 1,
    "finer": 1,
}
Columns = tuple[moderngl.Buffer | str, ...]  # a buffer, its format, and the names of its columns


def program(
    context: moderngl.Context,
    vertex: str,
    fragment: Sequence[str],
    defines: Sequence[str] = (),
) -> moderngl.Program:
    """A program of a vertex shader and the pieces of a fragment shader, by their files' names."""
    head = ["#version 330", *(f"#define {each}" for each in defines)]
    made = context.program(
        vertex_shader="\n".join(["#version 330", _source(vertex)]),
        fragment_shader="\n".join([*head, *(_source(each) for each in fragment)]),
    )
    for name, unit in UNITS.items():
        if name in made:
            made[name] = unit
    return made


@cache
def _source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def write(made: moderngl.Program, values: Mapping[str, ArrayLike]) -> None:
    """Set the program's variables that are among the values; matrices (..., 4, 4) are given row by row."""
    for name, value in values.items():
        if name in made:
            member: Any = made[name]
            array = np.asarray(value, dtype=np.float32)
            if array.ndim >= 2 and array.shape[-1] == array.shape[-2] > 2:
                array = np.swapaxes(array, -1, -2)  # OpenGL has them column by column
            member.write(np.ascontiguousarray(array).tobytes())


def columns_of(made: moderngl.Program, buffer: moderngl.Buffer, form: str, *names: str) -> Columns:
    """The columns of a buffer that a program reads; the others are skipped."""
    parts = form.split()
    used = [name for name in names if name in made]
    kinds = [
        part if name in made else f"{4 * int(part[0])}x"
        for part, name in zip(parts, names, strict=True)
    ]
    return (buffer, " ".join(kinds), *used)
