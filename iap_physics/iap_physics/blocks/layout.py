# SPDX-License-Identifier: BSD-3-Clause
"""Where the numbers of a block of worlds are: a row for each quantity, a lane for each world.

A block is one flat array of the rows of the vehicle and then of each body, with room for an aircraft's. A compiled loop
over its lanes becomes vector instructions as long as all rows that it touches are at distances that the compiler knows:
a heavy loop touches one body's.
"""

from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.kernels import Mat, Quat, Vec, formula

Index = (
    np.uint64 | int
)  # unsigned where it is compiled: a signed one may count from the end, and nothing becomes a vector
Precision = Literal["float64", "float32"]
DOUBLE: Precision = "float64"
LANES = 32  # most worlds of a block
VECTOR = 8  # worlds by which a block grows

# rows of a vehicle
MASS = 0
GRAVITY = 1
EXTERNAL = 2  # (6) wrench on the central body
FLIES = 8  # 1 where the world runs, else 0
FORCE = 9  # (3) on all bodies
TORQUE = 12  # (3) on the rigid part
MOMENTS = 15  # (9) `Moments` of all forces
PLACE = 24  # (3) of the common CoM
VELOCITY = 27  # (3) of it
FAILED = 30  # the step at which the world diverged, -1 without
VEHICLE_ROWS = 31
VEHICLE = np.uint64(0)  # first row of the vehicle

# rows of a body
STATE = 0  # (13) its state row
P, Q, V, W = 0, 3, 7, 10
BEFORE = 13  # (13) the same before the step
WRENCH = 26  # (6) about its CoM, world axes
ARM = 32  # (3) from the common CoM, in P
Q_PB = 35  # (4)
J = 39  # (9)
J_INV = 48  # (9)
LINEAR = 57  # (3) drag
QUADRATIC = 60  # (3) drag

# rows of a body that is an aircraft
RPM = 63  # (4)
TARGET = 67  # (4) speeds that its autopilot commands
MODE = 71
THRUST = 72
COMMAND_Q = 73  # (4)
COMMAND_W = 77  # (3)
COMMAND_RPM = 80  # (4)
ESTIMATED = 84  # 1 where the autopilot goes by an estimate
KNOWN_Q = 85  # (4) of the estimate
KNOWN_W = 89  # (3)
ATTITUDE_GAIN = 92  # (3)
RATE_GAIN = 95  # (3)
AUTOPILOT_J = 98  # (9)
MIX = 107  # (12) `iap_physics.autopilot.Mix`
C_F = 119  # thrust coefficient as the autopilot believes it
RPM_MIN = 120
RPM_MAX = 121
LEAD = 122
UP = 123  # (3) `iap_physics.rotors.Lag`
DOWN = 126  # (3)
TORQUES = 129  # (12) `iap_physics.rotors.Torques`
THRUST_SHARE = 141  # (4)
SPEED_SHARE = 145
TICK = 146  # physics steps since its autopilot's last instant
AIR = 147  # (3) velocity of the air, of every body
THRUST_COEFFICIENT = 150  # of its rotors
BODY_ROWS = 151


def rows_of(bodies: int) -> int:
    """Number of rows of a block of vehicles."""
    return VEHICLE_ROWS + bodies * BODY_ROWS


@formula
def body_row(i: int) -> Index:
    """First row of a body."""
    return np.uint64(VEHICLE_ROWS + i * BODY_ROWS)


@formula
def get(block: Array, row: Index, k: int, lane: Index) -> float:
    """Number of one world in row + k."""
    return block[(row + np.uint64(k)) * np.uint64(LANES) + lane]


@formula
def get3(block: Array, row: Index, k: int, lane: Index) -> Vec:
    """Three numbers of one world from row + k on."""
    return (get(block, row, k, lane), get(block, row, k + 1, lane), get(block, row, k + 2, lane))


@formula
def get4(block: Array, row: Index, k: int, lane: Index) -> Quat:
    """Four numbers of one world from row + k on."""
    a, b, c = get3(block, row, k, lane)
    return (a, b, c, get(block, row, k + 3, lane))


@formula
def get9(block: Array, row: Index, k: int, lane: Index) -> Mat:
    """Nine numbers of one world from row + k on."""
    a, b, c = get3(block, row, k, lane)
    d, e, f = get3(block, row, k + 3, lane)
    g, h, i = get3(block, row, k + 6, lane)
    return (a, b, c, d, e, f, g, h, i)


@formula
def set1(block: Array, row: Index, k: int, lane: Index, value: float) -> None:
    """Write a number of one world into row + k."""
    block[(row + np.uint64(k)) * np.uint64(LANES) + lane] = value


@formula
def set3(block: Array, row: Index, k: int, lane: Index, v: Vec) -> None:
    """Write three numbers of one world from row + k on."""
    set1(block, row, k, lane, v[0])
    set1(block, row, k + 1, lane, v[1])
    set1(block, row, k + 2, lane, v[2])


@formula
def set4(block: Array, row: Index, k: int, lane: Index, q: Quat) -> None:
    """Write four numbers of one world from row + k on."""
    set3(block, row, k, lane, (q[0], q[1], q[2]))
    set1(block, row, k + 3, lane, q[3])
