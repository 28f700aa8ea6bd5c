# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of controllers (`iap_description.math.lanes`): those of the platform, then of each aircraft."""

import numpy as np

from iap_description.math.kernels import formula
from iap_description.math.lanes import Index

PLATFORM = np.uint64(0)  # first row of the platform

# what is known and asked for
STATE = 0  # (13) state row of the central body
P, Q, V, W, STATE_END = 0, 3, 7, 10, 13
REFERENCE, REFERENCE_END = 13, 32  # (19) of the reference row
LEVEL = 32
GIVEN_WRENCH = 33  # (6) which counts at level WRENCH

# what a controller remembers
INTEGRAL = 39  # (6) of the pose errors; five of collinear joints
SHORT = 45  # (6) the wrench that was wanted less the one that is made
DISTURBANCE = 51  # (6) estimated, about the CoM in world axes
MOMENTUM = 57  # (6) likewise
MADE = 63  # (6) active wrench that is made
IS_MADE_KNOWN = 69
IS_HELD = 70  # whether there are headings
SATURATED = 71  # whether an aircraft or rotor is at a limit
ATTITUDE_Q = 72  # (4) command of a rigid platform
ATTITUDE_W = 76  # (3)
ATTITUDE_ALPHA = 79  # (3)
IS_STARTED = 82
YAW = 83  # command of a rigid platform
YAW_RATE = 84
IS_YAW_KNOWN = 85
WRENCH = 86  # (6) active one about P's origin in P
MEMORY, MEMORY_END = INTEGRAL, 92

# in between
EXTERNAL = 92  # (6) wrench that is compensated
KEPT = 98  # share of the forces that is kept
KEPT_YAW = 99
HEADING_SINE = 100  # of the platform's yaw, times a positive number
HEADING_COSINE = 101
OWN_YAW = 102  # of the platform
NOT_FINITE = 199  # zero, or no number where a command is none

# gains and the platform
KP = 103  # (6) `Pid`; five of collinear joints
KI = 109  # (6)
KD = 115  # (6)
LIMIT = 121  # (6)
PER_INERTIA = 127
REACH = 128  # (2)
MASS = 130
D_0 = 131  # (3)
J = 134  # (9)
M = 143  # (36)
COUPLING = 179
GRAVITY = 180
IS_OBSERVED = 181  # whether a disturbance is estimated
OBSERVED_D_0 = 182  # (3)
J_C = 185  # (9)
SHARE = 194  # (2)
LARGEST = 196  # (2)
RATE_SHARE = 198
COMMON_ROWS = 200

# of collinear joints: `Split`
DELTA = 200  # (36)
DELTA_INVERSE = 236  # (36)
OMEGA_T = 272  # (36)
M_A = 308  # (25)
LINE = 333  # (3)
BASIS = 336  # (6)
P_LINE = 342  # (3)
UP = 345  # (3)
COLLINEAR_ROWS = 348

# of a rigid platform: `Rigid`
RIGID = 200  # (20)
RIGID_ROWS = 220

# rows of an aircraft
HEADING = 0
THRUST = 1
COMMAND_Q = 2  # (4)
COMMAND_W = 6  # (3)
RPM = 9  # (4)
TILT = 13  # (4)
COMMANDED, COMMANDED_END = HEADING, 17
GIVEN_HEADING = 17
FORCE_PART = 18  # (3) thrust vector for the wrench's force
TILT_PART = 21  # (3)
YAW_PART = 24  # (3)
THRUST_W = 27  # (3) wanted, then within limits
WANTED = 30  # (3)
ACROSS = 33  # a length across an axis
SINE = 34  # of the heading
COSINE = 35
HALF_TURN = 36  # (2) sine and cosine, then the angle
NEXT_Q = 38  # (4) attitude that is commanded now
AIRCRAFT_ROWS = 42

# rows of all rotors (4N) of a rigid platform, one behind the other
LIFTS, TILTS, YAWS, ROTOR_THRUSTS = range(4)
ROTOR_SECTIONS = 4

_PLATFORM_ROWS: dict[str, int] = {
    "full": COMMON_ROWS,
    "collinear": COLLINEAR_ROWS,
    "rigid": RIGID_ROWS,
    "vectored": COMMON_ROWS,
}
_ROTOR_SECTIONS = {"rigid": ROTOR_SECTIONS}


def platform_rows(actuation: str) -> int:
    """Number of rows of a platform, behind which the aircraft's begin."""
    return _PLATFORM_ROWS[actuation]


def rows_of(actuation: str, count: int) -> int:
    """Number of rows of a block of controllers of platforms of `count` aircraft."""
    sections = _ROTOR_SECTIONS.get(actuation, 0)
    return platform_rows(actuation) + count * (AIRCRAFT_ROWS + 4 * sections)


@formula
def aircraft_row(first: int, n: int) -> Index:
    """First row of an aircraft, of platforms of `first` rows."""
    return np.uint64(first + n * AIRCRAFT_ROWS)


@formula
def rotor_row(first: int, count: int, section: int, rotor: int) -> Index:
    """Row of a rotor in a section, of rigid platforms of `first` rows and `count` aircraft."""
    return np.uint64(first + count * (AIRCRAFT_ROWS + 4 * section) + rotor)
