# SPDX-License-Identifier: BSD-3-Clause
"""Priorities of saturated actuators.

Yaw torque first, then thrust, then roll and pitch torque: of an aircraft's rotors, of a rigid platform's, and of the
aircraft that pull a jointed platform.
"""

import math

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import Vec, choose, dot, formula, least, most

Quad = tuple[float, float, float, float]

THRUST_TOLERANCE = 1e-9  # of a thrust, which is rounding and none [N]
NO_LIMIT = 1e30  # of a thrust that no rotor limits [N]
LEAST_FORCE = 0.5  # share of the wanted force that is kept before torque is touched


@njit(cache=True)
def share_out(
    lift: Array, tilt: Array, yaw: Array, lowest: Array, highest: Array, out: Array
) -> bool:
    """Rotor thrusts (R,) within [lowest, highest] [N] from their three parts; True if something was given up.

    The parts are those of the collective thrust, of roll and pitch torque, and of yaw torque; all but `out` are arrays
    or tuples. A rotor whose highest thrust is 0 does not turn, and its parts are 0.
    Roll and pitch shrink only if they alone do not fit, thrust moves to make room for them, and yaw takes what is left.
    """
    count = out.shape[0]
    least, most, span = tilt[0], tilt[0], NO_LIMIT
    for r in range(count):
        least, most = min(least, tilt[r]), max(most, tilt[r])
        span = min(span, highest[r] - lowest[r] if highest[r] > 0.0 else NO_LIMIT)
    fit = min(1.0, span / max(most - least, 1e-12))
    up, down = -NO_LIMIT, NO_LIMIT
    for r in range(count):
        out[r] = lift[r] + fit * tilt[r]
        up = max(up, lowest[r] - out[r])
        down = min(down, highest[r] - out[r] if highest[r] > 0.0 else NO_LIMIT)
    shift = min(max(0.0, up), down)
    share = 1.0
    for r in range(count):
        out[r] += shift
        share = _room(share, out[r], yaw[r], lowest[r], highest[r])
    for r in range(count):
        out[r] = min(max(out[r] + share * yaw[r], lowest[r]), highest[r])
    return fit < 1.0 or shift != 0.0 or share < 1.0 or span == NO_LIMIT


@formula
def share_out_four(lift: float, tilt: Quad, yaw: Quad, lowest: float, highest: float) -> Quad:
    """`share_out` of four rotors with the same lift and limits [N], without branches on data."""
    low = least(least(least(tilt[0], tilt[1]), tilt[2]), tilt[3])
    high = most(most(most(tilt[0], tilt[1]), tilt[2]), tilt[3])
    fit = least(1.0, (highest - lowest) / most(high - low, 1e-12))
    a, b, c, d = (
        lift + fit * tilt[0],
        lift + fit * tilt[1],
        lift + fit * tilt[2],
        lift + fit * tilt[3],
    )
    up = most(most(most(most(-NO_LIMIT, lowest - a), lowest - b), lowest - c), lowest - d)
    down = least(least(least(least(NO_LIMIT, highest - a), highest - b), highest - c), highest - d)
    shift = least(most(0.0, up), down)
    a, b, c, d = a + shift, b + shift, c + shift, d + shift
    share = _room(1.0, a, yaw[0], lowest, highest)
    share = _room(share, b, yaw[1], lowest, highest)
    share = _room(share, c, yaw[2], lowest, highest)
    share = _room(share, d, yaw[3], lowest, highest)
    return (
        least(most(a + share * yaw[0], lowest), highest),
        least(most(b + share * yaw[1], lowest), highest),
        least(most(c + share * yaw[2], lowest), highest),
        least(most(d + share * yaw[3], lowest), highest),
    )


@formula
def _room(share: float, force: float, yaw: float, lowest: float, highest: float) -> float:
    """The share of yaw that one rotor's limits leave room for."""
    room = choose(yaw > 0.0, highest, lowest) - force
    within = least(share, most(0.0, room / yaw))
    return choose(abs(yaw) > 1e-12, within, share)


@formula
def share_within(base: Vec, part: Vec, limit: float, lowest: float) -> float:
    """Largest s in [lowest, 1] that keeps the length of base + s part within the limit, or lowest if none does.

    Args:
        base: an aircraft's thrust for what is not given up [N].
        part: its thrust for what may be [N].
        limit: largest thrust [N].
        lowest: smallest share.
    """
    a, b, c = dot(part, part), dot(base, part), dot(base, base) - limit * limit
    root = b * b - a * c
    share = least(1.0, most(lowest, (-b + math.sqrt(most(root, 0.0))) / a))
    return choose(a + 2.0 * b + c <= 0.0, 1.0, choose((c > 0.0) | (root < 0.0), lowest, share))


@formula
def without_rounding(short: float) -> float:
    """Zero in place of what of a lack is rounding, whose sign would else hold up integrals."""
    return choose(abs(short) < THRUST_TOLERANCE, 0.0, short)
