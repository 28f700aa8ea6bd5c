# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of worlds (`math.lanes`): the vehicle's, then each body's, with room for an aircraft's."""

import numpy as np

from iap_description.math.kernels import formula
from iap_description.math.lanes import Index

# rows of a vehicle
MASS = 0
EXTERNAL = 1  # (6) wrench on the central body
FLIES = 7  # 1 where the world runs, else 0
FORCE = 8  # (3) on all bodies
TORQUE = 11  # (3) on the rigid part
MOMENTS = 14  # (9) `Moments` of all forces
PLACE = 23  # (3) of the common CoM
VELOCITY = 26  # (3) of it
FAILED = 29  # the step at which the world diverged, -1 without
TORQUE_1 = 30  # (3) on the rigid part in the first stage of a step
TORQUE_2 = 33  # (3) in the second one, then with that in the third
TORQUE_3 = 36  # (3)
VEHICLE_ROWS = 39
VEHICLE = np.uint64(0)  # first row of the vehicle

# rows of a body
STATE = 0  # (13) its state row
P, Q, V, W = 0, 3, 7, 10
BEFORE = 13  # (13) the same before the step
WRENCH = 26  # (6) about its CoM, world axes
ARM = 32  # (3) from the common CoM, in P
J = 35  # (9)
J_INV = 44  # (9)
LINEAR = 53  # (3) drag
QUADRATIC = 56  # (3) drag

# rows of a body that is an aircraft
RPM = 59  # (4)
TARGET = 63  # (4) speeds that its autopilot commands
MODE = 67
THRUST = 68
COMMAND_Q = 69  # (4)
COMMAND_W = 73  # (3)
COMMAND_RPM = 76  # (4)
ESTIMATED = 80  # 1 where the autopilot goes by an estimate
KNOWN_Q = 81  # (4) of the estimate
KNOWN_W = 85  # (3)
UP = 88  # (3) `iap_physics.propulsion.rotors.Lag`
DOWN = 91  # (3)
TICK = 94  # physics steps since its autopilot's last instant
AIR = 95  # (3) velocity of the air, of every body
THRUST_COEFFICIENT = 98  # of its rotors
RPM_BEFORE = 99  # (8) speeds and commands before the period
TICK_BEFORE = 107

# rows of a body that is an aircraft whose rotors tilt
TILT = 108  # (4)
COMMAND_TILT = 112  # (4)
TILT_BEFORE = 116  # (4) angles before the period

# rows of a body between the stages of a step
MOMENTUM = 120  # (3) angular momentum; before, the torque that an autopilot asks for
AT = 123  # (4) attitude at which the next stage looks
SO_FAR = 127  # (4) sum of the attitude after the step
BODY_ROWS = 131

# columns of what a body has in all worlds alike, (bodies, ALIKE)
GRAVITY = 0
Q_PB = 1  # (4) of a body that does not turn
ATTITUDE_GAIN = 5  # (3)
RATE_GAIN = 8  # (3)
AUTOPILOT_J = 11  # (9)
MIX = 20  # (12) `iap_physics.propulsion.autopilot.Mix`
C_F = 32  # thrust coefficient as the autopilot believes it
RPM_MIN = 33
RPM_MAX = 34
LEAD = 35
TORQUES = 36  # (12) `iap_physics.propulsion.rotors.Torques`
THRUST_SHARE = 48  # (4)
SPEED_SHARE = 52
SERVO = 53  # (3) `iap_physics.propulsion.tilting_rotors.Servo`
UPWARD = 56  # (24) wrench of a unit of thrust of each rotor at no tilt
SIDEWAYS = 80  # (24) at 90 deg
LIFT = 104  # (4) see `iap_physics.propulsion.autopilot.Autopilot`
ALIKE = 108


def rows_of(bodies: int) -> int:
    """Number of rows of a block of vehicles."""
    return VEHICLE_ROWS + bodies * BODY_ROWS


@formula
def body_row(i: int) -> Index:
    """First row of a body."""
    return np.uint64(VEHICLE_ROWS + i * BODY_ROWS)
