# SPDX-License-Identifier: BSD-3-Clause
r"""An autopilot's rate loop with its filters, integral, derivative and delay, as PX4 1.15 has them, compiled.

The gyroscope's body rate passes a second-order Butterworth low-pass: the bilinear transform, pre-warped at the cutoff
(Oppenheim and Schafer, "Discrete-Time Signal Processing", 7.1), at the instants of the loop. With
:math:`k = \tan(\pi f_c / f_s)` and :math:`c = 1 + \sqrt 2 k + k^2` it is

.. math::
    H(z) = \frac{b (1 + z^{-1})^2}{1 + a_1 z^{-1} + a_2 z^{-2}}, \quad
    b = k^2 / c, \quad a_1 = 2 (k^2 - 1) / c, \quad a_2 = (1 - \sqrt 2 k + k^2) / c .

Its backward difference behind a first-order low-pass, of the share :math:`T / (T + 1 / (2 \pi f_d))`, is the angular
acceleration. With the feedback e of attitude and filtered rate, the torque per inertia is against

.. math::
    e + \mathrm{clip}(\textstyle\int k_I e\, dt, \pm i_{max}) + k_D \dot\omega_f .

The integral stands still while a rotor is commanded to an end of its speeds. Commands come to rotors some periods
later.

In PX4/PX4-Autopilot the low-passes are IMU_GYRO_CUTOFF and IMU_DGYRO_CUTOFF of
src/modules/sensors/vehicle_angular_velocity/VehicleAngularVelocity.cpp (`FilterAngularVelocity`,
`FilterAngularAcceleration`), made of src/lib/mathlib/math/filter/LowPassFilter2p.hpp and AlphaFilter.hpp. The terms are
those of src/lib/rate_control/rate_control.cpp: MC_ROLLRATE_P, _I, _D, and MC_RR_INT_LIM. PX4 stops its integral in the
saturated axis and direction alone, on the ground, and takes less of errors of more than 100 deg/s.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    least,
    most,
    put4,
    quat_at,
    times,
    vec,
    vec_at,
)
from iap_description.vehicles.autopilot_gains import AutopilotGains

# Columns of an aircraft's memory, three numbers each behind the first two; commands on their way come last.
IS_STARTED, IS_AT_END = 0, 1
FIRST, SECOND, RATE, ACCELERATION, INTEGRAL, LATE = 2, 5, 8, 11, 14, 17
ROTORS = 4
END = 1e-9  # share of a speed within which a command is at an end


class RateNumbers(NamedTuple):
    """Numbers of a rate loop.

    Attributes:
        low_pass: (3,) b, a_1, a_2 of the body rate's low-pass.
        integral: (3,) k_I, of one period.
        integral_limit: (3,) [rad/s^2].
        derivative: (3,) k_D.
        share: of the newest difference in the angular acceleration.
        rate_hz: of the loop [Hz].
    """

    low_pass: Array
    integral: Array
    integral_limit: Array
    derivative: Array
    share: float
    rate_hz: float

    @classmethod
    def of(cls, gains: AutopilotGains) -> Self:
        """The numbers of an autopilot; zeros where it has no rate loop."""
        loop, rate = gains.rate_loop, gains.rate_hz
        if loop is None or rate is None:
            none = np.zeros(3)
            return cls(none, none, none, none, 0.0, 0.0)
        time_constant = 1.0 / (2.0 * math.pi * loop.derivative_cutoff_hz)
        return cls(
            np.array(low_pass_numbers(loop.gyroscope_cutoff_hz, rate)),
            np.array(loop.integral) / rate,
            np.array(loop.integral_limit),
            np.array(loop.derivative),
            1.0 / (1.0 + rate * time_constant),
            rate,
        )


def low_pass_numbers(cutoff_hz: float, rate_hz: float) -> Vec:
    """b, a_1, a_2 of a second-order Butterworth low-pass that is sampled at a rate, both [Hz]."""
    k = math.tan(math.pi * cutoff_hz / rate_hz)
    c = 1.0 + math.sqrt(2.0) * k + k * k
    return (k * k / c, 2.0 * (k * k - 1.0) / c, (1.0 - math.sqrt(2.0) * k + k * k) / c)


def memory_size(gains: AutopilotGains) -> int:
    """Numbers that a rate loop remembers of one aircraft; 0 without one."""
    loop, rate = gains.rate_loop, gains.rate_hz
    if loop is None or rate is None:
        return 0
    return LATE + ROTORS * round(loop.delay * rate)


@njit(cache=True)
def begin(memory: Array, w: Vec, rpm: Array, low_pass: Array) -> None:
    """Begin with a body rate [rad/s] and rotor speeds (4,) [rpm] that have long been so."""
    b, a_1, a_2 = vec(low_pass)
    memory[:] = 0.0
    for axis in range(3):
        memory[SECOND + axis] = (b - a_2) * w[axis]
        memory[FIRST + axis] = (2.0 * b - a_1) * w[axis] + memory[SECOND + axis]
        memory[RATE + axis] = w[axis]
    for k in range(LATE, len(memory)):
        memory[k] = rpm[(k - LATE) % ROTORS]
    memory[IS_STARTED] = 1.0


@njit(cache=True)
def filter_rate(memory: Array, w: Vec, low_pass: Array, share: float, rate_hz: float) -> Vec:
    """Filtered body rate [rad/s]; it and the angular acceleration [rad/s^2] are moved on in the memory (K,).

    Args:
        memory: of the aircraft, changed in place.
        w: its body rate [rad/s].
        low_pass: see `RateNumbers`.
        share: see `RateNumbers`.
        rate_hz: of the loop [Hz].
    """
    b, a_1, a_2 = vec(low_pass)
    for axis in range(3):
        out = b * w[axis] + memory[FIRST + axis]
        memory[FIRST + axis] = 2.0 * b * w[axis] - a_1 * out + memory[SECOND + axis]
        memory[SECOND + axis] = b * w[axis] - a_2 * out
        difference = rate_hz * (out - memory[RATE + axis])
        memory[ACCELERATION + axis] += share * (difference - memory[ACCELERATION + axis])
        memory[RATE + axis] = out
    return vec_at(memory, RATE)


@njit(cache=True)
def all_terms(memory: Array, feedback: Vec, derivative: Array) -> Vec:
    """Feedback with its integral and the derivative's term [rad/s^2]."""
    against = times(vec(derivative), vec_at(memory, ACCELERATION))
    return add(add(feedback, vec_at(memory, INTEGRAL)), against)


