# SPDX-License-Identifier: BSD-3-Clause
"""From what a renderer can draw, a pinhole's sharp image of an instant, to what a camera sees."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_description.sensors.sensor_info import LARGEST_IMAGE
from iap_sensors.camera_effects.effect import Exposure
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot

Image = NDArray[Any]
MARGIN = 2  # pixels around what the lens shows, for the interpolation between them


@dataclass(frozen=True, eq=False)
class PinholeView:
    """The pinhole behind a camera: it sees as much as the lens does, without bending it.

    Attributes:
        width: [pixels].
        height: [pixels].
        K: (3, 3) camera matrix [pixels].
        corner: squared radius (x/z)^2 + (y/z)^2 at the camera's farthest corner.
        maps: where each pixel of the camera is in the pinhole's image, columns and rows (h, w) [pixels]; None without a
            lens, where both are the same.
    """

    width: int
    height: int
    K: Array
    corner: float
    maps: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    @classmethod
    def of(cls, model: CameraModel) -> Self:
        """The view of a camera.

        Raises:
            BadInput: the lens sees more than a plane image can hold.
        """
        step = (1, 1) if model.is_distorted else (model.height - 1, model.width - 1)
        xy = model.unproject(_pixels(model, step))[..., :2]
        corner = float(np.max(np.sum(xy * xy, axis=-1)))
        if not model.is_distorted:
            return cls(model.width, model.height, model.K, corner)
        focal = model.lens.magnification * np.array([model.K[0, 0], model.K[1, 1]])
        lower = np.floor(xy.min(axis=(0, 1)) * focal) - MARGIN
        width, height = (np.ceil(xy.max(axis=(0, 1)) * focal) + MARGIN + 1 - lower).astype(int)
        if max(width, height) > LARGEST_IMAGE:
            raise BadInput(
                f"key 'distortion': without it the image would be {width}x{height} pixels,"
                f" more than {LARGEST_IMAGE} along a side"
            )
        K = np.array([[focal[0], 0.0, -lower[0]], [0.0, focal[1], -lower[1]], [0.0, 0.0, 1.0]])
        columns, rows = np.moveaxis(xy * focal - lower, -1, 0).astype(np.float32)
        return cls(int(width), int(height), K, corner, (columns, rows))

    def bend(self, image: Image, *, smooth: bool) -> Image:
        """The pinhole's image as the lens bends it.

        Args:
            image: (height, width) or (height, width, 3).
            smooth: values are interpolated; else the nearest is taken, as for depth and labels.
        """
        if self.maps is None:
            return image
        how = cv2.INTER_LINEAR if smooth else cv2.INTER_NEAREST
        return np.asarray(cv2.remap(image, *self.maps, how))

    @cached_property
    def edges(self) -> tuple[float, float, float, float]:
        """x/z at the image's left and right edge, y/z at its upper and lower edge."""
        fx, fy, cx, cy = self.K[0, 0], self.K[1, 1], self.K[0, 2], self.K[1, 2]
        right, lower = (self.width - 0.5 - cx) / fx, (self.height - 0.5 - cy) / fy
        return (-0.5 - cx) / fx, right, (-0.5 - cy) / fy, lower

    def projection(self, near: float, far: float) -> Array:
        """(4, 4) map from C to OpenGL's clip space in which the first row of pixels comes first."""
        left, right, upper, lower = self.edges
        wide, high, deep = right - left, lower - upper, far - near
        return np.array(
            [
                [2.0 / wide, 0.0, -(right + left) / wide, 0.0],
                [0.0, 2.0 / high, -(lower + upper) / high, 0.0],
                [0.0, 0.0, (far + near) / deep, -2.0 * far * near / deep],
                [0.0, 0.0, 1.0, 0.0],
            ]
        )

    def planes(self, place: tuple[Array, Array], near: float, far: float) -> Array:
        """(6, 4) unit normal n and offset d in `map` of the planes around what is seen: inside, n . p >= d."""
        left, right, upper, lower = self.edges
        normals_C = np.array(
            [
                [1.0, 0.0, -left],
                [-1.0, 0.0, right],
                [0.0, 1.0, -upper],
                [0.0, -1.0, lower],
                [0.0, 0.0, 1.0],
                [0.0, 0.0, -1.0],
            ]
        )
        normals_C /= np.linalg.norm(normals_C, axis=1, keepdims=True)
        p_WC_W, q_WC = place
        normals_W = normals_C @ so3.matrix_from_quaternion(q_WC).T
        offsets = normals_W @ p_WC_W + [0.0, 0.0, 0.0, 0.0, near, -far]
        return np.column_stack([normals_W, offsets])


def _pixels(model: CameraModel, step: tuple[int, int]) -> Array:
    """Columns and rows (n, m, 2) of the pixels that are some rows and columns apart."""
    rows, columns = (max(each, 1) for each in step)
    u = np.arange(0.0, model.width, columns)
    v = np.arange(0.0, model.height, rows)
    return np.stack(np.meshgrid(u, v), -1)


_views: WeakKeyDictionary[CameraModel, PinholeView] = WeakKeyDictionary()


def view_of(model: CameraModel) -> PinholeView:
    """The view of a camera, made once for each model; see `PinholeView.of`."""
    if model not in _views:
        _views[model] = PinholeView.of(model)
    return _views[model]


def instants(exposure: Exposure) -> Iterator[float]:
    """Times after the middle of an exposure whose images' mean is the image [s]: one, or some spread over it."""
    for k in range(exposure.samples):
        yield exposure.time * ((k + 0.5) / exposure.samples - 0.5)


def place_at(shot: Shot, dt: float) -> tuple[Array, Array]:
    """Place p_WC_W (3,) [m] and attitude q_WC (4,) of a camera some time after its stamp [s]."""
    if dt == 0.0:
        return shot.p_WC_W, shot.q_WC
    turn = so3.quaternion_exp(dt * np.asarray(shot.w_WC_W))
    return shot.p_WC_W + dt * np.asarray(shot.v_WC_W), so3.multiply(turn, shot.q_WC)


def camera_of_map(p_WC_W: Array, q_WC: Array) -> Array:
    """(4, 4) map from `map` to C, of a camera at a place (3,) [m] with an attitude (4,)."""
    R_CW = so3.matrix_from_quaternion(q_WC).T
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R_CW, -R_CW @ p_WC_W
    return T
