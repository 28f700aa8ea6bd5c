# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the physical renderer, of sources in ``data/shaders``, made when first needed.

What stays as it is for many images stands in their source as constants. A program on llvmpipe fetches a variable anew
for each pixel: those of sun, sky and three lamps took a third of an image's time.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Singles

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
DECLARED = re.compile(r"^uniform (\w+) ([\w\[\], ]+);", re.MULTILINE)  # its type and names
NAMES = re.compile(r"(\w+)(\[\w+\])?")  # and whether it is an array
Columns = tuple[moderngl.Buffer | str, ...]  # a buffer, its format, and the names of its columns


def program(
    context: moderngl.Context,
    vertex: Sequence[str],
    fragment: Sequence[str],
    defines: Sequence[str] = (),
    constants: Mapping[str, ArrayLike] | None = None,
) -> moderngl.Program:
    """A program of the pieces of both shaders.

    Args:
        context: to draw with.
        vertex: files of the vertex shader's pieces.
        fragment: files of the fragment shader's pieces.
        defines: switches of both.
        constants: values of variables that never change, in the form of `write`.
    """
    head = ["#version 330", *(f"#define {each}" for each in defines)]
    vertex_shader, fragment_shader = (
        with_constants("\n".join([*head, *(_source(each) for each in files)]), constants or {})
        for files in (vertex, fragment)
    )
    made = context.program(vertex_shader=vertex_shader, fragment_shader=fragment_shader)
    for name, unit in UNITS.items():
        if name in made:
            made[name] = unit
    return made


@cache
def _source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def with_constants(source: str, constants: Mapping[str, ArrayLike]) -> str:
    """A shader's source with some of its variables as constants, in place of their declarations."""

    def declared(match: re.Match[str]) -> str:
        kind, names = match.groups()
        lines = [
            f"const {kind} {name}{size} = {_literal(kind, size, constants[name])};"
            if name in constants
            else f"uniform {kind} {name}{size};"
            for name, size in NAMES.findall(names)
        ]
        return " ".join(lines)

    return DECLARED.sub(declared, source)


def _literal(kind: str, size: str, value: ArrayLike) -> str:
    """A value in GLSL: a number, vector or matrix, or an array of them."""
    numbers = _columns(value)
    rows = numbers.reshape(len(numbers), -1) if size else numbers.reshape(1, -1)
    items = ", ".join(f"{kind}({', '.join(map(str, row))})" for row in rows)
    return f"{kind}{size}({items})" if size else items


def write(made: moderngl.Program, values: Mapping[str, ArrayLike]) -> None:
    """Set the program's variables that are among the values; matrices (..., 4, 4) are given row by row."""
    for name, value in values.items():
        if name in made:
            member: Any = made[name]
            member.write(np.ascontiguousarray(_columns(value)).tobytes())


def _columns(value: ArrayLike) -> Singles:
    """Numbers as OpenGL has them: matrices column by column."""
    array = np.asarray(value, dtype=np.float32)
    is_matrix = array.ndim >= 2 and array.shape[-1] == array.shape[-2] > 2
    return np.swapaxes(array, -1, -2) if is_matrix else array


def columns_of(made: moderngl.Program, buffer: moderngl.Buffer, form: str, *names: str) -> Columns:
    """The columns of a buffer that a program reads; the others are skipped."""
    parts = form.split()
    used = [name for name in names if name in made]
    kinds = [
        part if name in made else f"{4 * int(part[0])}x"
        for part, name in zip(parts, names, strict=True)
    ]
    return (buffer, " ".join(kinds), *used)
