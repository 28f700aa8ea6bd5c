# SPDX-License-Identifier: BSD-3-Clause
"""Ground that rises and falls, from an image or an array of heights."""

from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.assets.contact import surface
from iap_description.assets.reduction import reduced
from iap_description.config.record import Positive, Real
from iap_description.config.text_files import is_file
from iap_description.geometry.shapes import Rgba
from iap_description.process.extras import cv2
from iap_description.scenes.builder import Finish, TexturedMesh
from iap_description.scenes.mesh_part import MOST_LOADED, Triangles
from iap_description.scenes.part_record import PartRecord, Site

LEVELS = {"uint8": 255.0, "uint16": 65535.0}


class HeightMap(PartRecord):
    """Heights over a rectangle around the part's place; the first row is at its largest y."""

    type: Literal["height_map"]
    file: str  # an image whose brightest level is `height`, or .npy of heights [m]
    size: tuple[Positive, Positive]  # along x and y [m]
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
        if path.suffix.lower() == ".npy":
            try:
                found = np.load(path, allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                raise site.refusal(f"key 'file': {path} is not an array: {error}") from error
            heights = np.asarray(found, dtype=float) if found.dtype.kind in "iuf" else found
        else:
            found = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            if found is None or found.dtype.name not in LEVELS:
                raise site.refusal(f"key 'file': {path} is not an image of 8 or 16 bits")
            grey = found if found.ndim == 2 else found[..., :3].mean(axis=-1)
            heights = grey / LEVELS[found.dtype.name]
        if heights.ndim != 2 or min(heights.shape) < 2 or heights.dtype.kind != "f":
            raise site.refusal(f"key 'file': {path} has no rows and columns of numbers")
        if not np.isfinite(heights).all():
            raise site.refusal(f"key 'file': {path} has a height that is not a number")
        count = 2 * (heights.shape[0] - 1) * (heights.shape[1] - 1)
        if count > MOST_LOADED:
            raise site.refusal(
                f"key 'file': {path} makes {count} triangles, more than {MOST_LOADED}"
            )
        return np.asarray(heights)
