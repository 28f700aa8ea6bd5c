# SPDX-License-Identifier: BSD-3-Clause
r"""Models of fisheye lenses, equidistant and double sphere, on the plane z = 1 less than 90 degrees off the view.

`equidistant` is OpenCV's fisheye, with four coefficients k1 to k4 of the angle :math:`\theta = \arctan r` between the
view and the normalised point (x, y) at a radius r:

.. math::
    (x', y') = \frac{\theta_d}{r} (x, y) , \qquad
    \theta_d = \theta (1 + k_1 \theta^2 + k_2 \theta^4 + k_3 \theta^6 + k_4 \theta^8)

(Kannala and Brandt, "A Generic Camera Model", PAMI 2006, eq. 6; OpenCV's documentation, fisheye camera model).

`double_sphere` has two spheres a distance :math:`\xi` apart, and a pinhole :math:`\alpha` behind them. With
:math:`d_1 = \sqrt{x^2 + y^2 + z^2}` and :math:`d_2 = \sqrt{x^2 + y^2 + (\xi d_1 + z)^2}` a point is seen at

.. math:: (m_x, m_y) = \frac{(x, y)}{\alpha d_2 + (1 - \alpha) (\xi d_1 + z)}

and with :math:`r^2 = m_x^2 + m_y^2` the direction seen there is

.. math::
    \frac{m_z \xi + \sqrt{m_z^2 + (1 - \xi^2) r^2}}{m_z^2 + r^2} (m_x, m_y, m_z) - (0, 0, \xi), \qquad
    m_z = \frac{1 - \alpha^2 r^2}{\alpha \sqrt{1 - (2 \alpha - 1) r^2} + 1 - \alpha}

(Usenko, Demmel and Cremers, "The Double Sphere Camera Model", 3DV 2018, section on that model; as in their basalt). On
the axis it magnifies by 1 / (1 + xi).
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

    Newton's method on the angle, from its image: it does not pass the angle at which a lens folds the image over.
    """
    xy = np.asarray(xy, dtype=float)
    bent = np.linalg.norm(xy, axis=-1, keepdims=True)
    end = float(MAX_ANGLE)
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


def distort_double_sphere(xy: Array, D: Array) -> Array:
    """Images (..., 2) of normalised points (..., 2) under a lens D (2,): xi and alpha."""
    xi, alpha = D
    xy = np.asarray(xy, dtype=float)
    r2 = np.sum(xy * xy, axis=-1, keepdims=True)
    shifted = xi * np.sqrt(r2 + 1.0) + 1.0
    return np.asarray(
        xy / (alpha * np.sqrt(r2 + shifted * shifted) + (1.0 - alpha) * shifted), float
    )


def undistort_double_sphere(xy: Array, D: Array, widest: float) -> Array:
    """The points (..., 2) that a lens D (2,) puts at (..., 2); NaN beyond an angle off the view [rad]."""
    xi, alpha = D
    m = np.asarray(xy, dtype=float)
    r2 = np.sum(m * m, axis=-1, keepdims=True)
    with np.errstate(all="ignore"):  # what has no point is NaN
        root = np.sqrt(1.0 - (2.0 * alpha - 1.0) * r2)
        m_z = (1.0 - alpha * alpha * r2) / (alpha * root + 1.0 - alpha)
        length = (m_z * xi + np.sqrt(m_z * m_z + (1.0 - xi * xi) * r2)) / (m_z * m_z + r2)
        z = length * m_z - xi
        point = length * m / z
        fits = (z > 0.0) & (np.sum(point * point, axis=-1, keepdims=True) < np.tan(widest) ** 2)
    return np.where(fits, point, np.nan)


def magnification_double_sphere(D: Array) -> float:
    """Magnification on the axis under a lens D (2,)."""
    return float(1.0 / (1.0 + D[0]))


def fault_double_sphere(D: Array) -> str | None:
    """The fault of a lens D (2,), in words; None of a lens that can be."""
    xi, alpha = D
    if not -1.0 < xi <= 1.0:
        return f"xi is {xi:g}, which is not between -1 and 1"
    return None if 0.0 <= alpha <= 1.0 else f"alpha is {alpha:g}, which is not between 0 and 1"
