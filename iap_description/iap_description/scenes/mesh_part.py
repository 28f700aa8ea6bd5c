# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a scene that are meshes: files of them, and ground by an image or an array of heights."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.assets.asset import AssetPiece, load_asset
from iap_description.assets.contact import CONTACTS, surface, welded
from iap_description.assets.images import check_size, decoded, file_bytes
from iap_description.assets.kinds import GLTF_KINDS
from iap_description.assets.matter import AssetMatter, of_luminance, without_images
from iap_description.assets.reduction import reduced
from iap_description.config.alternatives import alternatives
from iap_description.config.array_files import DAMAGE
from iap_description.config.text_files import is_file
from iap_description.config.values import Length, Positive, Real
from iap_description.geometry.mesh_files import FARTHEST
from iap_description.geometry.shapes import Rgba
from iap_description.geometry.solids import wide_normals
from iap_description.process.extras import cv2
from iap_description.scenes.builder import Finish, TexturedMesh, box_mapped
from iap_description.scenes.part_record import LabelName, PartRecord, Placement, Site

Contact = Literal["surface", "hulls", "decomposed", "none"]
Triangles = Annotated[int, Field(strict=True, ge=4, le=20_000_000)]
MOST_LOADED, MOST_REDUCED = (
    4_000_000,
    20_000_000,
)  # triangles that are loaded as they are, and to be reduced
MIN_EXTENT, MAX_EXTENT = 0.02, 1000.0  # extent of what is in metres, where no scale is given [m]
LEVELS = {"uint8": 255.0, "uint16": 65535.0}


