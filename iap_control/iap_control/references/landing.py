# SPDX-License-Identifier: BSD-3-Clause
"""Descents: how slowly a platform touches the ground, and how one comes down that no longer knows where it is."""

import numpy as np

from iap_control.responders.inputs import at_rest
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_P, REF_V

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
