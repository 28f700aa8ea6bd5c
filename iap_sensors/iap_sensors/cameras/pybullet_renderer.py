# SPDX-License-Identifier: BSD-3-Clause
"""PyBullet's own renderer, TinyRenderer: for machines without OpenGL, and to compare with; slow.

It has no fog, no shadows, a plain sky, and draws nothing that one can see through. Where things
are and how far is the same as with OpenGL.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.process.extras import cv2
from iap_description.process.native_output import native_output_discarded
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.bands import ImageBand
from iap_sensors.cameras.image_noise import Film
from iap_sensors.cameras.renderer import Frame, Shot, refuse_physical_light, refuse_tone
from iap_sensors.cameras.view import PinholeView, camera_of_map

with native_output_discarded():
    import pybullet as bullet

AWAY = (0.0, 0.0, -1e5)  # where what is hidden goes, beyond what any camera sees [m]
UPRIGHT = np.diag([1.0, -1.0, -1.0, 1.0])  # from C to a camera with y up that looks along -z


class BulletRenderer:
    """Renders with PyBullet, apart from every other PyBullet world."""

    def __init__(self) -> None:
        self._client = bullet.connect(bullet.DIRECT)
        self._folder = tempfile.TemporaryDirectory(prefix="iap_")
        bullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=self._client)
        self._scene: Scene | None = None

    def load(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> None:
        """Take what is to be drawn, see `Renderer`."""
        refuse_physical_light(scene, "pybullet")
        self._labels: dict[int, int] = {}
        with native_output_discarded():
            bullet.resetSimulation(physicsClientId=self._client)
            textures = {name: self._texture(image) for name, image in scene.textures.items()}
            for part in scene.parts:
                self._add(part, textures)
            self._bodies = [
                [self._add(part, textures) for part in body if part.color[3] == 1.0]
                for body in bodies
            ]
        self._scene = scene

    def render(self, shots: Sequence[Shot], poses: Array) -> list[Frame]:
        """One frame for each shot, see `Renderer`."""
        if self._scene is None:
            raise RuntimeError("nothing is loaded that could be rendered")
        if np.shape(poses) != (len(self._bodies), 7):
            raise ValueError(f"{len(self._bodies)} bodies have poses {np.shape(poses)}")
        return [self._frame(self._scene, shot, poses) for shot in shots]

    def close(self) -> None:
        """Give back what the renderer holds."""
        bullet.disconnect(self._client)
        self._folder.cleanup()

    def _texture(self, image: NDArray[np.uint8]) -> int:
        path = str(Path(self._folder.name) / "texture.png")
        cv2.imwrite(path, image[..., ::-1])
        return int(bullet.loadTexture(path, physicsClientId=self._client))

    def _add(self, part: MeshPart, textures: Mapping[str, int]) -> int:
        """A body of PyBullet's that is one part, at the origin."""
        path = Path(self._folder.name) / "part.obj"
        path.write_text(_wavefront(part), encoding="utf-8")
        shape = bullet.createVisualShape(
            bullet.GEOM_MESH,
            fileName=str(path),
            rgbaColor=list(part.color),
            specularColor=[0.0, 0.0, 0.0],
            physicsClientId=self._client,
        )
        body = int(bullet.createMultiBody(0.0, -1, shape, physicsClientId=self._client))
        if part.texture is not None:
            if part.texture not in textures:
                raise BadInput(f"part '{part.name}': the scene has no texture '{part.texture}'")
            bullet.changeVisualShape(
                body, -1, textureUniqueId=textures[part.texture], physicsClientId=self._client
            )
        self._labels[body] = part.label
        return body

    def _frame(self, scene: Scene, shot: Shot, poses: Array) -> Frame:
        self._place(poses, shot.hidden)
        refuse_tone(shot.spec, "pybullet")
        film = Film(shot)
        if film.look is not None:
            for piece in film.pieces:
                film.take(film.look, self._look(scene, film, piece), piece)
        if film.needs_range:
            film.take("range", self._range(film))
        return film.frame()

    def _place(self, poses: Array, hidden: Sequence[int]) -> None:
        for row, (parts, pose) in enumerate(zip(self._bodies, poses, strict=True)):
            p, q = AWAY if row in hidden else pose[:3].tolist(), pose[3:].tolist()
            for part in parts:
                bullet.resetBasePositionAndOrientation(part, p, q, physicsClientId=self._client)

    def _look(self, scene: Scene, film: Film, piece: ImageBand) -> NDArray[np.uint8]:
        light = scene.light
        image, depth, _ = self._shoot(
            film.shot,
            piece.view,
            piece.place,
            lightDirection=list(light.direction_W),
            lightAmbientCoeff=light.ambient,
            lightDiffuseCoeff=light.strength,
            lightSpecularCoeff=0.0,
            flags=bullet.ER_NO_SEGMENTATION_MASK,
        )
        spec, view = film.shot.spec, piece.view
        visible = np.where(
            (depth < 1.0)[..., None], image[..., :3], 255.0 * np.array(scene.sky.horizon[:3])
        )
        visible *= 2.0**spec.exposure * _kept(view, spec.vignetting)[..., None]
        rgb = np.clip(visible + 0.5, 0.0, 255.0).astype(np.uint8)
        if film.look == "color":
            return rgb
        return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), dtype=np.uint8)

    def _range(self, film: Film) -> NDArray[np.float32]:
        shot = film.shot
        near, far = shot.spec.near, shot.spec.far
        _, depth, bodies = self._shoot(shot, film.view, (shot.p_WC_W, shot.q_WC))
        visible = depth < 1.0
        label_of = np.zeros(max(self._labels, default=0) + 1)
        for body, label in self._labels.items():
            label_of[body] = label
        metres = far * near / (far - (far - near) * depth)
        return np.stack(
            [np.where(visible, metres, 0.0), np.where(visible, label_of[bodies], 0.0)], -1
        ).astype(np.float32)

    def _shoot(
        self, shot: Shot, view: PinholeView, place: tuple[Array, Array], **keys: object
    ) -> tuple[Array, Array, Integers]:
        """Colours (h, w, 4), PyBullet's depth (h, w), 1 where nothing is seen, and its bodies (h, w)."""
        spec = shot.spec
        _, _, rgba, depth, bodies = bullet.getCameraImage(
            view.width,
            view.height,
            (UPRIGHT @ camera_of_map(*place)).T.ravel().tolist(),
            _projection(view, spec.near, spec.far).T.ravel().tolist(),
            shadow=0,
            renderer=bullet.ER_TINY_RENDERER,
            physicsClientId=self._client,
            **keys,
        )
        size = view.height, view.width
        return (
            np.asarray(rgba, dtype=float).reshape(*size, 4),
            np.asarray(depth, dtype=float).reshape(size),
            np.asarray(bodies, dtype=int).reshape(size),
        )


