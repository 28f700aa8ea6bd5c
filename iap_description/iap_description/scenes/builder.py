# SPDX-License-Identifier: BSD-3-Clause
"""Puts a scene together: everything that is built is seen and touched alike."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import prism
from iap_description.geometry.tessellation import Mesh, MeshPart, mesh
from iap_description.math import euler
from iap_description.scenes.scene import Fog, Light, Scene, Sky
from iap_description.scenes.textures import make_texture

Spot = Sequence[float]  # (x, y) or (x, y, z) in map [m]

TILE = 8.0  # one texture's side as it lies on surfaces [m]
GROUND_TILE = 10.0
WHITE: Rgba = (1.0, 1.0, 1.0, 1.0)
GROUND: Rgba = (0.86, 0.85, 0.83, 1.0)
LABELS = {1: "ground", 2: "wall", 3: "building", 4: "column", 5: "box", 6: "vehicle"}
COLUMN_SIDES = 12
MATERIALS = {  # what is under a texture, where light is physical
    "bricks": "brick",
    "concrete": "concrete",
    "container": "metal",
    "crates": "planks",
    "facade": "facade",
    "field": "grass",
    "mosaic": "cobble",
    "paving": "paving",
    "posters": "plaster",
    "tiles": "tiles",
}
STOREY = 3.0  # of a facade, from window to window [m]


class Builder:
    """Collects parts and solids; its generator decides where textures begin, and their tints.

    Args:
        name: of the scene.
        seed: of the generator, which scenes also draw from.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self._name = name
        self._parts: list[MeshPart] = []
        self._solids: list[Shape] = []

    def ground(self, texture: str, reach: float, patches: int = 8) -> None:
        """The ground plane to a distance along x and y [m], in square patches; it is touched as the world's."""
        side = 2.0 * reach / patches
        corners = np.array(
            [[0.0, 0.0, 0.0], [side, 0.0, 0.0], [side, side, 0.0], [0.0, side, 0.0]]
        )
        normals = np.tile([0.0, 0.0, 1.0], (4, 1))
        faces = np.array([[0, 1, 2], [0, 2, 3]])
        for i in range(patches):
            for j in range(patches):
                at = corners + [i * side - reach, j * side - reach, 0.0]
                uv = at[:, :2] / GROUND_TILE
                self._add_part(
                    "ground", (at, normals, faces), uv, texture, GROUND, metres=at[:, :2]
                )

    def box(
        self,
        kind: str,
        position: Spot,
        size: tuple[float, float, float],
        texture: str,
        *,
        yaw_deg: float = 0.0,
        tile: float = TILE,
        color: Rgba | None = None,
    ) -> None:
        """A box; without a height in its position it stands on the ground.

        Args:
            kind: what it is, of LABELS.
            position: of its middle, or x and y of it.
            size: along its axes [m].
            texture: on all its sides.
            yaw_deg: its heading.
            tile: side of the texture on it [m].
            color: that its texture is multiplied by; None: some light tint.
        """
        x, y, z = (*position, 0.5 * size[2])[:3]
        shape = Shape(shape="box", size=size, position=(x, y, z), rpy_deg=(0.0, 0.0, yaw_deg))
        self._solids.append(shape)
        self._add(kind, mesh(shape), np.array([x, y, z]), yaw_deg, texture, tile, color)

    def column(
        self, position: Spot, radius: float, height: float, texture: str, tile: float = 4.0
    ) -> None:
        """A round column on the ground."""
        angles = 2.0 * np.pi * np.arange(COLUMN_SIDES) / COLUMN_SIDES
        circle = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
        foot = radius * circle + [position[0], position[1], 0.0]
        self._prism("column", foot, foot + [0.0, 0.0, height], texture, tile)

    def roof(
        self, position: Spot, size: tuple[float, float, float], texture: str, yaw_deg: float = 0.0
    ) -> None:
        """A gabled roof; its ridge is along its x axis.

        Args:
            position: of the middle of its underside.
            size: length, width and height [m].
            texture: on it.
            yaw_deg: its heading.
        """
        length, width, height = size
        ends = np.array([[0.0, -0.5 * width, 0.0], [0.0, 0.5 * width, 0.0], [0.0, 0.0, height]])
        R = euler.matrix_from_rpy_deg([0.0, 0.0, yaw_deg])
        below, above = (
            (ends + [x, 0.0, 0.0]) @ R.T + position for x in (-0.5 * length, 0.5 * length)
        )
        self._prism("building", below, above, texture, TILE)

    def scene(self, *, light: Light, sky: Sky, fog: Fog | None = None) -> Scene:
        """The scene that has been built."""
        names = sorted({part.texture for part in self._parts if part.texture is not None})
        textures: Mapping[str, NDArray[np.uint8]] = {name: make_texture(name) for name in names}
        used = {part.label for part in self._parts}
        labels = {label: name for label, name in LABELS.items() if label in used}
        parts, solids = tuple(self._parts), tuple(self._solids)
        return Scene(self._name, parts, solids, textures, light, fog, sky, labels)

    def _prism(self, kind: str, below: Array, above: Array, texture: str, tile: float) -> None:
        shape = prism(below, above, WHITE)
        self._solids.append(shape)
        self._add(kind, mesh(shape), below.mean(axis=0), 0.0, texture, tile, None)

    def _add(
        self,
        kind: str,
        triangles: Mesh,
        middle: Array,
        yaw_deg: float,
        texture: str,
        tile: float,
        color: Rgba | None,
    ) -> None:
        """Add something solid; what lies on the ground or below is left out, it is never seen."""
        vertices, normals, faces = triangles
        hidden = (vertices[faces][..., 2] < 1e-6).all(axis=1)
        R = euler.matrix_from_rpy_deg([0.0, 0.0, yaw_deg])
        along = _uv((vertices - middle) @ R, normals @ R)
        uv = along / tile + self.rng.random(2)
        metres = _fitted(along, normals, STOREY) if texture == "facade" else tile * uv
        tint = (*(self.rng.uniform(0.88, 1.0) * self.rng.uniform(0.93, 1.0, 3)).tolist(), 1.0)
        shown = vertices, normals, faces[~hidden]
        self._add_part(kind, shown, uv, texture, color or tint, metres=metres)

    def _add_part(
        self, kind: str, triangles: Mesh, uv: Array, texture: str, color: Rgba, *, metres: Array
    ) -> None:
        vertices, normals, faces = triangles
        label = next(number for number, name in LABELS.items() if name == kind)
        kept = np.unique(faces)
        new_index = np.zeros(len(vertices), np.int32)
        new_index[kept] = np.arange(len(kept), dtype=np.int32)
        arrays = (vertices[kept], normals[kept], uv[kept], metres[kept])
        corners, out, at, on = (each.astype(np.float32) for each in arrays)
        material = MATERIALS[texture]
        self._parts.append(
            MeshPart(kind, corners, out, at, new_index[faces], texture, color, label, material, on)
        )


def _uv(vertices: Array, normals: Array) -> Array:
    """Places [m] on flat sides: upwards and to the right of who looks at them; x and y on what lies flat."""
    steep = np.abs(normals[:, 2]) < 0.9
    right = np.stack([-normals[:, 1], normals[:, 0], 0.0 * normals[:, 0]], -1)
    right /= np.maximum(np.linalg.norm(right, axis=1, keepdims=True), 1e-9)
    right = np.where(steep[:, None], right, [1.0, 0.0, 0.0])
    up = np.cross(normals, right)
    return np.stack([(vertices * right).sum(axis=1), (vertices * up).sum(axis=1)], -1)


def _fitted(points: Array, normals: Array, pitch: float) -> Array:
    """Places (n, 2) [m] on flat sides, so that whole pitches lie between the edges of each."""
    out = points.copy()
    for normal in np.unique(normals.round(6), axis=0):
        side = (normals.round(6) == normal).all(axis=1)
        low, high = points[side].min(axis=0), points[side].max(axis=0)
        size = np.maximum(high - low, 1e-9)
        out[side] = (points[side] - low) * np.maximum(np.round(size / pitch), 1.0) * pitch / size
    return out
