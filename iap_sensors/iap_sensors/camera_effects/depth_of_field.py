# SPDX-License-Identifier: BSD-3-Clause
r"""Depth of field of a thin lens: what is nearer or farther than the focus is blurred over its circle of confusion.

A point at a depth Z is a disc of diameter

.. math:: c = \frac{A f}{Z_f - f} \frac{|Z - Z_f|}{Z}, \qquad A = f / N

on the image sensor (Potmesil and Chakravarty, "A lens and aperture camera model for synthetic image generation",
SIGGRAPH 1981). Its light has the variance c^2 / 16 along each axis. Each pixel is mixed of the two of a few images,
blurred by discs of fixed diameters, whose variances are around its own, so that the mixture has just that variance. At
edges of near things the blur is that of the pixel's own depth.
"""

from typing import ClassVar

import numpy as np
from numba import njit

from iap_description.arrays import Array, Singles
from iap_description.config.values import Positive
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)

DIAMETERS = (0.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # of the discs [pixels]
FINE = 8  # steps of a pixel in which discs are drawn


class DepthOfFieldSpec(EffectSpec):
    """A lens out of focus.

    Attributes:
        focal_length: [m].
        f_number: of the lens.
        focus: depth that is sharp [m].
    """

    NEEDS_DEPTH: ClassVar[bool] = True

    focal_length: Positive = 0.004
    f_number: Positive = 2.0
    focus: Positive = 5.0

    def check(self, camera: CameraGeometry) -> None:  # noqa: ARG002
        """Refuse a focus within the lens."""
        if self.focus <= self.focal_length:
            raise ValueError(
                f"key 'effects.depth_of_field.focus': {self.focus} m is within the focal length"
            )

    def scale(self, focal: float) -> float:
        """Diameter of the disc of a point far away, of a focal length in pixels [pixels]."""
        return self.focal_length / self.f_number * focal / (self.focus - self.focal_length)


@effect_of(DepthOfFieldSpec)
class DepthOfField(CameraEffect[DepthOfFieldSpec]):
    """Blurs what is not in focus."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: DepthOfFieldSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._scale = spec.scale(camera.focal[0])
        self._discs = [_disc(each) for each in DIAMETERS[1:]]
        self._variances = np.array([0.0, *(_variance(each) for each in self._discs)], np.float32)
        self._layers = np.empty((len(DIAMETERS), *camera.shape), np.float32)
        self._wanted = np.empty((camera.height, camera.width), np.float32)
        self._out = np.empty(camera.shape, np.float32)

    def apply(self, image: CameraImage) -> None:
        """Blur an image by its depth."""
        if image.depth is None:
            raise RuntimeError("depth of field needs the depth of the image")
        largest = _wanted_variances(
            image.depth, self._scale, self._spec.focus, float(self._variances[-1]), self._wanted
        )
        self._layers[0] = image.light
        for k, disc in enumerate(self._discs, start=1):
            cv2.filter2D(
                image.light, -1, disc, dst=self._layers[k], borderType=cv2.BORDER_REPLICATE
            )
            if self._variances[k] >= largest:
                break
        flat = self._layers.reshape(*self._layers.shape[:3], -1)
        _mix(flat, self._variances, self._wanted, self._out.reshape(flat.shape[1:]))
        image.light = self._out


def _disc(diameter: float) -> Array:
    """A disc's share of each pixel (n, n)."""
    half = int(np.ceil(0.5 * diameter))
    at = (np.arange((2 * half + 1) * FINE) + 0.5) / FINE - half - 0.5
    inside = (at**2 + at[:, None] ** 2 <= 0.25 * diameter**2).astype(float)
    shares = inside.reshape(2 * half + 1, FINE, 2 * half + 1, FINE).sum(axis=(1, 3))
    return np.asarray(shares / shares.sum())


def _variance(kernel: Array) -> float:
    """Variance of a kernel along columns [pixels^2]."""
    at = np.arange(len(kernel)) - (len(kernel) - 1) / 2
    return float(np.sum(kernel * at**2))


@njit(cache=True)
def _wanted_variances(
    depth: Singles, scale: float, focus: float, largest: float, out: Singles
) -> float:
    """Write the variance of each pixel's disc (h, w), at most the largest; the largest that there is."""
    height, width = depth.shape
    most = 0.0
    for i in range(height):
        for j in range(width):
            z = depth[i, j]
            share = 1.0 if np.isinf(z) else abs(z - focus) / z
            out[i, j] = np.float32(min((scale * share) ** 2 / 16.0, largest))
            most = max(most, float(out[i, j]))
    return most


@njit(cache=True)
def _mix(layers: Singles, variances: Singles, needed: Singles, out: Singles) -> None:
    """Mix blurred images (n, h, w, channels) so that each pixel (h, w) has its variance."""
    _, height, width, channels = layers.shape
    for i in range(height):
        for j in range(width):
            k = 1
            while k < len(variances) - 1 and variances[k] < needed[i, j]:
                k += 1
            share = (needed[i, j] - variances[k - 1]) / (variances[k] - variances[k - 1])
            for c in range(channels):
                below = layers[k - 1, i, j, c]
                out[i, j, c] = below + share * (layers[k, i, j, c] - below)
