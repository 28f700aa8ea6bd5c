# SPDX-License-Identifier: BSD-3-Clause
"""Puts a scene together: everything that is built is seen and touched alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.assets.images import Pixels
from iap_description.assets.surface_images import SurfaceImages
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.tessellation import Mesh, MeshPart, mesh
from iap_description.math import so3
from iap_description.scenes.scene import Scene
from iap_description.scenes.textures import MAKERS, make_texture

GROUND = "ground"  # name of the parts that the world's ground plane stands for
GROUND_TILE = 10.0  # one texture's side as it lies on the ground [m]
WHITE: Rgba = (1.0, 1.0, 1.0, 1.0)
GREY: Rgba = (0.72, 0.72, 0.70, 1.0)  # of what has neither texture nor colour
GROUND_COLOR: Rgba = (0.86, 0.85, 0.83, 1.0)
LABELS = {1: GROUND, 2: "wall", 3: "building", 4: "column", 5: "box", 6: "vehicle"}
MAX_LABEL = 49  # objects of the world and bodies come behind
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


@dataclass(frozen=True)
class Finish:
    """Look and name of a part.

    Attributes:
        name: of the part.
        label: its name in segmented images.
        texture: on it; None for plain colour.
        material: for physical light; None: the one under the texture.
        color: that its texture is multiplied by; None: some light tint, or grey without a texture.
        tile: side of the texture on it [m].
    """

    name: str
    label: str
    texture: str | None = None
    material: str | None = None
    color: Rgba | None = None
    tile: float = 8.0


@dataclass(frozen=True, eq=False)
class TexturedMesh:
    """Triangles with their places in a texture.

    Attributes:
        triangles: vertices (n, 3) [m], normals (n, 3), and faces.
        uv: (n, 2) places in the texture.
        metres: (n, 2) places on the material [m]; None: as in `uv`.
    """

    triangles: Mesh
    uv: Array
    metres: Array | None = None


@dataclass
class Builder:
    """Collects parts and solids.

    Attributes:
        seed: of the generator that decides where textures begin, and their tints; None: at 0, without tint.
        images: (h, w, 3) textures that files bring, by name.
        surfaces: images of their materials, by name.
    """

    seed: int | None = None
    images: dict[str, Pixels] = field(default_factory=dict)
    surfaces: dict[str, SurfaceImages] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is built yet."""
        self._rng = None if self.seed is None else np.random.default_rng(self.seed)
        self.parts: list[MeshPart] = []
        self.solids: list[Shape] = []
        self._labels = {name: number for number, name in LABELS.items()}

    def ground(self, texture: str | None, color: Rgba | None, reach: float, patches: int) -> None:
        """The ground plane to a distance along x and y [m], in square patches; it is touched as the world's."""
        side = 2.0 * reach / patches
        corners = np.array(
            [[0.0, 0.0, 0.0], [side, 0.0, 0.0], [side, side, 0.0], [0.0, side, 0.0]]
        )
        normals = np.tile([0.0, 0.0, 1.0], (4, 1))
        faces = np.array([[0, 1, 2], [0, 2, 3]])
        finish = Finish(GROUND, GROUND, texture, color=color or GROUND_COLOR)
        for i in range(patches):
            for j in range(patches):
                at = corners + [i * side - reach, j * side - reach, 0.0]
                on = at[:, :2]
                self.add(finish, TexturedMesh((at, normals, faces), on / GROUND_TILE, on))

    def solid(
        self, finish: Finish, shape: Shape, middle: Array, R: Array, *, touched: bool
    ) -> None:
        """Something solid; its faces on the ground or below are left out, they are never seen.

        Args:
            finish: its look.
            shape: in `map`.
            middle: (3,) where its texture begins.
            R: (3, 3) its attitude, which its texture follows.
            touched: whether it is touched, too.
        """
        if touched:
            self.solids.append(shape)
        vertices, normals, faces = mesh(shape)
        hidden = (vertices[faces][..., 2] < 1e-6).all(axis=1)
        along = box_mapped((vertices - middle) @ R, normals @ R)
        rng, tile = self._rng, finish.tile
        uv = along / tile + (np.zeros(2) if rng is None else rng.random(2))
        metres = _fitted(along, normals, STOREY) if finish.texture == "facade" else tile * uv
        tint = GREY if finish.texture is None else WHITE
        if rng is not None:
            levels = rng.uniform(0.88, 1.0) * rng.uniform(0.93, 1.0, 3)
            tint = (*levels.tolist(), 1.0)
        shown = TexturedMesh((vertices, normals, faces[~hidden]), uv, metres)
        self.add(finish, shown, finish.color or tint)

    def add(self, finish: Finish, shown: TexturedMesh, color: Rgba | None = None) -> None:
        """Something that is seen.

        Raises:
            BadInput: there are more labels than segmented images can have of a scene.
        """
        vertices, normals, faces = shown.triangles
        kept = np.unique(faces)
        new_index = np.zeros(len(vertices), np.int32)
        new_index[kept] = np.arange(len(kept), dtype=np.int32)
        arrays = (vertices[kept], normals[kept], shown.uv[kept])
        corners, out, at = (each.astype(np.float32) for each in arrays)
        on = None if shown.metres is None else shown.metres[kept].astype(np.float32)
        self.parts.append(
            MeshPart(
                finish.name,
                corners,
                out,
                at,
                new_index[faces],
                finish.texture,
                color or finish.color or WHITE,
                self.label(finish.label),
                finish.material or MATERIALS.get(finish.texture or ""),
                on,
            )
        )

    def label(self, name: str) -> int:
        """The number of a label in segmented images, a new one where it has none.

        Raises:
            BadInput: there are too many.
        """
        if name not in self._labels:
            if len(self._labels) >= MAX_LABEL:
                raise BadInput(
                    f"key 'label': {name} is one more than {MAX_LABEL} labels of a scene"
                )
            self._labels[name] = len(self._labels) + 1
        return self._labels[name]

    def textures(self) -> Mapping[str, NDArray[np.uint8]]:
        """The textures of the parts."""
        names = sorted({part.texture for part in self.parts if part.texture is not None})
        return {
            name: make_texture(name) if name in MAKERS else self.images[name] for name in names
        }

    def labels(self) -> Mapping[int, str]:
        """Names of the labels of the parts."""
        used = {part.label for part in self.parts}
        return {number: name for name, number in self._labels.items() if number in used}

    def take(self, other: Scene, p: Array, q: Array) -> None:
        """All that is in another scene, its origin at p (3,) [m] and turned by q (4,); its ground stays."""
        R = so3.matrix_from_quaternion(q)
        self.images.update(other.textures)
        self.surfaces.update(other.surfaces)
        self.solids += [shape.moved(p, q) for shape in other.solids]
        for part in other.parts:
            label = self.label(other.labels[part.label])
            if part.name == GROUND:
                self.parts.append(replace(part, label=label))
                continue
            vertices = (part.vertices @ R.T + p).astype(np.float32)
            normals = (part.normals @ R.T).astype(np.float32)
            self.parts.append(replace(part, vertices=vertices, normals=normals, label=label))


def box_mapped(vertices: Array, normals: Array) -> Array:
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
