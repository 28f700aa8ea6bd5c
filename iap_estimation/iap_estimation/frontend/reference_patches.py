# SPDX-License-Identifier: BSD-3-Clause
"""Keeps tracks at their anchors: the patches that they began with, so that following them does not drift."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_estimation.frontend.patches import Patches, cut, find, weights_of
from iap_estimation.frontend.spec import FrontendSpec

Flags = Booleans
Gray = NDArray[np.uint8]
# Scale, or its inverse, and ratio of the axes at which a track is anchored anew.
GROWN, FLAT = 1.5, 2.0


class ReferencePatches:
    """Finds patches by a front end's settings."""

    def __init__(self, spec: FrontendSpec) -> None:
        self._spec = spec
        self._weights = weights_of(spec.patch)

    def cast(self, image: Gray, points: Array) -> Patches:
        """Patches (n) of an image around points (n, 2) [px]."""
        return cut(image, points, self._weights)

    def hold(
        self, images: tuple[Gray, Gray], patches: Patches, before: Array, guess: Array
    ) -> tuple[Array, Patches, Flags]:
        """Points (n, 2) [px] in a new image, their patches from now on, and which of them (n,) are found.

        What does not look as where it was anchored any more is anchored anew in the last image; if it
        does not look like that either, it is lost.

        Args:
            images: the last and the new one.
            patches: (n) anchored tracks.
            before: (n, 2) their points in the last image [px].
            guess: (n, 2) about where they are in the new one [px].
        """
        points, shapes, matched = self.seek(images[1], patches, guess)
        lost = np.flatnonzero(~matched)
        patches = patches._replace(shapes=shapes)
        if len(lost):
            again = self.cast(images[0], before[lost])
            points[lost], again_shapes, matched[lost] = self.seek(images[1], again, guess[lost])
            patches = patches.with_others(lost, again._replace(shapes=again_shapes))
        worn = np.flatnonzero(matched & _worn(patches.shapes))
        if len(worn):
            patches = patches.with_others(worn, self.cast(images[1], points[worn]))
        return points, patches, matched

    def seek(self, image: Gray, patches: Patches, guess: Array) -> tuple[Array, Array, Flags]:
        """Points (n, 2) [px] and shapes (n, 2, 2) of patches in an image, and which (n,) are found near the guess."""
        points, shapes = guess.copy(), patches.shapes.copy()
        alike = find(image, patches, points, shapes, self._weights)
        near = np.linalg.norm(points - guess, axis=-1) <= self._spec.patch_limit
        return points, shapes, near & (alike >= self._spec.likeness)


def _worn(shapes: Array) -> Flags:
    """Mask (n,) of the patches that have changed too much to be followed on."""
    a, b, c, d = shapes[:, 0, 0], shapes[:, 0, 1], shapes[:, 1, 0], shapes[:, 1, 1]
    size = np.maximum(a * d - b * c, 1e-6)
    lean = 0.5 * (a * a + b * b + c * c + d * d) / size  # of half the axes' ratio and its inverse
    return (size > GROWN**2) | (size < GROWN**-2) | (lean > 0.5 * (FLAT + 1.0 / FLAT))
