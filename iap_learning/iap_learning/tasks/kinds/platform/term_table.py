# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of one platform, by their names.

| term | numbers | unit | what it is |
|---|---|---|---|
| `position_error` | 3 | m | from the platform's origin to the goal, in `map` |
| `position_error_P` | 3 | m | the same in P |
| `attitude` | 4 | 1 | the platform's attitude, xyzw |
| `attitude_error` | 3 | rad | rotation vector from its attitude to the goal's, in P |
| `up` | 3 | 1 | the vertical in P |
| `velocity` | 3 | m/s | its velocity in `map` |
| `velocity_P` | 3 | m/s | the same in P |
| `velocity_error` | 3 | m/s | the goal's velocity less its own, in `map` |
| `goal_acceleration` | 3 | m/s^2 | the goal's acceleration in `map` |
| `rates` | 3 | rad/s | its angular velocity in P |
| `aircraft_up` | 3 of each aircraft | 1 | the aircraft's z axis in P |
| `rpm` | 4 of each aircraft | rpm | rotor speeds |
| `action` | as the action has | 1 | the last action |
| `rotation_columns` | 6 | 1 | first two columns of the platform's rotation matrix (Zhou et al., CVPR 2019) |
| `gyro` | 3 | rad/s | angular velocity by the central body's inertial unit, mean over the last control period |
| `specific_force` | 3 | m/s^2 | specific force by the same |

A task's file may also name a function of the user's own as ``module:function``, see `iap_learning.tasks.user_terms`.
"""

from typing import NamedTuple


class TermSize(NamedTuple):
    """Size of a term.

    Attributes:
        size: that do not depend on the platform.
        per_aircraft: for each aircraft.
        per_action: for each of an action's.
    """

    size: int = 0
    per_aircraft: int = 0
    per_action: int = 0


TERMS = {
    "position_error": TermSize(3),
    "position_error_P": TermSize(3),
    "attitude": TermSize(4),
    "attitude_error": TermSize(3),
    "up": TermSize(3),
    "velocity": TermSize(3),
    "velocity_P": TermSize(3),
    "velocity_error": TermSize(3),
    "goal_acceleration": TermSize(3),
    "rates": TermSize(3),
    "aircraft_up": TermSize(per_aircraft=3),
    "rpm": TermSize(per_aircraft=4),
    "action": TermSize(per_action=1),
    "rotation_columns": TermSize(6),
    "gyro": TermSize(3),
    "specific_force": TermSize(3),
}
INERTIAL_TERMS = ("gyro", "specific_force")  # which need the scenario's inertial units
NAMES = tuple(TERMS)
(
    POSITION_ERROR,
    POSITION_ERROR_P,
    ATTITUDE,
    ATTITUDE_ERROR,
    UPWARDS,
    VELOCITY,
    VELOCITY_P,
    VELOCITY_ERROR,
    GOAL_ACCELERATION,
    RATES,
    AIRCRAFT_UP,
    RPM,
    ACTION,
    ROTATION_COLUMNS,
    GYRO,
    SPECIFIC_FORCE,
) = range(len(TERMS))  # in the order of TERMS
