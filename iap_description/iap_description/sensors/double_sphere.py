# SPDX-License-Identifier: BSD-3-Clause
r"""The double sphere lens: two spheres a distance :math:`\xi` apart, and a pinhole :math:`\alpha` behind them.

With :math:`d_1 = \sqrt{x^2 + y^2 + z^2}` and :math:`d_2 = \sqrt{x^2 + y^2 + (\xi d_1 + z)^2}` a point is seen at

.. math:: (m_x, m_y) = \frac{(x, y)}{\alpha d_2 + (1 - \alpha) (\xi d_1 + z)}

and with :math:`r^2 = m_x^2 + m_y^2` the direction seen there is

.. math::
    \frac{m_z \xi + \sqrt{m_z^2 + (1 - \xi^2) r^2}}{m_z^2 + r^2} (m_x, m_y, m_z) - (0, 0, \xi), \qquad
    m_z = \frac{1 - \alpha^2 r^2}{\alpha \sqrt{1 - (2 \alpha - 1) r^2} + 1 - \alpha}

(Usenko, Demmel and Cremers, "The Double Sphere Camera Model", 3DV 2018, section on that model; as in their basalt). On
the axis it magnifies by 1 / (1 + xi). Points of the plane z = 1 are less than 90 degrees off the view.
"""

import numpy as np

from iap_description.arrays import Array


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
