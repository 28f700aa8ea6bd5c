# SPDX-License-Identifier: BSD-3-Clause
"""Projection of points of the world into an image.

The camera's frame C is the optical one: x to the right, y down, z along the view. A mount S is FLU
and looks along its x.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.lens import PinholeCamera
from iap_sensors.cameras.spec import CameraSpec

PARALLEL = 1e-6  # cameras of a pair may be off by this [rad], and this share of their distance


@dataclass(frozen=True, eq=False)
class CameraModel(PinholeCamera):
    """A camera as it is simulated."""

    @classmethod
    def of(cls, spec: CameraSpec) -> Self:
        """The model of a camera."""
        K = np.array([[spec.fx, 0.0, spec.cx], [0.0, spec.fy, spec.cy], [0.0, 0.0, 1.0]])
        return cls(spec.width, spec.height, K, spec.lens)

    @cached_property
    def is_distorted(self) -> bool:
        """True if the lens bends lines."""
        return self.lens.bends

    def project(self, p_C: Array) -> Array:
        """Pixels (..., 2) of points (..., 3) [m] in C; NaN for points that are not in front of it."""
        p_C = np.asarray(p_C, dtype=float)
        z = np.where(p_C[..., 2:] > 0.0, p_C[..., 2:], np.nan)
        return self.lens.distort(p_C[..., :2] / z) * self.focal + self.center

    def unproject(self, uv: Array) -> Array:
        """Directions (..., 3) in C with z = 1 that are seen at pixels (..., 2); NaN beyond what the lens shows."""
        xy = self.lens.undistort((np.asarray(uv, dtype=float) - self.center) / self.focal)
        return np.concatenate([xy, np.ones_like(xy[..., :1])], -1)

    def info(self, baseline: float = 0.0) -> dict[str, Any]:
        """The fields of sensor_msgs/CameraInfo, matrices row by row.

        Args:
            baseline: of the right camera of a pair [m], see `stereo_baseline`; it has -fx baseline in P, as
                stereo_image_proc expects it.
        """
        P = np.hstack([self.K, [[0.0 - self.K[0, 0] * baseline], [0.0], [0.0]]])
        rows = {"D": self.lens.D, "K": self.K, "R": np.eye(3), "P": P}
        matrices = {name: tuple(matrix.ravel().tolist()) for name, matrix in rows.items()}
        size = {"width": self.width, "height": self.height}
        return {**size, "distortion_model": self.lens.model, **matrices}


def stereo_baseline(left: tuple[Array, Array], right: tuple[Array, Array], *, key: str) -> float:
    """Distance [m] of a pair of cameras that look the same way.

    Args:
        left: place (3,) [m] and attitude (4,) of the left camera's mount, in a body.
        right: of the right one.
        key: of the configuration, for the error.

    Raises:
        BadInput: the cameras are not side by side and parallel, which stereo matching builds on.
    """
    (p_BL_B, q_BL), (p_BR_B, q_BR) = left, right
    p_LR_L = so3.rotate(so3.conjugate(q_BL), np.subtract(p_BR_B, p_BL_B))
    turn = np.linalg.norm(so3.quaternion_log(so3.multiply(so3.conjugate(q_BL), q_BR)))
    distance = float(np.linalg.norm(p_LR_L))
    if turn > PARALLEL or -p_LR_L[1] < (1.0 - PARALLEL) * distance or distance == 0.0:
        raise BadInput(
            f"key '{key}': a right camera looks as the left one does, from its right side"
        )
    return distance
