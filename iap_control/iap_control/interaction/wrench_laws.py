# SPDX-License-Identifier: BSD-3-Clause
r"""Direct wrench control: the active wrench under which the environment's wrench becomes the desired one.

A platform that rests against something rigid is pushed back at once by as much as its thrusts push, f_e = -U. With e_w
= f_e - f_d, negative feedback is therefore + k_w e_w: iap_simulator eq. (21) prints it with the
other sign, with which too little contact force pushes away.

The mode `paper` is eq. (21) with that sign: pose and wrench errors of every axis add up, and settle
on a compromise. The mode `selective` gives chosen axes of P to the wrench alone,

.. math::
    U_i = s\,\bigl(-f_d + k_P e_w + k_I \int e_w\,dt\bigr) - m_i d\,v_i

and the others to the pose, with v the velocity of the tool's tip. The bracket stays within
m d v_max / 2 of -f_e, so that little is pushed where there is nothing to push against; s falls from
1 to 0 as the tip moves towards where it pushes at v_max. So it does not move faster for long,
however much force is missing and however late the loss of contact is measured. With several axes
given away, the platform turns about the tip, which stays where it is: a held yaw does not disturb a
sideways force, nor the other way round.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.gains import PaperWrenchGains, SelectiveWrenchGains
from iap_control.laws.tracked_axes import TrackedAxes, turn_about_pivot
from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import add, cross, matvec, put, quat, unrotate, vec

Axes = Booleans
# of the damping, for a push that is met: damping would feed the bouncing of a hard tip
UNDAMPED_SHARE = 0.5
PUSH_MARGIN = 0.5  # share of what damping takes at the speed of approach, by which a push may exceed what it meets


class PaperLaw(NamedTuple):
    """The wrench part of iap_simulator eq. (21), order x y z roll pitch yaw.

    Attributes:
        kP: (6,).
        kI: (6,) [1/s].
        kD: (6,) [s].
        lag: (6,) time constant of the error's derivative [s].
        limit: (6,) largest share of the integral [N, N m].
    """

    kP: Array
    kI: Array
    kD: Array
    lag: Array
    limit: Array

    @classmethod
    def of(cls, gains: PaperWrenchGains) -> "PaperLaw":
        """The arrays of a gain preset."""
        limit = np.array(gains.wrench_integral_limit)
        lag = np.array(gains.derivative_filter)
        return cls(np.array(gains.kwP), np.array(gains.kwI), np.array(gains.kwD), lag, limit)


class SelectiveLaw(NamedTuple):
    """The wrench law of single axes, order x y z roll pitch yaw.

    Attributes:
        kP: (6,).
        kI: (6,) [1/s].
        damping: (6,) per inertia [1/s].
        speed: (6,) largest speed of approach [m/s, rad/s].
        compensation: (6,) share of the measured wrench that is fed forward where the pose is held.
    """

    kP: Array
    kI: Array
    damping: Array
    speed: Array
    compensation: Array

    @classmethod
    def of(cls, gains: SelectiveWrenchGains) -> "SelectiveLaw":
        """The arrays of a gain preset."""
        return cls(
            np.array(gains.kP),
            np.array(gains.kI),
            np.array(gains.damping),
            np.repeat(gains.approach_speed, 3),
            np.repeat(gains.compensation, 3),
        )


class WrenchMemory(NamedTuple):
    """Memory of wrench control.

    Attributes:
        share: (6,) of the wrench errors' integral in the active wrench [N, N m].
        slow: (6,) the lagged error, from which its derivative comes.
        started: (1,) 0 before the first error.
    """

    share: Array
    slow: Array
    started: Array

    @classmethod
    def empty(cls) -> "WrenchMemory":
        """Of a law that has not run yet."""
        return cls(np.zeros(6), np.zeros(6), np.zeros(1))

    def reset(self) -> None:
        """Start again."""
        for part in self:
            part[:] = 0.0


class Wrenches(NamedTuple):
    """Wrenches at one instant, in P [N, N m].

    Attributes:
        measured: (6,) of the environment.
        desired: (6,) what it shall be.
        short: (6,) what the last step was to make less what it made (anti-windup).
    """

    measured: Array
    desired: Array
    short: Array


@njit(cache=True)
def paper_wrench(
    measured: Array, desired: Array, law: PaperLaw, memory: WrenchMemory, dt: float, out: Array
) -> None:
    """Write the active wrench (6,) of the wrench errors, + k_P e + k_I int e + k_D de of iap_simulator eq. (21).

    The derivative is that of the error behind a first-order lag.
    """
    for i in range(6):
        e = measured[i] - desired[i]
        if memory.started[0] == 0.0:
            memory.slow[i] = e
        memory.slow[i] += dt / (law.lag[i] + dt) * (e - memory.slow[i])
        rate = (e - memory.slow[i]) / law.lag[i]
        share = memory.share[i] + law.kI[i] * e * dt
        memory.share[i] = min(max(share, -law.limit[i]), law.limit[i])
        out[i] = law.kP[i] * e + memory.share[i] + law.kD[i] * rate
    memory.started[0] = 1.0


@njit(cache=True)
def selective_wrench(
    x: Array,
    wrenches: Wrenches,
    tracked: TrackedAxes,
    law: SelectiveLaw,
    memory: WrenchMemory,
    M: Array,
    dt: float,
    out: Array,
) -> None:
    """Write the active wrench (6,) on the axes of the wrench, and the compensation on those of the pose.

    What of a push is met acts at the tool's tip and leaves the attitude alone; the rest moves the platform without
    turning it, which goes through the inertia. Damped is the motion of the tip.

    Args:
        x: (13,) state row of the central body.
        wrenches: see there.
        tracked: which axes are the pose's, and the tool's tip.
        law: gains.
        memory: integrals, advanced in place.
        M: (6, 6) inertia.
        dt: control period [s].
        out: (6,) [N, N m], written.
    """
    v, measured = tip_velocity(x, tracked), wrenches.measured
    a, met, controlled_P = np.zeros(6), np.zeros(6), np.zeros(6)
    for i in range(6):
        if tracked.axes[i] == 0.0:
            margin = PUSH_MARGIN * M[i, i] * law.damping[i] * law.speed[i]
            push = _push(i, wrenches, v[i], margin, law, memory, dt)
            controlled_P[i] = measured[i]
            met[i] = min(max(push, min(0.0, -controlled_P[i])), max(0.0, -controlled_P[i]))
            loose = 1.0 - UNDAMPED_SHARE * met[i] / push if push != 0.0 else 1.0
            a[i] = (push - met[i]) / M[i, i] - loose * law.damping[i] * v[i]
    turn_about_pivot(tracked, vec(a[3:]), a)
    matvec(M, a, out)
    known = cross(vec(tracked.pivot_P), vec(controlled_P))
    push_torque = cross(vec(tracked.pivot_P), vec(met))
    for i in range(6):
        if tracked.axes[i] == 0.0:
            out[i] += met[i]
        elif i < 3:
            out[i] -= law.compensation[i] * measured[i]
        else:
            out[i] += push_torque[i - 3] - law.compensation[i] * (measured[i] - known[i - 3])


@njit(cache=True)
def _push(
    i: int,
    wrenches: Wrenches,
    v: float,
    margin: float,
    law: SelectiveLaw,
    memory: WrenchMemory,
    dt: float,
) -> float:
    """The push of axis i [N, N m] before damping; advances its integral."""
    measured, desired, short = wrenches.measured[i], wrenches.desired[i], wrenches.short[i]
    e = measured - desired
    lowest, highest = -measured - margin, -measured + margin
    push = -desired + law.kP[i] * e + memory.share[i]
    outward = (push > highest and e > 0.0) or (push < lowest and e < 0.0)
    if not outward and short * e <= 0.0:
        memory.share[i] += law.kI[i] * e * dt
    push = min(max(push, lowest), highest)
    towards = v / law.speed[i] * (1.0 if push > 0.0 else -1.0)
    return push * (1.0 - min(max(towards, 0.0), 1.0))


@njit(cache=True)
def tip_velocity(x: Array, tracked: TrackedAxes) -> Array:
    """Velocity of the tool's tip and angular velocity (6,) in P of a state row."""
    out = np.empty(6)
    q = quat(x[3:7])
    w_P = unrotate(q, vec(x[10:]))
    put(out, add(unrotate(q, vec(x[7:])), cross(w_P, vec(tracked.pivot_P))))
    put(out[3:], w_P)
    return out


def start_selective(
    push: Array,
    measured: Array,
    desired: Array,
    axes: Axes,
    law: SelectiveLaw,
    memory: WrenchMemory,
    M: Array,
) -> None:
    """Set the integrals so that the law begins with a push: share = push + w_d - k_P (w - w_d) on `axes`.

    The push is clipped to a margin of M_ii `damping` `speed` about -w, beyond which the law would run away.

    Args:
        push: (6,) active wrench to begin with [N, N m].
        measured: (6,) wrench w.
        desired: (6,) wrench w_d.
        axes: whose integrals are set.
        law: gains.
        memory: that is written.
        M: (6, 6) generalised inertia [kg, kg m^2].
    """
    margin = PUSH_MARGIN * np.diag(M) * law.damping * law.speed
    push = np.clip(push, -measured - margin, -measured + margin)
    share = push + desired - law.kP * (measured - desired)
    memory.share[axes] = share[axes]
