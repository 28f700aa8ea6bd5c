# SPDX-License-Identifier: BSD-3-Clause
r"""The wrench of the environment from distributed inertial units, which need no velocity.

The units sit on the central body and on the aircraft. Where the platform turns at w, the specific
force at its place r is :math:`s(r) = s_P + \alpha \times r + w \times (w \times r)`; gravity is in s
and need not be known. What an aircraft's own turning adds at its unit's lever arm is taken off
first, as that unit's gyroscopes see it. The rest is linear in s_P, the specific force of P's
origin, and in the angular acceleration alpha, which follow by least squares over all units; from
them comes the specific force of the common CoM, where there is no unit (iap_simulator [64]).

Units on a line say nothing of turns about it, and one alone says nothing of any. Gyroscopes on what
is rigid with the centre do: the change of their samples over a period is alpha, with a noise that
grows with frequency. Both kinds count by what the low-pass leaves of their noise. Then

.. math::
    f_e = m\,s_C - \sum_i f_i, \qquad
    \tau_e = J_C \alpha + w \times J_C w - \sum_i r_i \times f_i

about the CoM, with the thrusts of `iap_estimation.wrench.thrust_model`.

A bias of 0.1 m/s^2 on every accelerometer is a force of 0.1 m: this estimate drifts with biases,
which the momentum observer's does not, and in exchange asks nobody for the velocity.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    cross,
    mul,
    put,
    quat,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
)
from iap_description.states import Command
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_estimation.wrench.momentum_observer import (
    Momenta,
    ObserverMemory,
    Order,
    PlatformObserver,
    add_thrusts,
    begin_rotors,
    order_of,
    put_residual,
)
from iap_estimation.wrench.thrust_model import ThrustModel, between


class Units(NamedTuple):
    """Mounts and noise of M inertial units.

    Attributes:
        bodies: (M,) index of each unit's body in its platform.
        p_BS_B: (M, 3) place on the body [m].
        q_BS: (M, 4) attitude there, xyzw.
        accel_noise: density of the accelerometers' noise [m/s^2/sqrt(Hz)]; with the next, it says how much each kind
            counts.
        gyro_noise: density of the gyroscopes' noise [rad/s/sqrt(Hz)].
    """

    bodies: Integers
    p_BS_B: Array
    q_BS: Array
    accel_noise: float
    gyro_noise: float


class _Layout(NamedTuple):
    """The units as the compiled estimator takes them.

    Attributes:
        bodies: (M,) index of each unit's body.
        q_BS: (M, 4) attitude on it.
        positions_P: (M, 3) place in P [m]; of one on an aircraft that turns freely, the joint.
        arms_B: (M, 3) from that joint to the unit, body axes [m]; zero for the others.
        is_rigid: (M,) whether the unit turns with the centre.
        q_PS: (M, 4) attitude in P of those that do.
        solve: (6, 6 M) what makes s_P and alpha of all specific forces and changes of rates.
    """

    bodies: Integers
    q_BS: Array
    positions_P: Array
    arms_B: Array
    is_rigid: Booleans
    q_PS: Array
    solve: Array

    @classmethod
    def of(cls, assembly: Assembly, units: Units, *, accel: float, alpha: float) -> Self:
        """The units of an assembly; accelerometers and changes of rates count by their noise."""
        q_PB = np.tile(so3.IDENTITY, (len(assembly.bodies), 1))
        for joint in assembly.joints:
            q_PB[joint.child] = joint.q_PJ
        is_rigid = (units.bodies == 0) | (not assembly.is_jointed)
        arms = np.where(is_rigid[:, None], 0.0, units.p_BS_B)
        turned = so3.rotate(q_PB[units.bodies], units.p_BS_B - arms)
        positions = assembly.p_PB_P[units.bodies] + turned
        q_PS = so3.multiply(q_PB[units.bodies], units.q_BS)
        solve = _least_squares(positions, is_rigid, accel=accel, alpha=alpha)
        return cls(units.bodies, units.q_BS, positions, arms, is_rigid, q_PS, solve)


def _least_squares(positions: Array, is_rigid: Booleans, *, accel: float, alpha: float) -> Array:
    """(6, 6 M) weighted pseudo-inverse of s_i = s_P + alpha x r_i and of alpha_i = alpha."""
    rows = np.zeros((len(positions), 2, 3, 6))
    rows[:, 0, :, :3] = np.eye(3)
    rows[:, 0, :, 3:] = -so3.hat(positions)
    rows[:, 1, :, 3:] = np.eye(3) * is_rigid[:, None, None]
    weights = np.tile(np.repeat([1.0 / accel, 1.0 / alpha], 3), len(positions))
    return np.ascontiguousarray(np.linalg.pinv(rows.reshape(-1, 6) * weights[:, None]) * weights)


class AccelerationObserver(PlatformObserver):
    """Estimates the wrench of the environment on one platform from its inertial units.

    Args:
        assembly: see `PlatformObserver`.
        fleet: as there.
        autopilot: as there.
        units: where its inertial units sit; one at least turns with the centre.
        cutoff: of the first-order low-pass [Hz].
        dt: control period [s].

    Raises:
        BadInput: no unit turns with the centre.
    """

    def __init__(
        self,
        assembly: Assembly,
        fleet: Sequence[Aircraft],
        autopilot: AutopilotGains,
        units: Units,
        *,
        cutoff: float,
        dt: float,
    ) -> None:
        super().__init__(assembly, fleet, autopilot, gravity=0.0, dt=dt)
        bandwidth = 2.0 * math.pi * cutoff
        # What a first-order low-pass leaves of white noise, and of the change of white noise per dt.
        accel = units.accel_noise * math.sqrt(0.5 * bandwidth)
        alpha = units.gyro_noise * bandwidth / math.sqrt(dt)
        self._layout = _Layout.of(assembly, units, accel=accel, alpha=alpha)
        if not self._layout.is_rigid.any():
            raise BadInput("acceleration observer: no inertial unit on the central body")
        self._share = -math.expm1(-bandwidth * dt)
        self._rates = np.zeros((len(units.bodies), 3))

    def __call__(self, x: Array, command: Command, samples: tuple[Array, Array]) -> Array:
        """Estimated wrench (6,) about P's origin in P [N, N m]; overwritten by the next call.

        Args:
            x: (bodies, 13) state now, of which attitudes and rates count.
            command: command of the aircraft since the last state.
            samples: the units' angular velocities (M, 3) [rad/s] and specific forces (M, 3)
                [m/s^2], means since the last state.

        Raises:
            BadInput: the command is a platform's wrench, which does not say what the aircraft do.
        """
        order = order_of(command, "acceleration observer")
        times, memory = (self._share, self._dt), self._memory
        if memory.started[0] == 0.0:
            begin_rotors(order, self._models, memory)
            memory.x[:] = x
            self._wrench_P[:] = 0.0
        else:
            units = self._layout, samples, self._rates
            _observe(x, order, self._models, units, times, memory, self._wrench_P)
        self._rates[:] = samples[0]
        return self._wrench_P


@njit(cache=True)
def _observe(
    x: Array,
    order: Order,
    models: tuple[Momenta, ThrustModel],
    units: tuple[_Layout, tuple[Array, Array], Array],
    times: tuple[float, float],
    memory: ObserverMemory,
    wrench_P: Array,
) -> None:
    """Advance the low-pass (world axes, about the CoM) by one period and express it in P."""
    platform, _ = models
    share, dt = times
    q, w = between(memory.x[0], x[0], 0.5)
    motion = np.zeros(6)
    _accelerations(x, q, w, units, dt, memory, motion)
    alpha, d_0 = vec(motion[3:]), vec(platform.d_0)
    s_C = add(vec(motion), add(cross(alpha, d_0), cross(w, cross(w, d_0))))
    spin = cross(w, mul(platform.J_C, w))
    needed = np.zeros(6)
    put(needed, rotate(q, scale(platform.mass, s_C)))
    put(needed[3:], rotate(q, add(mul(platform.J_C, alpha), spin)))
    applied = np.zeros(6)
    add_thrusts(x, order, models, memory, applied)
    for i in range(6):
        memory.residual[i] += share * (needed[i] - applied[i] - memory.residual[i])
    memory.x[:] = x
    put_residual(platform, memory, wrench_P)


@njit(cache=True)
def _accelerations(
    x: Array,
    q_WP: Quat,
    w_P: Vec,
    units: tuple[_Layout, tuple[Array, Array], Array],
    dt: float,
    memory: ObserverMemory,
    motion: Array,
) -> None:
    """Add s_P [m/s^2] and alpha [rad/s^2] in axes of P, half-way through the period, to `motion` (6,)."""
    layout, (w_S, f_S), rates = units
    for m in range(len(layout.bodies)):
        body, place = layout.bodies[m], vec(layout.positions_P[m])
        q_BS, change = quat(layout.q_BS[m]), scale(1.0 / dt, sub(vec(w_S[m]), vec(rates[m])))
        q_WB, _ = between(memory.x[body], x[body], 0.5)
        centripetal = _of_arm(
            rotate(q_BS, vec(w_S[m])), rotate(q_BS, change), vec(layout.arms_B[m])
        )
        s_B = sub(rotate(q_BS, vec(f_S[m])), centripetal)
        s_P = sub(unrotate(q_WP, rotate(q_WB, s_B)), cross(w_P, cross(w_P, place)))
        alpha = rotate(quat(layout.q_PS[m]), change)
        for i in range(6):
            row = layout.solve[i, 6 * m :]
            motion[i] += row[0] * s_P[0] + row[1] * s_P[1] + row[2] * s_P[2]
            motion[i] += row[3] * alpha[0] + row[4] * alpha[1] + row[5] * alpha[2]


@njit(cache=True)
def _of_arm(w: Vec, alpha: Vec, arm: Vec) -> Vec:
    """Acceleration at the end of a lever arm of a body that turns."""
    return add(cross(alpha, arm), cross(w, cross(w, arm)))