class MeshFile(PartRecord):
    """A file of a mesh, in its own coordinates where no place is given."""

    type: Literal["mesh"]
    file: str  # glTF 2.0, OBJ, PLY, STL or OFF
    scale: Positive | None = (
        None  # metres per unit of the file; None: 1, checked for what is likely
    )
    up: Literal["y", "z"] | None = (
        None  # axis of the file that is upwards; None: y of glTF, else z
    )
    labels: dict[
        str, LabelName
    ] = {}  # by names of nodes, meshes or materials, in place of `label`
    texture: str | None = None  # these three in place of the file's own
    material: str | None = None
    color: Rgba | None = None
    tile: Positive = 2.0  # side of a texture on what has no places for it [m]
    luminance: Positive = 100.0  # of what emits 1 in the file [cd/m^2]
    contact: Contact = "surface"
    triangles: Triangles | None = None  # most that are seen and met by rays; None: as in the file
    contact_triangles: Triangles = 50_000  # most that are touched

    def files(self) -> tuple[str, ...]:
        """The mesh."""
        return (self.file,)

    def build(self, site: Site) -> None:
        """The mesh at each place."""
        path = site.file(self.file)
        try:
            pieces = self._fewer(self._pieces(path))
            for place in self.placements():
                self._place(site, pieces, place)
        except ValueError as error:
            raise site.refusal(f"key 'file': {error}") from error

    def _pieces(self, path: Path) -> list[AssetPiece]:
        """The content of the file, in metres, with z upwards."""
        most = MOST_LOADED if self.triangles is None else MOST_REDUCED
        pieces = load_asset(path, most)
        unknown = set(self.labels) - {name for piece in pieces for name in piece.names}
        if unknown:
            names = sorted({name for piece in pieces for name in piece.names if name})
            raise ValueError(
                f"key 'labels': {path.name} has no node, mesh or material '{min(unknown)}':"
                f" {alternatives(min(unknown), names)}"
            )
        is_y_up = path.suffix.lower().removeprefix(".") in GLTF_KINDS  # and turned by its loader
        turn = np.eye(3)
        if self.up is not None and (self.up == "y") != is_y_up:
            turn = np.eye(3)[[2, 0, 1]] if self.up == "y" else np.eye(3)[[1, 2, 0]]
        scale = self.scale or 1.0
        pieces = [
            replace(_turned(piece, scale, turn), matter=of_luminance(piece.matter, self.luminance))
            for piece in pieces
        ]
        self._check_size(pieces, path)
        return pieces

    def _check_size(self, pieces: Sequence[AssetPiece], path: Path) -> None:
        """Refuse what is not likely to be in metres."""
        low = np.min([piece.vertices.min(axis=0) for piece in pieces], axis=0)
        high = np.max([piece.vertices.max(axis=0) for piece in pieces], axis=0)
        extent = float((high - low).max())
        if self.scale is None and not MIN_EXTENT <= extent <= MAX_EXTENT:
            raise ValueError(
                f"{path} is {extent:.3g} m large, if its unit is the metre: give 'scale' to its part in a scene's file,"
                " metres per unit (0.001 of millimetres, 1 if it is right)"
            )

    def _fewer(self, pieces: list[AssetPiece]) -> list[AssetPiece]:
        """At most as many triangles as asked for, of each piece its share."""
        count = sum(len(piece.faces) for piece in pieces)
        if self.triangles is None or count <= self.triangles:
            return pieces
        share = self.triangles / count
        return [_reduced(piece, max(4, int(share * len(piece.faces)))) for piece in pieces]

    def _place(self, site: Site, pieces: Sequence[AssetPiece], place: Placement) -> None:
        """Add the pieces at one place."""
        placed = [_turned(piece, 1.0, place.R, place.origin) for piece in pieces]
        for piece in placed:
            self._show(site, piece)
        if self.contact == "none":
            return
        faces, vertices, first = [], [], 0
        for piece in placed:
            vertices.append(piece.vertices)
            faces.append(piece.faces + first)
            first += len(piece.vertices)
        points, triangles = welded(np.vstack(vertices), np.vstack(faces))
        if not len(triangles):
            raise ValueError(f"{self.file} has no triangle with an area")
        if self.contact == "surface":
            kept, triangles = reduced(points, triangles, self.contact_triangles)
            points = points[kept]
        try:
            site.builder.solids += CONTACTS[self.contact](points, triangles)
        except ValueError as error:
            raise ValueError(f"{self.file}: key 'contact': {error}") from error

    def _show(self, site: Site, piece: AssetPiece) -> None:
        """Add what is seen of a piece, from both sides where it does not close a solid."""
        matter = piece.matter if piece.uv is not None else without_images(piece.matter)
        label = next((self.labels[n] for n in piece.names if n in self.labels), self.title)
        finish = self._finish(site, matter, label)
        flat, normals = _with_normals(piece)
        uv, metres = flat.uv, None
        if self.texture is not None or uv is None:
            metres = box_mapped(flat.vertices, normals)
            uv = metres / self.tile
        triangles = (flat.vertices, normals, flat.faces)
        shown = TexturedMesh(triangles, uv, metres if finish.material is not None else None)
        site.builder.add(finish, shown)
        if matter.two_sided or not _is_closed(piece):
            back = (flat.vertices, -normals, flat.faces[:, ::-1])
            site.builder.add(finish, replace(shown, triangles=back))

    def _finish(self, site: Site, matter: AssetMatter, label: str) -> Finish:
        """The look of a matter, or the one that is asked for."""
        name = self.part_name
        if self.texture is not None or self.material is not None or self.color is not None:
            texture = None if self.texture is None else site.texture(self.texture)
            return Finish(name, label, texture, self.material, self.color)
        key = f"{site.file(self.file)}#{matter.name}#{id(matter.surface):x}"
        texture = None
        if matter.surface.base is not None:
            texture = key
            site.builder.images[key] = matter.surface.base
        site.builder.surfaces[key] = matter.surface
        return Finish(name, label, texture, key, matter.color)


def _turned(piece: AssetPiece, scale: float, R: Array, p: Array | None = None) -> AssetPiece:
    """A piece in another frame."""
    vertices = scale * piece.vertices @ R.T + (0.0 if p is None else p)
    normals = None if piece.normals is None else piece.normals @ R.T
    return replace(piece, vertices=vertices, normals=normals)


def _reduced(piece: AssetPiece, most: int) -> AssetPiece:
    """A piece of fewer triangles, whose vertices keep their places in its texture."""
    kept, faces = reduced(piece.vertices, piece.faces, most)
    uv = None if piece.uv is None else piece.uv[kept]
    return replace(piece, vertices=piece.vertices[kept], normals=None, uv=uv, faces=faces)


def _with_normals(piece: AssetPiece) -> tuple[AssetPiece, Array]:
    """A piece without faces that have no area, and normals: each face's own where its file has none."""
    corners = piece.vertices[piece.faces]
    normals, sizes = wide_normals(corners)
    kept = sizes > 0.0
    faces = piece.faces[kept]
    if piece.normals is not None:
        return replace(piece, faces=faces), piece.normals
    flat = np.repeat(normals[kept] / sizes[kept, None], 3, axis=0)
    uv = None if piece.uv is None else piece.uv[faces].reshape(-1, 2)
    vertices = corners[kept].reshape(-1, 3)
    numbers: Integers = np.arange(len(vertices)).reshape(-1, 3)
    return replace(piece, vertices=vertices, uv=uv, faces=numbers), flat


