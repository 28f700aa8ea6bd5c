# SPDX-License-Identifier: BSD-3-Clause
r"""Estimates for controllers: large corrections are blended in, since a jump of centimetres asks for a full thrust.

Between two estimates the inertial unit moves the state on without jumps. Where a correction moves its place by more
than `MIN_BLENDED_JUMP`, as ranges do without sight, the difference is kept as an offset that fades,

.. math::
    o \leftarrow e^{-\Delta t / \tau} o + (p_{k-1} + v_{k-1} \Delta t - p_k) ,

and so is that of the velocity. With sight corrections are millimetres and pass as they are.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.states import P, V

MIN_BLENDED_JUMP = 0.01  # correction of a place that is blended in [m]
FADING = 0.5  # time constant tau [s]


class JumpBlend:
    """Blends corrections of one body's place and velocity in."""

    def __init__(self) -> None:
        self._t = -np.inf
        self._p_W, self._v_W = np.zeros(3), np.zeros(3)  # as estimated, at t
        self._offset = np.zeros((2, 3))

    def __call__(self, t: float, row: Array) -> None:
        """Blend the estimate (13,) of a time [s] in place; one of the same time gets the same offset again."""
        dt = t - self._t
        if np.isfinite(dt) and dt > 0.0:
            self._offset *= np.exp(-dt / FADING)
            jump = self._p_W + dt * self._v_W - row[P]
            if jump @ jump > MIN_BLENDED_JUMP**2:
                self._offset[0] += jump
                self._offset[1] += self._v_W - row[V]
        if dt > 0.0:
            self._t = t
            self._p_W[:], self._v_W[:] = row[P], row[V]
        row[P] += self._offset[0]
        row[V] += self._offset[1]
