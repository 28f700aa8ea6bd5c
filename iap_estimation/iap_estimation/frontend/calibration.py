# SPDX-License-Identifier: BSD-3-Clause
"""Calibration of a stereo pair, or of one camera: places and lenses.

The frame C of a camera is the optical one: x to the right, y down, z along the view. Points are
followed in the images as they are; nothing is rectified.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans
from iap_description.config.bounds import are_plausible
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_description.sensors.lens import PLUMB_BOB, Lens, PinholeCamera
from iap_description.sensors.sensor_info import LARGEST_IMAGE

# Off the view, beyond which a fisheye's points are not followed: windows take the errors of points of the plane z = 1
# to be equal everywhere, and a pixel there is 1/cos^2 of one on the axis, four times as much at 60 degrees.
WIDEST = np.deg2rad(60.0)
MOST_STEPS, LEAST_STEP = 40, 1e-9  # when a lens is undone; the last step in pixels


@dataclass(frozen=True, eq=False)
class CameraCalibration(PinholeCamera):
    """A camera as its calibration has it."""

    @classmethod
    def of(
        cls, size: tuple[int, int], K: ArrayLike, D: ArrayLike, *, model: str, source: str
    ) -> Self:
        """A camera from the numbers of a sensor_msgs/CameraInfo.

        Args:
            size: width and height [px].
            K: (9,) row by row, or (3, 3).
            D: of its lens, see `Lens.of`.
            model: of the distortion, as ROS names it.
            source: to name in errors.

        Raises:
            BadInput: an unknown lens, or numbers that are no camera.
        """
        width, height = size
        if not (1 <= width <= LARGEST_IMAGE and 1 <= height <= LARGEST_IMAGE):
            raise BadInput(f"{source}: images of {width}x{height} pixels")
        lens = Lens.of(model, np.asarray(D, dtype=float), source=source)
        return cls(width, height, _matrix(K, source), lens)

    def normalized(self, uv: ArrayLike) -> Array:
        """Points (n, 2) of the plane z = 1 of C that are seen at pixels (n, 2); NaN beyond `WIDEST` of a fisheye."""
        points = np.asarray(uv, dtype=float).reshape(-1, 2)
        if not len(points):
            return np.zeros((0, 2))
        if self.lens.model != PLUMB_BOB:
            xy = self.lens.undistort((points - self.center) / self.focal)
            return np.where(np.linalg.norm(xy, axis=1, keepdims=True) < np.tan(WIDEST), xy, np.nan)
        exact = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, MOST_STEPS, LEAST_STEP)
        undistorted: Any = cv2.undistortPoints(
            points[:, None], self.K, self.lens.D, criteria=exact
        )
        return np.asarray(undistorted, dtype=float).reshape(-1, 2)

    def project(self, points: Array) -> Array:
        """Pixels (n, 2) of points (n, 3) in C, or of directions; they must be in front of it."""
        if not len(points):
            return np.zeros((0, 2))
        if self.lens.model != PLUMB_BOB:
            return self.lens.distort(points[:, :2] / points[:, 2:]) * self.focal + self.center
        still = np.zeros(3)
        uv, _ = cv2.projectPoints(np.ascontiguousarray(points), still, still, self.K, self.lens.D)
        return np.asarray(uv, dtype=float).reshape(-1, 2)

    @cached_property
    def followed(self) -> Booleans:
        """(height, width) whether what a pixel sees is followed."""
        u, v = np.meshgrid(np.arange(self.width), np.arange(self.height))
        if self.lens.model == PLUMB_BOB:
            return np.ones(u.shape, dtype=bool)
        rays = self.normalized(np.stack([u.ravel(), v.ravel()], -1))
        return np.isfinite(rays[:, 0]).reshape(u.shape)


@dataclass(frozen=True, eq=False)
class StereoCalibration:
    """Two cameras on a body, or one.

    Attributes:
        left: camera, or the only one.
        right: camera; None where there is one alone, which then stands for it in places and attitudes.
        p_BC_B: (2, 3) places of left and right [m].
        q_BC: (2, 4) attitudes of their optical frames, xyzw.
    """

    left: CameraCalibration
    right: CameraCalibration | None
    p_BC_B: Array
    q_BC: Array

    @classmethod
    def of(
        cls, left: CameraCalibration, right: CameraCalibration, p_BC_B: ArrayLike, q_BC: ArrayLike
    ) -> Self:
        """A pair whose right camera is on the right.

        Raises:
            BadInput: it is on the left, or at the same place.
        """
        p, q = np.array(p_BC_B, dtype=float), so3.normalized(np.array(q_BC, dtype=float))
        pair = cls(left, right, p, q)
        baseline = so3.rotate(so3.conjugate(q[0]), p[1] - p[0])
        if not np.linalg.norm(baseline) > 0.0:
            raise BadInput("left and right cameras are at the same place")
        if baseline[0] <= 0.0:
            raise BadInput(
                "left and right cameras are swapped: the right one is"
                f" {-baseline[0]:.3f} m to the left of the left one"
            )
        return pair

    @classmethod
    def single(cls, camera: CameraCalibration, p_BC_B: ArrayLike, q_BC: ArrayLike) -> Self:
        """One camera at a place (3,) [m] with an attitude (4,)."""
        p, q = np.array(p_BC_B, dtype=float), so3.normalized(np.array(q_BC, dtype=float))
        return cls(camera, None, np.stack([p, p]), np.stack([q, q]))

    @classmethod
    def placed(
        cls, lenses: Sequence[CameraCalibration], T_BC: Sequence[Array], *, source: str
    ) -> Self:
        """The pair of a left and a right camera, or one alone, at places (4, 4) on the body.

        Raises:
            BadInput: naming the source, as `of`.
        """
        turns = [so3.quaternion_from_matrix(T[:3, :3]) for T in T_BC]
        if len(lenses) == 1:
            return cls.single(lenses[0], T_BC[0][:3, 3], turns[0])
        try:
            return cls.of(lenses[0], lenses[1], [T[:3, 3] for T in T_BC], turns)
        except BadInput as error:
            raise BadInput(f"{source}: {error}") from error

    @property
    def second(self) -> CameraCalibration:
        """The right camera of a pair."""
        assert self.right is not None  # noqa: S101 - images of one alone are not matched
        return self.right

    @cached_property
    def R_RL(self) -> Array:
        """(3, 3) from the left to the right camera's axes."""
        turn = so3.multiply(so3.conjugate(self.q_BC[1]), self.q_BC[0])
        return so3.matrix_from_quaternion(turn)

    @cached_property
    def p_RL_R(self) -> Array:
        """(3,) place of the left camera, in the right one's axes [m]."""
        return so3.rotate(so3.conjugate(self.q_BC[1]), self.p_BC_B[0] - self.p_BC_B[1])

    def camera_turn(self, turn_B: Array) -> Array:
        """The left camera's rotation (4,) in its own axes, of the body's rotation (4,) in the body's."""
        q_BC = self.q_BC[0]
        return so3.multiply(so3.conjugate(q_BC), so3.multiply(turn_B, q_BC))

    def expected_right(self, left: Array, inverse_depth: Array) -> Array:
        """Pixels (n, 2) of the right camera where left points are to be seen.

        Args:
            left: (n, 2) normalised points of the left camera.
            inverse_depth: (n,) of them along its view [1/m].
        """
        return self.second.project(self._along(left) + inverse_depth[:, None] * self.p_RL_R)

    def epipolar_distance(self, left: Array, right: Array) -> Array:
        """Distances (n,) of right points from the epipolar lines of left ones [px of the right image, undistorted].

        For parallel cameras side by side it is the difference of their rows.

        Args:
            left: (n, 2) normalised points of the left camera.
            right: (n, 2) of the right one.
        """
        line = np.cross(self.p_RL_R, self._along(left))
        slope = line[:, :2] / self.second.focal
        return np.abs(np.sum(line * homogeneous(right), axis=-1)) / np.linalg.norm(slope, axis=-1)

    def inverse_depth(self, left: Array, right: Array) -> Array:
        """1/z (n,) of left points seen at right ones, along the left view [1/m]; least squares."""
        rays = homogeneous(right)
        by_depth = np.cross(rays, np.broadcast_to(self.p_RL_R, rays.shape))
        far = np.cross(rays, self._along(left))
        size = np.sum(by_depth * by_depth, axis=-1)
        return -np.sum(by_depth * far, axis=-1) / size

    def _along(self, left: Array) -> Array:
        """Directions (n, 3) of left points in the right camera's axes."""
        return homogeneous(left) @ self.R_RL.T


