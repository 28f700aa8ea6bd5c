# SPDX-License-Identifier: BSD-3-Clause
"""Descents: how a platform comes to the ground softly, and how one comes down that no longer knows where it is."""

import numpy as np

from iap_control.references.rows import hold
from iap_control.references.timeline_parts import (
    TimelinePart,
    approach_part,
    level_at,
    period_count,
    reversed_approach,
)
from iap_control.responders.inputs import at_rest
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_P, REF_V

SPIN_UP = 1.0  # on the ground before the climb, and at the end of the descent [s]
CLIMB_SPEED = 0.5  # mean speed of take-off and of the descent to the flare [m/s]
FLARE_HEIGHT = 0.1  # above where the platform stands, from which it descends at `TOUCH_SPEED` [m]
TOUCH_SPEED = 0.07  # of platforms that are not heavy, see `touch_factor` [m/s]
LANDING_DEPTH = 0.24  # below where the platform stands, to which the reference goes: biased places touch, too [m]
FLARE_TIME = 1.0  # shortest, from rest to the touch speed, and back to rest [s]
FULL_SPEED_MASS = 6.0  # up to which a platform touches at full speed [kg]


def touch_factor(mass: float) -> float:
    r"""Share of the full touch speed v_0 at which a platform of a mass m [kg] touches the ground.

    Contacts are rigid with restitution e: over 5 ms a touch has a mean force of m v (1 + e) / 5 ms. So

    .. math::
        v = v_0 \min(1, m_0 / m)

    with m_0 = 6 kg bounds it for all masses; with v_0 = 0.07 m/s and e = 0.1 by 92 N.
    """
    return min(1.0, FULL_SPEED_MASS / mass)


class Descent:
    """Down from where a platform is, at constant speed; it keeps heading and place as it believes them.

    Args:
        t: when it begins [s].
        x: (13) the platform's state row then.
        headings: (N,) of the aircraft [rad].
        speed: downwards [m/s]; 0 stays.
    """

    def __init__(self, t: float, x: Array, headings: Array, speed: float) -> None:
        self._t, self._speed = t, speed
        row = np.concatenate([np.zeros(REF_FIXED), headings])
        at_rest(x, row)
        row[REF_V.stop - 1] = -speed
        self._height = row[REF_P.stop - 1]
        self._reference = Reference(row)

    def __call__(self, t: float) -> Reference:
        """The reference at a time [s]; overwritten by the next one."""
        self._reference.row[REF_P.stop - 1] = self._height - self._speed * (t - self._t)
        return self._reference


def landing(last: Array, height: float, mass: float, dt: float) -> list[TimelinePart]:
    """Rows that stop, level out, and descend into the ground; see `descent`."""
    stop = last.copy()
    stop[REF_P] += 0.5 * last[7:10]  # comes to rest within a second
    rest = level_at(stop, float(stop[2]))
    return [reversed_approach(rest, last, 2.0, dt), *descent(rest, height, mass, dt)]


def descent(rest: Array, height: float, mass: float, dt: float) -> list[TimelinePart]:
    """Rows from rest, level, into the ground, at last so slowly that a touch is soft anywhere.

    The speed of the touch is that of `touch_factor`. A `LandDetector` ends the rotors once the platform stands.

    Args:
        rest: (19,) from which they begin.
        height: of P's origin where the platform stands on the ground [m].
        mass: of the platform [kg].
        dt: control period [s].
    """
    touch = TOUCH_SPEED * touch_factor(mass)
    way = 0.5 * touch * FLARE_TIME
    flare = level_at(rest, min(height + FLARE_HEIGHT, float(rest[2]) - way))
    flare[REF_V.stop - 1] = -touch
    fall = max(FLARE_TIME, float(rest[2] - flare[2]) / CLIMB_SPEED)
    sinking = float(flare[2]) - (height - LANDING_DEPTH + way)
    count = max(1, period_count("reference", sinking / touch, dt))
    low = _sunk(flare, np.array([count * dt]))[0]
    bottom = level_at(low, float(low[2]) - way)
    return [
        approach_part("reference", rest, flare, fall, dt),
        TimelinePart(count + 1, lambda k: _sunk(flare, k * dt)),
        reversed_approach(bottom, low, FLARE_TIME, dt),
        TimelinePart(round(SPIN_UP / dt), lambda k: hold(bottom, len(k))),
    ]


def _sunk(row: Array, t: Array) -> Array:
    """Rows (T, 19) of a row that moves on with its velocity for times (T,) [s]."""
    rows = np.tile(row, (len(t), 1))
    rows[:, REF_P] += t[:, None] * row[REF_V]
    return rows
