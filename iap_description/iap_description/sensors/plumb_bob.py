# SPDX-License-Identifier: BSD-3-Clause
r"""The lens model that ROS and OpenCV call plumb_bob: two tangential and three radial coefficients.

With :math:`r^2 = x^2 + y^2` at the normalised point :math:`(x, y) = (X/Z, Y/Z)` of the camera's frame,

.. math::
    x' &= x (1 + k_1 r^2 + k_2 r^4 + k_3 r^6) + 2 p_1 x y + p_2 (r^2 + 2 x^2) \\
    y' &= y (1 + k_1 r^2 + k_2 r^4 + k_3 r^6) + p_1 (r^2 + 2 y^2) + 2 p_2 x y

(OpenCV's documentation, camera calibration and 3-D reconstruction). D = (k1, k2, p1, p2, k3).
"""

import numpy as np

from iap_description.arrays import Array

ROUNDS = 30  # of Newton's method; a lens that can be inverted needs fewer than ten
EXACT = 1e-10  # the last step of an inversion that succeeded, of the focal length


def distort(xy: Array, D: Array) -> Array:
    """Images (..., 2) of normalised points (..., 2) under a lens D (5,)."""
    k1, k2, p1, p2, k3 = D
    x, y = xy[..., 0], xy[..., 1]
    r2 = x * x + y * y
    radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return np.stack(
        [
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        ],
        -1,
    )


def undistort(xy: Array, D: Array) -> Array:
    """The points (..., 2) that a lens D (5,) puts at (..., 2); NaN where there is no single such point.

    Newton's method from the distorted point. Beyond the radius at which the lens folds the image
    over, points have no inverse.
    """
    target = np.asarray(xy, dtype=float)
    undistorted = target.copy()
    if not np.any(D):
        return undistorted
    with np.errstate(all="ignore"):  # what runs away is refused below
        for _ in range(ROUNDS):
            a, b, c, d = _jacobian(undistorted, D)
            error = distort(undistorted, D) - target
            step = np.stack(
                [d * error[..., 0] - b * error[..., 1], a * error[..., 1] - c * error[..., 0]], -1
            )
            step /= (a * d - b * c)[..., None]
            undistorted -= step
            if np.nanmax(np.abs(step), initial=0.0) < EXACT:
                break
        left = np.abs(distort(undistorted, D) - target).max(axis=-1)
        fits = (left < 10.0 * EXACT) & (np.sum(undistorted * undistorted, axis=-1) < _fold(D))
    return np.where(fits[..., None], undistorted, np.nan)


def _jacobian(xy: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """dx'/dx, dx'/dy, dy'/dx and dy'/dy, each (...)."""
    k1, k2, p1, p2, k3 = D
    x, y = xy[..., 0], xy[..., 1]
    r2 = x * x + y * y
    radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    slope = 2.0 * (k1 + r2 * (2.0 * k2 + 3.0 * r2 * k3))
    mixed = slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y
    along_x = radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x
    along_y = radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x
    return along_x, mixed, mixed, along_y


def _fold(D: Array) -> float:
    """Square of the radius at which the image of a lens stops growing, infinite if it never does."""
    k1, k2, _, _, k3 = D
    roots = np.roots([7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0])
    real = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0)]
    return float(real.min(initial=np.inf))