def homogeneous(points: Array) -> Array:
    """Points (n, 2) of the plane z = 1 as (n, 3)."""
    return np.column_stack([points, np.ones(len(points))])


def _matrix(K: ArrayLike, source: str) -> Array:
    matrix = np.array(K, dtype=float)
    if matrix.size != 9:
        raise BadInput(f"{source}: K has {matrix.size} numbers, not 9")
    matrix = matrix.reshape(3, 3)
    focal = np.array([matrix[0, 0], matrix[1, 1]])
    plain = matrix[[0, 1, 2, 2], [1, 0, 0, 1]]
    if not are_plausible(matrix.ravel()) or np.any(focal <= 0.0):
        raise BadInput(f"{source}: the camera is not calibrated, K has focal lengths {focal}")
    if np.any(plain != 0.0) or matrix[2, 2] != 1.0:
        raise BadInput(f"{source}: K is no camera matrix without skew: {matrix.tolist()}")
    return matrix


def rigid(rows: Sequence[float], source: str) -> tuple[Array, Array]:
    """Place (3,) [m] and attitude (4,) of a (4, 4) matrix given row by row.

    Raises:
        BadInput: it is no rigid motion.
    """
    T = np.array(rows, dtype=float)
    if T.size != 16:
        raise BadInput(f"{source} has {T.size} numbers, not 16")
    T = T.reshape(4, 4)
    R = T[:3, :3]
    is_turn = np.allclose(R @ R.T, np.eye(3), atol=1e-3) and np.linalg.det(R) > 0.0
    if not is_turn or not np.allclose(T[3], [0.0, 0.0, 0.0, 1.0]):
        raise BadInput(f"{source} is no rotation and translation: {T.tolist()}")
    return T[:3, 3], so3.normalized(so3.quaternion_from_matrix(R))
