# SPDX-License-Identifier: BSD-3-Clause
"""A camera of a run: its pose, and what it makes of its images."""

from dataclasses import replace

import numpy as np
from numba import njit

from iap_description.arrays import Array, Pixels, Singles
from iap_description.process.extras import cv2
from iap_description.sensors.mounts import optical
from iap_sensors.camera_effects.chain import EffectChain
from iap_sensors.camera_effects.effect import CameraImage
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Frame, Shot
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.pixel_noise import AT_ONCE, draw, normal_table


class Camera:
    """Takes images; each draws one key from the generator, so that images are the same in whatever order they are made.

    Args:
        spec: what the camera is.
        rng: its own generator.

    Attributes:
        spec: what the camera is.
        model: where points are in its images.
    """

    def __init__(self, spec: CameraSpec, rng: np.random.Generator) -> None:
        self.spec, self.model = spec, CameraModel.of(spec)
        self._effects: EffectChain | None = None
        if spec.effects is not None and spec.gives_light:
            self._effects = EffectChain(spec.effects, spec.geometry, spec.tone or "linear")
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng
        if self._effects is not None:
            self._effects.reset(rng)

    def shot(
        self,
        place: tuple[Array, Array],
        twist: tuple[Array, Array] | None = None,
        hidden: tuple[int, ...] = (),
    ) -> Shot:
        """The camera at an instant.

        Args:
            place: p_WS_W (3,) [m] and q_WS (4,) of its mount, which looks along x.
            twist: v_WS_W (3,) [m/s] and w_WS_W (3,) [rad/s] of its mount; None: at rest.
            hidden: rows of bodies that are not drawn.
        """
        v_WC_W, w_WC_W = (np.zeros(3), np.zeros(3)) if twist is None else twist
        p_WC_W, q_WS = place
        place = np.array(p_WC_W), optical(q_WS)
        planned = None if self._effects is None else self._effects.plan()
        return Shot(self.model, self.spec, *place, v_WC_W, w_WC_W, hidden, planned=planned)

    def develop(self, frame: Frame, t: float = 0.0) -> Frame:
        """The frame of time t [s] with this camera's effects and noise; it is written to."""
        if self._effects is not None and frame.light is not None:
            frame = self._with_effects(self._effects, frame, frame.light, t)
        if self.spec.noise > 0.0:
            key = self._rng.integers(2**64, dtype=np.uint64)
            for image in (frame.mono, frame.rgb):
                if image is not None:
                    _add_noise(image.reshape(-1), key, self.spec.noise * normal_table())
        return frame

    def _with_effects(self, effects: EffectChain, frame: Frame, light: Singles, t: float) -> Frame:
        key = self._rng.integers(2**64, dtype=np.uint64)
        image = CameraImage(light, frame.depth, t, effects.plan(), frame.luminance, key)
        levels = effects.apply(image)
        if image.is_lost:
            return Frame()
        outputs = self.spec.outputs
        mono = rgb = levels
        if levels.ndim == 3:
            mono = np.asarray(cv2.cvtColor(levels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
        return replace(
            frame,
            mono=mono if "mono8" in outputs else None,
            rgb=rgb if "rgb8" in outputs else None,
            depth=image.depth if "depth" in outputs else None,
            light=None,
        )


@njit(cache=True)
def _add_noise(pixels: Pixels, key: int, table: Singles) -> None:
    """Add a draw from the table to each of the pixels (n,): the draws are those of SplitMix64 from the key on."""
    drawn = np.empty(AT_ONCE, np.float32)
    state, zero, white = np.uint64(key), np.float32(0.0), np.float32(255.0)
    for first in range(0, pixels.size, AT_ONCE):
        state = draw(state, table, drawn)
        some = pixels[first : first + AT_ONCE]
        for i in range(some.size):
            level = np.float32(some[i]) + drawn[i]
            some[i] = np.int32(min(max(level + np.float32(0.5), zero), white))