def _is_closed(piece: AssetPiece) -> bool:
    """True if each edge has two faces."""
    _, faces = welded(piece.vertices, piece.faces)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    keys = edges[:, 0] * (edges.max(initial=0) + 1) + edges[:, 1]
    _, counts = np.unique(keys, return_counts=True)
    return bool((counts == 2).all())


class HeightMap(PartRecord):
    """Heights over a rectangle around the part's place; the first row is at its largest y."""

    type: Literal["height_map"]
    file: str  # an image whose brightest level is `height`, or .npy of heights [m]
    size: tuple[Length, Length]  # along x and y [m]
    height: Real = 1.0  # of the brightest level [m], or a factor on heights of .npy
    texture: str | None = "field"
    material: str | None = None
    color: Rgba | None = None
    tile: Positive = 10.0
    contact: Literal["surface", "none"] = "surface"
    contact_triangles: Triangles = 50_000

    def files(self) -> tuple[str, ...]:
        """The heights."""
        return (self.file,)

    def build(self, site: Site) -> None:
        """The ground at each place."""
        z = self.height * self._heights(site)
        rows, columns = z.shape
        x, y = (
            0.5 * each * np.linspace(-1.0, 1.0, n)
            for each, n in zip(self.size, (columns, rows), strict=True)
        )
        points = np.stack([*np.meshgrid(x, y[::-1]), z], -1)
        up = np.cross(np.gradient(points, axis=1), -np.gradient(points, axis=0))
        up = (up / np.linalg.norm(up, axis=-1, keepdims=True)).reshape(-1, 3)
        a = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
        b = a + columns
        faces = np.vstack([np.stack([b, b + 1, a + 1], -1), np.stack([b, a + 1, a], -1)])
        texture = None if self.texture is None else site.texture(self.texture)
        finish = Finish(self.part_name, self.title, texture, self.material, self.color)
        for place in self.placements():
            vertices = points.reshape(-1, 3) @ place.R.T + place.origin
            metres = vertices[:, :2]
            triangles = (vertices, up @ place.R.T, faces)
            shown = TexturedMesh(triangles, metres / self.tile, metres)
            site.builder.add(finish, shown)
            if self.contact == "surface":
                kept, fewer = reduced(vertices, faces, self.contact_triangles)
                site.builder.solids += surface(vertices[kept], fewer)

    def _heights(self, site: Site) -> Array:
        """(rows, columns) heights, or levels of 0..1."""
        path = site.file(self.file)
        if not is_file(path):
            raise site.refusal(f"key 'file': there is no file {path}")
        try:
            heights = _array(path) if path.suffix.lower() == ".npy" else _levels(path)
        except ValueError as error:
            raise site.refusal(f"key 'file': {error}") from error
        if heights.ndim != 2 or min(heights.shape) < 2 or heights.dtype.kind != "f":
            raise site.refusal(f"key 'file': {path} has no rows and columns of numbers")
        with np.errstate(over="ignore"):  # of heights that are refused here
            farthest = np.abs(self.height * heights)
        if not (farthest < FARTHEST).all():
            raise site.refusal(f"key 'file': {path} has a height that is not a number below 1e6 m")
        return np.asarray(heights)


def _array(path: Path) -> Array:
    """The array in a file, which is mapped first: a file of few numbers asks for no memory of many."""
    try:
        with np.errstate(over="ignore"):  # of sizes that no file has
            loaded = np.lib.format.open_memmap(path, mode="r")
    except DAMAGE as error:
        raise ValueError(f"{path} is not an array: {error}") from error
    _check_count(path, loaded.shape)
    return np.asarray(loaded, dtype=float) if loaded.dtype.kind in "iuf" else np.empty(0)


def _levels(path: Path) -> Array:
    """The levels of an image, 0..1."""
    data = file_bytes(path)
    _check_count(path, check_size(data, str(path)))
    loaded = decoded(data, cv2.IMREAD_UNCHANGED)
    if loaded is None or loaded.dtype.name not in LEVELS:
        raise ValueError(f"{path} is not an image of 8 or 16 bits")
    grey = loaded if loaded.ndim == 2 else loaded[..., :3].mean(axis=-1)
    return np.asarray(grey / LEVELS[loaded.dtype.name])


def _check_count(path: Path, shape: Sequence[int]) -> None:
    """Refuse more heights than there may be triangles between them.

    Raises:
        ValueError: there are more.
    """
    count = 2 * math.prod(max(0, side - 1) for side in shape)
    if count > MOST_LOADED:
        raise ValueError(f"{path} makes {count} triangles, more than {MOST_LOADED}")
