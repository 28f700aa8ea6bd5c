# SPDX-License-Identifier: BSD-3-Clause
"""Between estimates of inertial units and the state rows of the bodies that carry them."""

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_estimation.virpo.messages import Estimate

Array = NDArray[np.float64]


class Mount:
    """Mount of an inertial unit I on its body B.

    Args:
        p_BI_B: (3,) its place [m].
        q_BI: (4,) its attitude.
    """

    def __init__(self, p_BI_B: Array, q_BI: Array) -> None:
        self._p_BI_B, self._q_BI = p_BI_B, q_BI
        self._q_IB = so3.conjugate(q_BI)
        self._p_IB_I = -so3.rotate(self._q_IB, p_BI_B)

    def body(self, unit: Estimate, t: float, out: Array) -> None:
        """State row (13,) of the body at a time that is no earlier than the estimate's -> out."""
        w_W = so3.rotate(unit.q_WB, unit.w_B)
        arm_W = so3.rotate(unit.q_WB, self._p_IB_I)
        out[P], out[Q] = unit.p_WB_W + arm_W, so3.multiply(unit.q_WB, self._q_IB)
        out[V], out[W] = unit.v_WB_W + np.cross(w_W, arm_W), w_W
        carry_on(out, t - unit.t)

    def unit(self, row: Array) -> Array:
        """Place, attitude, velocity and biases of zero (16,) of the unit on a body with a state row (13,)."""
        arm_W = so3.rotate(row[Q], self._p_BI_B)
        v_W = row[V] + np.cross(row[W], arm_W)
        return np.concatenate([row[P] + arm_W, so3.multiply(row[Q], self._q_BI), v_W, np.zeros(6)])


def carry_on(row: Array, span: float) -> None:
    """Move a state row (13,) on as its twist says [s]."""
    if span > 0.0:
        row[P] += span * row[V]
        row[Q] = so3.normalized(so3.multiply(so3.quaternion_exp(span * row[W]), row[Q]))


def centre_row(aircraft: Array, d: Array, q_WP: Array, w_P: Array) -> Array:
    """State row (13,) of the central body P, whose joints are at the aircraft's origins.

    Args:
        aircraft: (A, 13) state rows.
        d: (A, 3) places of their joints in P [m].
        q_WP: (4,) its attitude.
        w_P: (3,) its angular velocity [rad/s].
    """
    row = np.empty(STATE_SIZE)
    w_W, middle_W = so3.rotate(q_WP, w_P), so3.rotate(q_WP, d.mean(axis=0))
    row[P], row[Q] = aircraft[:, P].mean(axis=0) - middle_W, q_WP
    row[V], row[W] = aircraft[:, V].mean(axis=0) - np.cross(w_W, middle_W), w_W
    return row
