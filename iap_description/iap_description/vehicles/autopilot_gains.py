# SPDX-License-Identifier: BSD-3-Clause
"""An aircraft's own autopilot, as the plant flies it and as observers model it: gains and attitude law."""

from pydantic import Field

from iap_description.config.record import Positive, Record, Vec3
from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    choose,
    cross,
    formula,
    mv,
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


@formula
def attitude_torque(
    has_attitude: bool, q: Quat, w: Vec, q_r: Quat, w_r: Vec, attitude: Vec, rate: Vec, J: Mat
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
        J: inertia [kg m^2].
    """
    q_e = qmul(qconj(q_r), q)
    sign = choose(q_e[3] >= 0.0, 2.0, -2.0)
    e_R = scale(choose(has_attitude, sign, 0.0), (q_e[0], q_e[1], q_e[2]))
    turned = unrotate(q_e, w_r)
    demanded = (
        choose(has_attitude, turned[0], w_r[0]),
        choose(has_attitude, turned[1], w_r[1]),
        choose(has_attitude, turned[2], w_r[2]),
    )
    feedback = add(times(attitude, e_R), times(rate, sub(w, demanded)))
    return sub(cross(w, mv(J, w)), mv(J, feedback))
