# SPDX-License-Identifier: BSD-3-Clause
"""A renderer's images as a frame: their mean over the exposure, bent by the lens."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Singles
from iap_description.process.extras import cv2
from iap_sensors.cameras.bands import ImageBand, pieces
from iap_sensors.cameras.renderer import Frame, Shot
from iap_sensors.cameras.view import view_of

Look = Literal["mono", "color"]
DEPTH_TOLERANCE = (
    0.02  # neighbours whose depths differ by less, relatively, are taken for one surface
)


class Film:
    """Collects the images of a shot from any renderer.

    Args:
        shot: the camera at an instant.

    Attributes:
        view: what is drawn of the shot.
        look: images of what it looks like that are needed, None for none; one for each of its pieces.
        is_light: whether they are of linear light, for a camera with effects; levels count as light over 255.
        pieces: of the image.
        needs_range: whether depth and labels at the shot's own instant are needed.
    """

    def __init__(self, shot: Shot) -> None:
        outputs, effects = shot.spec.outputs, shot.spec.effects
        self.shot, self.view = shot, view_of(shot.model)
        self.is_light = shot.spec.gives_light
        self.needs_range = "depth" in outputs or "segmentation" in outputs
        in_color = "rgb8" in outputs
        if effects is not None:
            in_color |= effects.needs_color
            self.needs_range |= effects.needs_depth
        self.look: Look | None = None
        if in_color or self.is_light or "mono8" in outputs:
            self.look = "color" if in_color else "mono"
        self.pieces: tuple[ImageBand, ...] = tuple(pieces(shot, self.view)) if self.look else ()
        self._count = shot.exposure.samples
        self._images = 0
        self._light: Singles | None = None
        self._sum: NDArray[np.uint16] | None = None
        self._image: NDArray[np.uint8] | None = None
        self._range: NDArray[np.float32] | None = None

    def take(self, kind: str, image: NDArray[Any], piece: ImageBand | None = None) -> None:
        """Take an image of the pinhole.

        Args:
            kind: ``mono``, ``color`` or ``range``.
            image: (height, width) or (height, width, 3) levels; of ``range`` (height, width, 2) depth along the view
                [m] and label, both 0 where nothing is seen. Of a film of light they may be floats, 1 for white.
            piece: of the image; None of ``range``.
        """
        if kind == "range":
            self._range = image.astype(np.float32, copy=False)
            return
        if self.is_light and piece is not None:
            self._add_light(image, piece)
            return
        self._images += 1
        if self._count == 1:
            self._image = image.astype(np.uint8, copy=False)
            return
        if self._sum is None:
            self._sum = np.full(image.shape, self._count // 2, np.uint16)  # to round the mean
        np.add(self._sum, image, out=self._sum, casting="unsafe")
        if self._images == self._count:
            self._image = (self._sum // self._count).astype(np.uint8)

    def _add_light(self, image: NDArray[Any], piece: ImageBand) -> None:
        """Add a piece to the image of light; one that is drawn in bands is already that of the lens."""
        share = np.float32(1.0 / self._count)
        if image.dtype == np.uint8:
            share /= np.float32(255.0)
            image = image.astype(np.float32)
        if piece.maps is None:
            self._light = _sum(self._light, image, share)
            return
        if self._light is None:
            size = self.shot.model.height, self.shot.model.width
            self._light = np.zeros((*size, *image.shape[2:]), np.float32)
        _sum(self._light[piece.rows], piece.bent(image), share)

    def _frame_of_light(self, light: Singles) -> Frame:
        """The outputs of a camera with effects."""
        if not self.shot.exposure.line_time:
            light = self.view.bend(light, smooth=True)
        depth = labels = None
        if self._range is not None:
            depth, labels = self._depth_and_labels(self._range)
        labels = labels if "segmentation" in self.shot.spec.outputs else None
        return Frame(depth=depth, labels=labels, light=np.ascontiguousarray(light))

    def take_mean(self, image: NDArray[np.uint8]) -> None:
        """Take one image of the pinhole for all instants, the mean of their light."""
        self._image = image

    def frame(self) -> Frame:
        """The camera's outputs."""
        if self._light is not None:
            return self._frame_of_light(self._light)
        outputs = self.shot.spec.outputs
        mono = rgb = depth = labels = None
        if self._image is not None:
            rgb = mono = self.view.bend(self._image, smooth=True)
            if self.look == "color":
                mono = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
        if self._range is not None:
            depth, labels = self._depth_and_labels(self._range)
        return Frame(
            mono if "mono8" in outputs else None,
            rgb if "rgb8" in outputs else None,
            depth if "depth" in outputs else None,
            labels if "segmentation" in outputs else None,
        )

    def _depth_and_labels(
        self, ranges: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
        depth, labels = ranges[..., 0].copy(), ranges[..., 1].astype(np.uint16)
        depth[depth == 0.0] = np.inf
        return self._bent(depth), self.view.bend(labels, smooth=False)

    def _bent(self, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth through the lens: its inverse, which is linear on a plane, is interpolated except across edges."""
        if self.view.maps is None:
            return depth
        inverse = 1.0 / depth
        nearest = self.view.bend(inverse, smooth=False)
        between = self.view.bend(inverse, smooth=True)
        is_one = np.abs(between - nearest) < DEPTH_TOLERANCE * nearest
        with np.errstate(
            divide="ignore"
        ):  # infinite where nothing is seen, and beyond what was drawn
            return np.reciprocal(np.where(is_one, between, nearest))


def _sum(total: Singles | None, image: Singles, share: np.float32) -> Singles:
    """A total with a share of an image added to it, in place; the image itself where it is all."""
    if total is None:
        return image if share == 1.0 else np.asarray(image * share, np.float32)
    if share != 1.0:
        image = image * share
    total += image
    return total
