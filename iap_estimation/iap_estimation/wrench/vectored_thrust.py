# SPDX-License-Identifier: BSD-3-Clause
r"""Wrench of rotors that tilt about their arms under a command: a model of both lags, compiled.

A rotor of thrust T and tilt b pushes with T cos b upwards and T sin b sideways, beatle (1), (13), (14). The speed lags
behind the root of the commanded thrust, faster up than down, and the tilt behind its command, no faster than its rate:

.. math::
    \dot b = \mathrm{clip}((b_r - b) / T_b, \pm \dot b_{max}).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_estimation.wrench.thrust_model import STEPS


class VectoredThrust(NamedTuple):
    """Rotors between a command and their wrench.

    Attributes:
        map: (6, 2R) force and torque about the CoM, body axes, of each rotor's T cos b and T sin b in turn.
        up: what is left of a speed error after one of `STEPS` while the speed rises.
        down: the same while it falls.
        turn: what is left of a tilt's error.
        most: turn of a rotor in one of `STEPS` at its largest rate [rad].
    """

    map: Array
    up: float
    down: float
    turn: float
    most: float

    @classmethod
    def of(
        cls,
        wrench_map: Array,
        *,
        lags: tuple[float, float],
        tilt_lag: float,
        tilt_rate: float,
        dt: float,
    ) -> "VectoredThrust":
        """The model at a control period.

        Args:
            wrench_map: see the class.
            lags: time constants of the speed, up and down [s].
            tilt_lag: time constant of the tilt [s].
            tilt_rate: largest [rad/s].
            dt: control period [s].
        """
        h = dt / STEPS
        up, down, turn = (math.exp(-h / lag) for lag in (*lags, tilt_lag))
        return cls(np.ascontiguousarray(wrench_map), up, down, turn, h * tilt_rate)


@njit(cache=True)
def follow_vectored(
    thrust_r: Array, tilt_r: Array, model: VectoredThrust, speed: Array, tilt: Array, out: Array
) -> None:
    """Write the mean wrench (6,) of rotors over one control period, about the CoM in body axes [N, N m].

    Args:
        thrust_r: (R,) commanded [N].
        tilt_r: (R,) commanded [rad].
        model: of the rotors.
        speed: (R,) their speeds as roots of their thrusts [N^(1/2)], moved on.
        tilt: (R,) their tilts [rad], moved on.
        out: is overwritten.
    """
    out[:] = 0.0
    for r in range(len(thrust_r)):
        goal = math.sqrt(max(thrust_r[r], 0.0))
        for _ in range(STEPS):
            s, b = speed[r], tilt[r]
            speed[r] = goal + (model.up if s < goal else model.down) * (s - goal)
            step = (1.0 - model.turn) * (tilt_r[r] - b)
            tilt[r] = b + min(max(step, -model.most), model.most)
            thrust = (s * s + s * speed[r] + speed[r] * speed[r]) / 3.0 / STEPS
            middle = 0.5 * (b + tilt[r])
            up, sideways = thrust * math.cos(middle), thrust * math.sin(middle)
            for k in range(6):
                out[k] += model.map[k, 2 * r] * up + model.map[k, 2 * r + 1] * sideways
