# SPDX-License-Identifier: BSD-3-Clause
r"""Aerodynamic drag of every body, compiled.

.. math:: f_B = -(d_1 + d_2 \lVert v \rVert) \circ v_B, \qquad v = v_{WB} - v_\text{wind}

per body axis; it acts at the CoM and turns nothing. The linear part is that of rotors in forward
flight (Faessler, Franchi and Scaramuzza, RA-L 2018), the quadratic part that of the airframe.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    formula,
    norm,
    quat,
    rotate,
    scale,
    sub,
    times,
    unrotate,
    vec,
)
from iap_description.vehicles.assembly import Assembly


class DragCoefficients(NamedTuple):
    """Coefficients of bodies, body axes: d_1 (bodies, 3) [N/(m/s)] and d_2 (bodies, 3) [N/(m/s)^2]."""

    linear: Array
    quadratic: Array


def drag_coefficients(assemblies: Sequence[Assembly]) -> DragCoefficients:
    """The coefficients of all bodies, in the order of the state rows."""
    drags = [body.drag for assembly in assemblies for body in assembly.bodies]
    linear = np.array([drag.linear for drag in drags])
    return DragCoefficients(linear, np.array([drag.quadratic for drag in drags]))


@formula
def drag_force(q_WB: Quat, v_W: Vec, linear: Vec, quadratic: Vec) -> Vec:
    """Force [N], world axes, on a body that moves through the air at `v_W` [m/s]."""
    v_B = unrotate(q_WB, v_W)
    coefficients = add(linear, scale(norm(v_B), quadratic))
    return rotate(q_WB, scale(-1.0, times(coefficients, v_B)))


@njit(cache=True)
def add_drag(x: Array, wind_W: Array, wrenches: Array, linear: Array, quadratic: Array) -> None:
    """Add every body's drag to its wrench.

    Args:
        x: (B, bodies, 13) state rows.
        wind_W: (B, 3) velocity of the air [m/s].
        wrenches: (B, bodies, 6) wrenches on the bodies, world axes; the forces are added to.
        linear: (bodies, 3) d_1 of every body, body axes [N/(m/s)].
        quadratic: (bodies, 3) d_2, body axes [N/(m/s)^2].
    """
    for b in range(x.shape[0]):
        add_drag_in(x[b], vec(wind_W[b]), wrenches[b], linear, quadratic)


@njit(cache=True)
def add_drag_in(x: Array, wind_W: Vec, wrenches: Array, linear: Array, quadratic: Array) -> None:
    """Add every body's drag in one world; arguments as of `add_drag` without the batch."""
    for i in range(x.shape[0]):
        v_W = sub(vec(x[i, 7:10]), wind_W)
        force = drag_force(quat(x[i, 3:7]), v_W, vec(linear[i]), vec(quadratic[i]))
        for k in range(3):
            wrenches[i, k] += force[k]