def _projection(view: PinholeView, near: float, far: float) -> Array:
    """(4, 4) to a clip space with y up; TinyRenderer looks through each pixel's corner, not its middle."""
    upright = np.diag([1.0, -1.0, 1.0, 1.0]) @ view.projection(near, far) @ UPRIGHT
    shift = np.eye(4)
    shift[:2, 3] = -1.0 / view.width, -1.0 / view.height
    return shift @ upright


def _kept(view: PinholeView, vignetting: float) -> Array:
    """Share (h, w) of the light that the lens leaves."""
    if vignetting == 0.0:
        return np.ones((1, 1))
    x = (np.arange(view.width) - view.K[0, 2]) / view.K[0, 0]
    y = (np.arange(view.height) - view.K[1, 2]) / view.K[1, 1]
    return 1.0 - vignetting / view.corner * (x * x + y[:, None] ** 2)


def _wavefront(part: MeshPart) -> str:
    """An OBJ file of a part."""
    lines = [f"v {x:.6g} {y:.6g} {z:.6g}" for x, y, z in part.vertices.tolist()]
    lines += [f"vt {u:.6g} {v:.6g}" for u, v in part.uv.tolist()]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in part.normals.tolist()]
    lines += [f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}" for a, b, c in (part.faces + 1).tolist()]
    return "\n".join(lines) + "\n"
