# SPDX-License-Identifier: BSD-3-Clause
"""A renderer's images as a frame: their mean over the exposure, bent by the lens."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from iap_description.process.extras import cv2
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
        look: images of what it looks like that are needed, None for none; one for each of its instants.
        needs_range: whether depth and labels at the shot's own instant are needed.
    """

    def __init__(self, shot: Shot) -> None:
        outputs = shot.spec.outputs
        self.shot, self.view = shot, view_of(shot.model)
        self.look: Look | None = None
        if "mono8" in outputs or "rgb8" in outputs:
            self.look = "color" if "rgb8" in outputs else "mono"
        self.needs_range = "depth" in outputs or "segmentation" in outputs
        self._count = 1 if shot.spec.blur is None else shot.spec.blur.samples
        self._images = 0
        self._sum: NDArray[np.uint16] | None = None
        self._image: NDArray[np.uint8] | None = None
        self._range: NDArray[np.float32] | None = None

    def take(self, kind: str, image: NDArray[Any]) -> None:
        """Take an image of the pinhole.

        Args:
            kind: ``mono``, ``color`` or ``range``.
            image: (height, width) or (height, width, 3) levels; of ``range`` (height, width, 2) depth along the view
                [m] and label, both 0 where nothing is seen.
        """
        if kind == "range":
            self._range = image.astype(np.float32, copy=False)
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

    def frame(self) -> Frame:
        """The camera's outputs."""
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
