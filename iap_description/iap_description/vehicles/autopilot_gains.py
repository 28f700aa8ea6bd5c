# SPDX-License-Identifier: BSD-3-Clause
"""An aircraft's own autopilot, as the plant flies it and as observers model it: gains and attitude law."""

from numba import njit
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config import Positive, Record, Vec3
from iap_description.kernels import (
    Quat,
    Vec,
    add,
    cross,
    mul,
    qconj,
    qmul,
    scale,
    sub,
    times,
    unrotate,
)


class AutopilotGains(Record):
    """Attitude and rate loop inside each aircraft, per inertia."""

    rate_hz: Positive | None  # None is the physics rate
    attitude: Vec3  # [1/s^2]
    rate: Vec3  # [1/s]
    rotor_lead: float = Field(strict=True, ge=1.0, le=10.0)


@njit(cache=True)
def attitude_torque(
    has_attitude: bool, q: Quat, w: Vec, q_r: Quat, w_r: Vec, attitude: Vec, rate: Vec, J: Array
) -> Vec:
    """Torque [N m] about the CoM, body axes, that attitude and rate loop ask for: J (-k_R e_R - k_w e_w) + w x J w.

    Args:
        has_attitude: whether an attitude is commanded; else only the body rate.
        q: attitude, body to world.
        w: body rate [rad/s].
        q_r: commanded attitude.
        w_r: commanded body rate in the commanded attitude's axes, else in the body's [rad/s].
        attitude: gains k_R [1/s^2].
        rate: gains k_w [1/s].
        J: (3, 3) inertia [kg m^2].
    """
    e_R, wanted = (0.0, 0.0, 0.0), w_r
    if has_attitude:
        q_e = qmul(qconj(q_r), q)
        e_R = scale(2.0 if q_e[3] >= 0.0 else -2.0, (q_e[0], q_e[1], q_e[2]))
        wanted = unrotate(q_e, wanted)
    feedback = add(times(attitude, e_R), times(rate, sub(w, wanted)))
    return sub(cross(w, mul(J, w)), mul(J, feedback))
