# SPDX-License-Identifier: BSD-3-Clause
"""A camera of a run: its pose, and the noise of its images."""

import numpy as np
from numba import njit

from iap_description.arrays import Array, Pixels, Singles
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Frame, Shot
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.pixel_noise import BITS, STEP, mixed, normal_table

DRAWS = 4  # from one 64-bit number


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
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng

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
        return Shot(self.model, self.spec, np.array(p_WC_W), optical(q_WS), v_WC_W, w_WC_W, hidden)

    def develop(self, frame: Frame) -> Frame:
        """The frame with this camera's noise on its grey levels and colours, which are written to."""
        if self.spec.noise > 0.0:
            key = self._rng.integers(2**64, dtype=np.uint64)
            for image in (frame.mono, frame.rgb):
                if image is not None:
                    _add_noise(image.reshape(-1), key, self.spec.noise * normal_table())
        return frame


@njit(cache=True)
def _add_noise(pixels: Pixels, key: int, table: Singles) -> None:
    """Add a draw from the table to each of the pixels (n,): the draws are those of SplitMix64 from the key on."""
    state = np.uint64(key)
    mask = np.uint64(table.size - 1)
    for first in range(0, pixels.size, DRAWS):
        state += STEP
        z = mixed(state)
        for i in range(first, min(first + DRAWS, pixels.size)):
            level = np.float32(pixels[i]) + table[z & mask]
            pixels[i] = np.uint8(
                min(max(level + np.float32(0.5), np.float32(0.0)), np.float32(255.0))
            )
            z >>= np.uint64(BITS)
