# SPDX-License-Identifier: BSD-3-Clause
"""A PyBullet world that is only looked at: vehicles, objects, paths and a chequered ground."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imsave

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import triangles
from iap_description.math import euler
from iap_description.process.native_output import native_output_discarded, native_output_to
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body import UPRIGHT, Body
from iap_description.vehicles.urdf import urdf_text

try:
    with native_output_discarded():
        import pybullet as bullet
except ModuleNotFoundError as error:
    raise BadInput(
        "pictures of runs need pybullet, which is not installed and has no wheel from Python 3.12 on: iap render RUN"
        f" --video FILE.webm draws without it, or: {sys.executable} -m pip install pybullet"
    ) from error

Faces = Integers

TILES, TILE = 80, 0.5  # along each side of the ground, and their size [m]
TILE_COLORS = (0.86, 0.87, 0.88), (0.75, 0.77, 0.79)
PATH_COLOR, PATH_RADIUS, PATH_SIDES = (0.95, 0.42, 0.05, 1.0), 0.012, 6  # radius in m
AMBIENT = 0.55  # share of the light that comes from everywhere
STDERR = 2


class PyBulletScene:
    """All that a camera sees; made by `studio`."""

    def __init__(self, client: int, folder: Path) -> None:
        self._at, self._folder = {"physicsClientId": client}, folder
        self._ground = -1
        self._blurs: list[tuple[int, Rgba]] = []  # bodies and colours of what is not opaque

    @property
    def blur_opacity(self) -> float:
        """Opacity of what is not opaque, 0 where there is no such thing."""
        return max((color[3] for _, color in self._blurs), default=0.0)

    def add_body(self, body: Body, row: Array, tilts: Array = UPRIGHT) -> None:
        """Place one rigid body by its state row, with its rotors at tilts (4,) [rad]."""
        visible = (*body.visual, *body.propellers(tilts))
        body = replace(body, visual=visible, rotors=())
        self._load(body, row)  # without what is not opaque: a body of its own, which can be hidden
        shapes = tuple(shape for shape in visible if shape.color[3] < 1.0)
        if shapes:
            opaque = tuple(s.model_copy(update={"color": (*s.color[:3], 1.0)}) for s in shapes)
            veil = replace(body, visual=opaque, collision=())
            self._blurs.append((self._load(veil, row), shapes[0].color))

    def add_object(self, pieces: Sequence[Shape], row: Array) -> None:
        """Place what one object of the world is made of by the state row of its frame; all opaque."""
        made = [triangles(piece) for piece in pieces if piece.vertices is not None]
        if made:
            firsts = np.cumsum([0, *(len(vertices) for vertices, _ in made[:-1])])
            faces = [each + first for (_, each), first in zip(made, firsts, strict=True)]
            color = (*pieces[0].color[:3], 1.0)
            vertices = np.vstack([corners for corners, _ in made])
            body = self._add_mesh("object", vertices, np.vstack(faces), color)
            self._move(body, row)
        for piece in pieces:
            if piece.vertices is None:
                self._move(self._add_primitive(piece), row)

    def add_ground(self, middle: Array) -> None:
        """Square tiles around a point, always an even number of them from the origin of `map`."""
        n = TILES
        i, j = (axis.ravel() for axis in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0)))
        x, y = 2.0 * TILE * np.round(0.5 * middle[:2] / TILE) - TILE * n // 2
        a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
        faces = [np.stack([a, a + 1, a + n + 2], -1), np.stack([a, a + n + 2, a + n + 1], -1)]
        corners = np.stack([x + TILE * i, y + TILE * j, 0.0 * i], -1)
        uv = 0.5 * np.stack([i, j], -1)
        self._ground = self._add_mesh("ground", corners, np.vstack(faces), (1.0,) * 4, uv)
        tiles = np.tile(np.array(TILE_COLORS[0]), (64, 64, 1))
        tiles[:32, :32] = tiles[32:, 32:] = TILE_COLORS[1]
        imsave(self._folder / "tiles.png", tiles)
        texture = bullet.loadTexture(str(self._folder / "tiles.png"), **self._at)
        bullet.changeVisualShape(self._ground, -1, textureUniqueId=texture, **self._at)

    def add_path(self, points_W: Array) -> None:
        """A tube along points (n, 3) [m]."""
        along = np.gradient(points_W, axis=0)
        side = np.stack([-along[:, 1], along[:, 0], 0.0 * along[:, 0]], -1)
        side[np.linalg.norm(side, axis=1) < 1e-6] = [1.0, 0.0, 0.0]  # vertical, or at rest
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        up = np.cross(along, side)
        up /= np.maximum(np.linalg.norm(up, axis=1, keepdims=True), 1e-9)
        angle = 2.0 * np.pi * np.arange(PATH_SIDES)[:, None] / PATH_SIDES
        circles = np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None]
        rings = points_W[:, None] + PATH_RADIUS * circles
        a = np.arange((len(points_W) - 1) * PATH_SIDES)
        b = a - a % PATH_SIDES + (a + 1) % PATH_SIDES
        c, d = b + PATH_SIDES, a + PATH_SIDES
        faces = np.vstack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
        self._add_mesh("path", rings.reshape(-1, 3), faces, PATH_COLOR)

    def show_blurs(self, shown: bool) -> None:
        """Draw what is not opaque as if it were, or not at all: PyBullet draws nothing between."""
        for body, color in self._blurs:
            self._paint(body, [*color[:3], 1.0 if shown else 0.0])

    def show_ground(self, shown: bool) -> None:
        """Draw the ground or not."""
        self._paint(self._ground, [1.0, 1.0, 1.0, 1.0 if shown else 0.0])

    def shoot(
        self,
        view: Array,
        fov_deg: float,
        span: tuple[float, float],
        size: tuple[int, int],
        light: Array,
    ) -> tuple[Array, Array]:
        """Take a picture without shadows.

        Args:
            view: (4, 4) map from world to camera axes (x right, y up, looking along -z).
            fov_deg: vertical angle of view.
            span: least and greatest depth that is seen [m].
            size: width and height [pixels].
            light: (3,) direction to the light; its length is the light's strength.

        Returns:
            Colours (H, W, 3) in 0..255, and depths along the view (H, W) [m], infinite where there
            is nothing.
        """
        near, far = span
        strength = float(np.linalg.norm(light))
        width, height, rgba, depth, _ = bullet.getCameraImage(
            *size,
            view.T.ravel().tolist(),
            bullet.computeProjectionMatrixFOV(fov_deg, size[0] / size[1], near, far),
            lightDirection=light.tolist() if strength else [0.0, 0.0, 1.0],
            lightAmbientCoeff=AMBIENT,
            lightDiffuseCoeff=strength,
            lightSpecularCoeff=0.0,
            shadow=0,
            renderer=bullet.ER_TINY_RENDERER,
            flags=bullet.ER_NO_SEGMENTATION_MASK,
            **self._at,
        )
        z = np.asarray(depth, dtype=float).reshape(height, width)
        metres = np.where(z < 1.0, far * near / (far - (far - near) * z), np.inf)
        return np.asarray(rgba, dtype=float).reshape(height, width, 4)[..., :3], metres

    def _load(self, body: Body, row: Array) -> int:
        """Load a body alone, so that its pose needs no joints."""
        alone = Assembly("body", (replace(body, name="base_link"),), (), ())
        path = self._folder / "body.urdf"
        path.write_text(urdf_text(alone, target="bullet"), encoding="utf-8")
        p, q = row[P].tolist(), row[Q].tolist()
        return bullet.loadURDF(str(path), p, q, useFixedBase=True, **self._at)

    def _move(self, body: int, row: Array) -> None:
        p, q = row[P].tolist(), row[Q].tolist()
        bullet.resetBasePositionAndOrientation(body, p, q, **self._at)

    def _add_primitive(self, shape: Shape) -> int:
        """A box or a cylinder, placed in the frame of its object."""
        turned = euler.quaternion_from_rpy_deg(shape.rpy_deg)
        size: dict[str, Any] = {"radius": shape.radius, "length": shape.length}
        if shape.size is not None:
            size = {"halfExtents": [0.5 * side for side in shape.size]}
        visual = bullet.createVisualShape(
            bullet.GEOM_CYLINDER if shape.size is None else bullet.GEOM_BOX,
            rgbaColor=[*shape.color[:3], 1.0],
            visualFramePosition=shape.position,
            visualFrameOrientation=turned.tolist(),
            **self._at,
            **size,
        )
        return bullet.createMultiBody(0.0, -1, visual, **self._at)

    def _paint(self, body: int, rgba: list[float]) -> None:
        bullet.changeVisualShape(body, -1, rgbaColor=rgba, **self._at)

    def _add_mesh(
        self,
        name: str,
        vertices: Array,
        faces: Faces,
        color: Sequence[float],
        uv: Array | None = None,
    ) -> int:
        corner = "{0}" if uv is None else "{0}/{0}"
        lines = [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in vertices]
        lines += [f"vt {u:.3f} {v:.3f}" for u, v in (() if uv is None else uv)]
        lines += ["f " + " ".join(corner.format(k) for k in face) for face in faces + 1]
        path = self._folder / f"{name}.obj"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        shape = bullet.createVisualShape(
            bullet.GEOM_MESH,
            fileName=str(path),
            rgbaColor=list(color),
            **self._at,
        )
        return bullet.createMultiBody(0.0, -1, shape, **self._at)


@contextmanager
def studio() -> Iterator[PyBulletScene]:
    """An empty studio, apart from every other PyBullet world; it is cleared away in the end."""
    with native_output_to(STDERR), tempfile.TemporaryDirectory(prefix="iap_") as folder:
        client = bullet.connect(bullet.DIRECT)
        try:
            bullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=client)
            yield PyBulletScene(client, Path(folder))
        finally:
            bullet.disconnect(client)
