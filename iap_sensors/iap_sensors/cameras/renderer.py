# SPDX-License-Identifier: BSD-3-Clause
"""The interface of renderers: a scene and moving bodies are loaded once, then states are rendered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.scenes.scene import Scene
from iap_sensors.camera_effects.effect import Exposure
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.spec import CameraSpec


@dataclass(frozen=True, eq=False)
class Shot:
    """A camera at an instant.

    Attributes:
        model: of the camera.
        spec: of the camera.
        p_WC_W: (3,) its place in `map` [m].
        q_WC: (4,) attitude of its optical frame, xyzw.
        v_WC_W: (3,) its velocity [m/s]; counts where images are blurred.
        w_WC_W: (3,) its angular velocity [rad/s].
        hidden: rows of the bodies that are not drawn, such as the one that carries it.
        t: time [s]; counts where rain or snow falls.
        planned: how its image is taken; None: by its spec alone.
    """

    model: CameraModel
    spec: CameraSpec
    p_WC_W: Array
    q_WC: Array
    v_WC_W: Array = field(default_factory=lambda: np.zeros(3))
    w_WC_W: Array = field(default_factory=lambda: np.zeros(3))
    hidden: tuple[int, ...] = ()
    t: float = 0.0
    planned: Exposure | None = None

    @property
    def exposure(self) -> Exposure:
        """Exposure of its image."""
        blur = self.spec.blur
        if self.planned is not None or blur is None:
            return self.planned or Exposure()
        return Exposure(blur.exposure_time, samples=blur.samples)


@dataclass(frozen=True, eq=False)
class Frame:
    """A camera's outputs, those that its spec asks for, None for others; the arrays are the frame's own.

    Attributes:
        mono: (h, w) grey levels.
        rgb: (h, w, 3).
        depth: (h, w) along z of C [m], infinite where nothing is seen.
        labels: (h, w) of the parts, 0 where nothing is seen.
        light: (h, w) or (h, w, 3) linear light of a camera with effects, in place of `mono` and `rgb`.
        luminance: of light 1 [cd/m^2]; None where the renderer draws no physical light.
    """

    mono: NDArray[np.uint8] | None = None
    rgb: NDArray[np.uint8] | None = None
    depth: NDArray[np.float32] | None = None
    labels: NDArray[np.uint16] | None = None
    light: NDArray[np.float32] | None = None
    luminance: float | None = None


def refuse_physical_light(scene: Scene, renderer: str) -> None:
    """Refuse a scene that has light or weather of its world, for a renderer that draws scenes in their own light.

    Raises:
        BadInput: it has.
    """
    if scene.is_lit_by_file:
        return
    keys = {
        "light": scene.lighting,
        "weather": scene.weather,
        "time_of_day": scene.time_of_day,
    }
    asked = [f"'world.{key}'" for key, value in keys.items() if value is not None]
    if asked:
        raise BadInput(
            f"key {', '.join(asked)}: renderer '{renderer}' draws scenes in their own light; take"
            " 'renderer: physical'"
        )


def refuse_tone(spec: CameraSpec, renderer: str) -> None:
    """Refuse a camera with a curve from light to levels, for a renderer without light; behind effects there is one.

    Raises:
        BadInput: it has one.
    """
    if spec.tone is not None and spec.effects is None:
        raise BadInput(
            f"key 'tone': renderer '{renderer}' draws levels, not light; take 'renderer: physical'"
        )


class Renderer(Protocol):
    """Makes images of a scene and bodies that move in it."""

    def load(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> None:
        """Take what is to be drawn, in place of what was.

        Args:
            scene: what stands still.
            bodies: the parts of each body that moves, in the body's frame.
        """

    def render(self, shots: Sequence[Shot], poses: Array) -> list[Frame]:
        """One frame for each shot, of bodies at poses (bodies, 7): p_WB_W [m], then q_WB xyzw."""

    def close(self) -> None:
        """Give back what the renderer holds; nothing can be rendered after that."""