@njit(cache=True)
def integrate(memory: Array, feedback: Vec, integral: Array, limit: Array) -> None:
    """Move the integral of the feedback [rad/s^2] in the memory (K,) on by one period, unless a rotor is at an end."""
    if memory[IS_AT_END] > 0.0:
        return
    for axis in range(3):
        total = memory[INTEGRAL + axis] + integral[axis] * feedback[axis]
        memory[INTEGRAL + axis] = least(most(total, -limit[axis]), limit[axis])


@njit(cache=True)
def delayed(memory: Array, speeds: Quat, lift: Quat, rpm_min: float, rpm_max: float) -> Quat:
    """The rotor speeds of some periods before, while the present ones wait in the memory (K,).

    It is noted whether a rotor is commanded to an end of its speeds.

    Args:
        memory: of the aircraft, changed in place.
        speeds: that are commanded [rpm].
        lift: of each rotor, 0 of one that the aircraft does not have.
        rpm_min: an end of speeds [rpm].
        rpm_max: the other one [rpm].
    """
    low, high = (1.0 + END) * rpm_min, (1.0 - END) * rpm_max
    memory[IS_AT_END] = 0.0
    for r in range(ROTORS):
        if lift[r] > 0.0 and not low < speeds[r] < high:
            memory[IS_AT_END] = 1.0
    size = len(memory)
    if size == LATE:
        return speeds
    due = quat_at(memory, LATE)
    for k in range(LATE, size - ROTORS):
        memory[k] = memory[k + ROTORS]
    put4(memory[size - ROTORS :], speeds)
    return due
