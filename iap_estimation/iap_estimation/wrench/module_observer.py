# SPDX-License-Identifier: BSD-3-Clause
r"""The wrench on a module whose rotors tilt: the momentum observer of beatle (28)-(38) with the tilt of thrust.

As in `momentum_observer`, r' = K_I (W_ext - r) of the momentum about the CoM in world axes, where p = (m v, R J R^T w)
has no Coriolis term; the result is told along the body's axes, in which modules exchange it. W_ext is all that thrust
and weight do not explain: joints, air, a wrong mass. (The text of the paper cites (3), (4) for the momentum's rate;
(5), (6) are meant.)

A rotor of thrust T and tilt b pushes with T cos b upwards and T sin b sideways, beatle (1), (13), (14). The speed lags
behind the root of the commanded thrust, faster up than down, and the tilt behind its command, no faster than its rate:

.. math::
    \dot b = \mathrm{clip}((b_r - b) / T_b, \pm \dot b_{max}).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.kernels import mat, mv, put, quat, rotate, unrotate, vec
from iap_description.states import Command
from iap_description.vehicles.aircraft import Aircraft
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


class ModuleObserver:
    """Estimates the wrench on one rigid body with rotors that tilt.

    Args:
        mass: [kg].
        inertia: (3, 3) about its CoM, body axes [kg m^2].
        rotors: their model at the control period.
        gravity: [m/s^2].
        gain: (6,) K_I, forces and torques [1/s].
        dt: control period [s].
    """

    def __init__(
        self,
        mass: float,
        inertia: Array,
        rotors: VectoredThrust,
        *,
        gravity: float,
        gain: Array | Sequence[float],
        dt: float,
    ) -> None:
        self._body = mass, np.ascontiguousarray(inertia, dtype=float), mass * gravity
        self._rotors, self._dt = rotors, dt
        self._share = -np.expm1(-np.asarray(gain, dtype=float) * dt)
        self._wrench_P = np.zeros(6)
        self.reset()

    def reset(self) -> None:
        """Forget the past; the first state after it gives no wrench."""
        count = self._rotors.map.shape[1] // 2
        self._speed, self._tilt = np.zeros(count), np.zeros(count)
        self._x, self._residual_W = np.zeros(13), np.zeros(6)
        self._is_new = True

    def __call__(self, x: Array, thrust_r: Array, tilt_r: Array) -> Array:
        """Estimated wrench (6,) about the CoM in body axes [N, N m]; overwritten by the next call.

        Args:
            x: (13,) state row now.
            thrust_r: (R,) thrusts that were commanded since the last state [N].
            tilt_r: (R,) tilts that were [rad].
        """
        if self._is_new:
            self._speed[:], self._tilt[:] = np.sqrt(np.maximum(thrust_r, 0.0)), tilt_r
            self._is_new = False
        else:
            memory = (self._x, self._speed, self._tilt, self._residual_W)
            steps = (self._share, self._dt)
            _observe(x, thrust_r, tilt_r, self._body, self._rotors, steps, memory)
        self._x[:] = x
        _put_in_body(x, self._residual_W, self._wrench_P)
        return self._wrench_P


class CommandedModule:
    """A module's observer on whole commands, as `ObserverLoop` has them.

    Args:
        observer: of the module.
        c_f: thrust per squared speed of its rotors [N/rpm^2].
    """

    def __init__(self, observer: ModuleObserver, c_f: float) -> None:
        self._observer, self._c_f = observer, c_f

    def reset(self) -> None:
        """Forget the past."""
        self._observer.reset()

    def __call__(self, x: Array, command: Command) -> Array:
        """Estimated wrench (6,) about the CoM in body axes [N, N m], of state rows (1, 13) and the last command."""
        return self._observer(x[0], self._c_f * command.rpm[0] ** 2, command.tilt[0])


def module_observer(
    name: str,
    fleet: Sequence[Aircraft],
    mass: float,
    inertia: Array,
    *,
    gravity: float,
    gain: Array | Sequence[float],
    dt: float,
) -> ModuleObserver:
    """The observer of a vehicle that is one aircraft with rotors that tilt; arguments as of `ModuleObserver`.

    Raises:
        BadInput: it is none such.
    """
    aircraft = fleet[0]
    if len(fleet) != 1 or aircraft.tilt is None:
        raise BadInput(f"key 'modules': '{name}' is no single aircraft with rotors that tilt")
    rotor, tilt = aircraft.rotor, aircraft.tilt
    rotors = VectoredThrust.of(
        aircraft.wrench_of_tilted_thrusts,
        lags=(rotor.time_constant_up, rotor.time_constant_down),
        tilt_lag=tilt.time_constant,
        tilt_rate=tilt.rate,
        dt=dt,
    )
    return ModuleObserver(mass, inertia, rotors, gravity=gravity, gain=gain, dt=dt)


@njit(cache=True)
def _observe(
    x: Array,
    thrust_r: Array,
    tilt_r: Array,
    body: tuple[float, Array, float],
    rotors: VectoredThrust,
    steps: tuple[Array, float],
    memory: tuple[Array, Array, Array, Array],
) -> None:
    """Advance the residual (6,) by one period; thrust acts along the mean of its directions at both ends."""
    mass, inertia, weight = body
    last, speed, tilt, residual = memory
    share, dt = steps
    applied, thrust = np.zeros(6), np.zeros(6)
    follow_vectored(thrust_r, tilt_r, rotors, speed, tilt, thrust)
    applied[2] = -weight
    for state in (last, x):
        q = quat(state[3:7])
        f, tau = rotate(q, vec(thrust)), rotate(q, vec(thrust[3:]))
        for k in range(3):
            applied[k] += 0.5 * f[k]
            applied[3 + k] += 0.5 * tau[k]
    before, after = _spin(last, inertia), _spin(x, inertia)
    for k in range(3):
        change = mass * (x[7 + k] - last[7 + k]) / dt
        residual[k] += share[k] * (change - applied[k] - residual[k])
        change = (after[k] - before[k]) / dt
        residual[3 + k] += share[3 + k] * (change - applied[3 + k] - residual[3 + k])


@njit(cache=True)
def _spin(x: Array, inertia: Array) -> tuple[float, float, float]:
    """Angular momentum about the CoM of a body, world axes [N m s]."""
    q = quat(x[3:7])
    return rotate(q, mv(mat(inertia), unrotate(q, vec(x[10:13]))))


@njit(cache=True)
def _put_in_body(x: Array, wrench_W: Array, out: Array) -> None:
    """Write a wrench (6,) of world axes along a body's."""
    q = quat(x[3:7])
    put(out, unrotate(q, vec(wrench_W)))
    put(out[3:], unrotate(q, vec(wrench_W[3:])))
