# SPDX-License-Identifier: BSD-3-Clause
"""The reference of a platform that no longer knows where it is: level, in its place, and down."""

import numpy as np

from iap_control.responders.inputs import at_rest
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_P, REF_V


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
