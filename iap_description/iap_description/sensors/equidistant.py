# SPDX-License-Identifier: BSD-3-Clause
r"""The equidistant lens, OpenCV's fisheye, with four coefficients k1 to k4.

They are of the angle :math:`\theta = \arctan r` between the view and the normalised point (x, y) at a radius r:

.. math::
    (x', y') = \frac{\theta_d}{r} (x, y) , \qquad
    \theta_d = \theta (1 + k_1 \theta^2 + k_2 \theta^4 + k_3 \theta^6 + k_4 \theta^8)

(Kannala and Brandt, "A Generic Camera Model", PAMI 2006, eq. 6; OpenCV's documentation, fisheye camera model).
"""

import numpy as np

from iap_description.arrays import Array

MAX_ITERATIONS = 30  # of Newton's method; a lens that can be inverted needs fewer than ten
ANGLE_TOLERANCE = 1e-12  # error of an inversion that succeeded [rad]
MAX_ANGLE = np.deg2rad(89.0)  # off the view; points beyond are too far out on the plane z = 1
PINHOLE_RADIUS = 1e-8  # radius below which the lens is a pinhole


def distort_equidistant(xy: Array, D: Array) -> Array:
    """Images (..., 2) of normalised points (..., 2) under a lens D (4,)."""
    xy = np.asarray(xy, dtype=float)
    r = np.linalg.norm(xy, axis=-1, keepdims=True)
    scale = _bent(np.arctan(r), D) / np.where(r < PINHOLE_RADIUS, 1.0, r)
    return np.where(r < PINHOLE_RADIUS, 1.0, scale) * xy


def undistort_equidistant(xy: Array, D: Array) -> Array:
    """The points (..., 2) that a lens D (4,) puts at (..., 2); NaN beyond `MAX_ANGLE` off the view.

    Newton's method on the angle, up to the one at which the lens folds the image over.
    """
    xy = np.asarray(xy, dtype=float)
    bent = np.linalg.norm(xy, axis=-1, keepdims=True)
    end = min(float(MAX_ANGLE), _folding_angle(D))
    theta = np.minimum(bent, end)
    for _ in range(MAX_ITERATIONS):
        theta = np.clip(theta - (_bent(theta, D) - bent) / _slope(theta, D), 0.0, end)
        if np.nanmax(np.abs(_bent(theta, D) - bent), initial=0.0) < ANGLE_TOLERANCE:
            break
    fits = (np.abs(_bent(theta, D) - bent) < 10.0 * ANGLE_TOLERANCE) & (theta < end)
    scale = np.tan(theta) / np.where(bent < PINHOLE_RADIUS, 1.0, bent)
    return np.where(fits, np.where(bent < PINHOLE_RADIUS, 1.0, scale) * xy, np.nan)


def _bent(theta: Array, D: Array) -> Array:
    """theta_d of angles [rad]."""
    k1, k2, k3, k4 = D
    s = theta * theta
    return np.asarray(theta * (1.0 + s * (k1 + s * (k2 + s * (k3 + s * k4)))))


def _slope(theta: Array, D: Array) -> Array:
    """Derivative of theta_d, positive below the fold; kept off zero."""
    k1, k2, k3, k4 = D
    s = theta * theta
    slope = 1.0 + s * (3.0 * k1 + s * (5.0 * k2 + s * (7.0 * k3 + s * 9.0 * k4)))
    return np.maximum(slope, 1e-3)


def _folding_angle(D: Array) -> float:
    """Angle [rad] at which theta_d stops growing, infinite if it never does."""
    k1, k2, k3, k4 = D
    roots = np.roots([9.0 * k4, 7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0])
    real = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0)]
    return float(np.sqrt(real.min(initial=np.inf)))
