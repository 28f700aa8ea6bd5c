# SPDX-License-Identifier: BSD-3-Clause
"""A quadrotor's motion as PX4 logs it."""

import numpy as np
from flight_bags import Array, Motion

from iap_bringup.fuzz.made_logs import BOOT_US, ULogWriter
from iap_description.frames import swap_attitude, swap_body, swap_world
from iap_description.math import so3


def flight_log(
    motion: Motion,
    *,
    landed: float = 0.0,
    lost: tuple[float, float] = (0.0, 0.0),
    R_said: Array | None = None,
) -> ULogWriter:
    """A quadrotor's motion as PX4 logs it, in NED and FRD.

    Args:
        motion: in ENU and FLU.
        landed: time at its begin before which the vehicle stands, by the land detector [s].
        lost: from when to when the logger lost all rows [s].
        R_said: attitudes (K, 3, 3) that are written in place of the right ones.
    """
    log = ULogWriter()
    log.information("ver_hw", "MADE_UP")
    for key, value in (("SYS_AUTOSTART", 4001), ("MAV_TYPE", 2), ("CA_ROTOR_COUNT", 4)):
        log.parameter(key, value)
    keep = (motion.t < lost[0]) | (motion.t >= lost[1])
    us = np.round(BOOT_US + motion.t * 1e6)[keep, None]
    R = so3.matrix_from_quaternion(motion.q)
    written = swap_attitude(R) if R_said is None else R_said
    q = so3.quaternion_from_matrix(written)[:, [3, 0, 1, 2]]
    f = np.einsum("kji,kj->ki", R, motion.a + [0.0, 0.0, 9.81])

    def put(name: str, fields: str, *columns: Array, instance: int = 0) -> None:
        log.topic(name, fields, np.hstack([us, *(each[keep] for each in columns)]), instance)

    ones = np.ones((len(motion.t), 1))
    place = [swap_world(motion.p), swap_world(motion.v), np.tile(ones, 4)]
    put("vehicle_attitude", "float[4] q", q)
    flags = "bool xy_valid;bool z_valid;bool v_xy_valid;bool v_z_valid"
    put(
        "vehicle_local_position",
        f"float x;float y;float z;float vx;float vy;float vz;{flags}",
        *place,
    )
    put("vehicle_angular_velocity", "float[3] xyz", swap_body(motion.w))
    raw = [swap_body(motion.w), swap_body(f)]
    put("sensor_combined", "float[3] gyro_rad;float[3] accelerometer_m_s2", *raw)
    put("actuator_armed", "bool armed", ones)
    put("vehicle_land_detected", "bool landed", (motion.t < landed).astype(float)[:, None])
    if lost[1] > lost[0]:
        log.dropout(round(BOOT_US + lost[1] * 1e6), round(1e3 * (lost[1] - lost[0])))
    return log
