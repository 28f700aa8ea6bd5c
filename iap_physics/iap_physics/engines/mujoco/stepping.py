# SPDX-License-Identifier: BSD-3-Clause
r"""A step of MuJoCo's in which what slides does not lift off.

MuJoCo's convex model of friction ties the normal direction n of a contact that slides to the tangential one t,

.. math::
    a_n + b\,v_n + k\,r + R f_n = \mu\,|a_t + b_t\,v_t|,

so that with b_t = b = 1/h a rigid contact that slides at some mm/s rises until it is lost, falls, and rattles. Here
the greater part of the right-hand side, mu b_t |v_t|, is taken off the left one as well, and sliding that friction
can end dies down by exp(-b_t t) in place of within one step.
"""

from typing import Any

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_physics.engines.mujoco.library import mj

SLIDING_RATE = 100.0  # b_t [1/s]


def step(model: Any, data: Any) -> None:  # noqa: ANN401
    """Advance by one step."""
    mj.mj_step1(model, data)
    if data.ncon:
        contact = data.contact
        rows, friction = np.array(contact.efc_address), np.array(contact.friction)
        _let_slide(data.efc_aref, data.efc_vel, rows, friction.reshape(len(rows), -1))
    mj.mj_step2(model, data)


@njit(cache=True)
def _let_slide(aref: Array, velocity: Array, rows: Integers, friction: Array) -> None:
    """Change the reference accelerations of contacts whose first rows are these, or -1."""
    for i in range(rows.size):
        if rows[i] >= 0:
            slide(aref, velocity, rows[i], friction[i, 0])


@njit(cache=True)
def slide(aref: Array, velocity: Array, n: int, friction: float) -> None:
    """Change the reference accelerations of a contact whose first row is n."""
    slip = np.hypot(velocity[n + 1], velocity[n + 2])
    aref[n] -= friction * SLIDING_RATE * slip
    for k in (n + 1, n + 2):
        aref[k] = -SLIDING_RATE * velocity[k]
