# SPDX-License-Identifier: BSD-3-Clause
"""Headings of a platform's aircraft."""

from typing import Final, Literal

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import yaw_of
from iap_description.signals import Reference
from iap_description.states import Level

YawMode = Literal["follow", "hold", "reference"]
FOLLOW, HOLD, REFERENCE = 0, 1, 2  # as the compiled part takes them
YAW_MODES: Final[dict[YawMode, int]] = {"follow": FOLLOW, "hold": HOLD, "reference": REFERENCE}
_POSE, _FIXED, _Q = int(Level.POSE), 19, 3  # of a reference row


@njit(cache=True)
def write_headings(
    mode: int, mount_yaw: Array, x: Array, row: Array, level: int, is_held: bool, out: Array
) -> None:
    """Write headings (N,) [rad].

    Args:
        mode: a value of `YAW_MODES`: they follow the platform's, are held, or are given by the reference.
        mount_yaw: (N,) of the aircraft in P at rest [rad].
        x: (13,) state row of the central body.
        row: (19+) reference row.
        level: what is tracked of it.
        is_held: whether `out` holds those of an earlier call.
        out: (N,) written.
    """
    if mode == REFERENCE:
        out[:] = row[_FIXED:]
    elif mode == FOLLOW or not is_held:
        yaw = yaw_of(row[_Q:]) if level == _POSE else yaw_of(x[_Q:])
        for i in range(len(out)):
            out[i] = mount_yaw[i] + yaw


class Headings:
    """Headings of the aircraft of one platform.

    Args:
        mount_yaw: (N,) of the aircraft in P at rest [rad].
        mode: they follow the platform's, are held, or are given by the reference.
    """

    def __init__(self, mount_yaw: Array, mode: YawMode) -> None:
        self._mount_yaw, self._mode = mount_yaw, YAW_MODES[mode]
        self.reset()

    def reset(self) -> None:
        """Hold none yet."""
        self._headings = np.zeros(len(self._mount_yaw))
        self._is_held = False

    def __call__(self, x: Array, reference: Reference) -> Array:
        """(N,) [rad] at a state row (13,); the same array every time."""
        level = int(reference.level)
        where = (x, reference.row, level, self._is_held)
        write_headings(self._mode, self._mount_yaw, *where, self._headings)
        self._is_held = True
        return self._headings
