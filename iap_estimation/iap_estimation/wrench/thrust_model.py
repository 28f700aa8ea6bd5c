# SPDX-License-Identifier: BSD-3-Clause
r"""Thrust of an aircraft's rotors under a command: a model of its autopilot and of the rotors' lag, compiled.

The rotors' mean thrust is not the commanded one even in hover: they speed up faster than they slow
down, so that an autopilot which is kept busy by noise lifts more than is commanded, by 0.8 N for a
three-star under a state noise of 5 mm/s and 0.2 deg/s. Hence every rotor is followed, and for that
the torque which the autopilot asks for on its way from one attitude to the next.
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
    mat,
    qnormalize,
    quat,
    rotate,
    scale,
    unrotate,
    vec,
)
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft, inertia_matrix
from iap_description.vehicles.autopilot_gains import AutopilotGains, attitude_torque

STEPS = 5  # in which a control period is followed
_ATTITUDE, _RPM = int(Mode.ATTITUDE_THRUST), int(Mode.RPM)


class ThrustModel(NamedTuple):
    """An aircraft between a command and its rotors' thrusts.

    Attributes:
        attitude: (3,) attitude gain of its autopilot [1/s^2].
        rate: (3,) rate gain [1/s].
        lead: share of a rotor's speed error that is added to its command.
        J: (3, 3) its inertia [kg m^2].
        mix: (4, 3) rotor thrusts of a torque.
        torques: (3, 4) torques of the rotors' thrusts.
        lift: c_f [N/rpm^2].
        rpm_min: slowest rotor [rpm].
        rpm_max: fastest [rpm].
        up: what is left of a speed error after one of `STEPS` while the speed rises.
        down: the same while it falls.
    """

    attitude: Array
    rate: Array
    lead: float
    J: Array
    mix: Array
    torques: Array
    lift: float
    rpm_min: float
    rpm_max: float
    up: float
    down: float

    @classmethod
    def of(cls, aircraft: Aircraft, autopilot: AutopilotGains, dt: float) -> Self:
        """The model of an aircraft and its autopilot's gains at a control period [s]."""
        rotor, h = aircraft.rotor, dt / STEPS
        torques = aircraft.wrench_of_rotor_thrusts[3:]
        mix = aircraft.mix[:, 1:]
        return cls(
            np.array(autopilot.attitude),
            np.array(autopilot.rate),
            autopilot.rotor_lead - 1.0,
            inertia_matrix(aircraft.inertia),
            np.ascontiguousarray(mix),
            np.ascontiguousarray(torques),
            rotor.c_f,
            rotor.rpm_min,
            rotor.rpm_max,
            math.exp(-h / rotor.time_constant_up),
            math.exp(-h / rotor.time_constant_down),
        )


@njit(cache=True)
def first_speeds(mode: int, thrust: float, rpm_r: Array, model: ThrustModel, rpm: Array) -> None:
    """Write the speeds (4,) of rotors that have long followed a command."""
    for r in range(4):
        rpm[r] = rpm_r[r] if mode == _RPM else math.sqrt(max(0.25 * thrust, 0.0) / model.lift)


@njit(cache=True)
def follow(
    command: tuple[int, float, Array, Array, Array],
    last: Array,
    now: Array,
    model: ThrustModel,
    rpm: Array,
) -> tuple[float, Vec]:
    """Mean thrust [N] and rotor torque [N m, body axes] of an aircraft over one control period.

    Args:
        command: mode, which says how to read it (`iap_description.states.Mode`), thrust [N], attitude (4,), body
            rate (3,) and rotor speeds (4,).
        last: (13,) the aircraft's state at the period's beginning.
        now: (13,) at its end.
        model: of the aircraft.
        rpm: (4,) its rotors' speeds, moved on.
    """
    mode, thrust, q_r, w_r, rpm_r = command
    lift = 0.0
    torque = (0.0, 0.0, 0.0)
    for step in range(STEPS):
        q, w = between(last, now, step / STEPS)
        order = (quat(q_r), vec(w_r), vec(model.attitude), vec(model.rate))
        demanded = attitude_torque(mode == _ATTITUDE, q, w, *order, mat(model.J))
        for r in range(4):
            if mode == _RPM:
                speed = rpm_r[r]
            else:
                speed = _speed(thrust, vec(model.mix[r]), demanded, rpm[r], model)
            f = _spin(speed, model, rpm[r : r + 1])
            lift += f
            arm = (model.torques[0, r], model.torques[1, r], model.torques[2, r])
            torque = add(torque, scale(f, arm))
    return lift / STEPS, scale(1.0 / STEPS, torque)


@njit(cache=True)
def between(last: Array, now: Array, s: float) -> tuple[Quat, Vec]:
    """Attitude and body rate at the share `s` of the way between two states."""
    a, b = quat(last[3:7]), quat(now[3:7])
    same = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0
    t, u = 1.0 - s, s if same else -s
    q = qnormalize(
        (t * a[0] + u * b[0], t * a[1] + u * b[1], t * a[2] + u * b[2], t * a[3] + u * b[3])
    )
    w = add(scale(1.0 - s, vec(last[10:13])), scale(s, vec(now[10:13])))
    return q, unrotate(q, w)


@njit(cache=True)
def _speed(thrust: float, mix: Vec, torque: Vec, n: float, model: ThrustModel) -> float:
    """Speed command [rpm] of a rotor that turns at `n`, over-driven by the lead."""
    f = 0.25 * thrust + mix[0] * torque[0] + mix[1] * torque[1] + mix[2] * torque[2]
    out = min(max(math.sqrt(max(f, 0.0) / model.lift), model.rpm_min), model.rpm_max)
    return min(max(out + model.lead * (out - n), model.rpm_min), model.rpm_max)


@njit(cache=True)
def _spin(command: float, model: ThrustModel, rpm: Array) -> float:
    """Mean thrust [N] of a rotor over one step, whose speed `rpm` (1,) lags behind its command."""
    n = rpm[0]
    rpm[0] = command + (model.up if n < command else model.down) * (n - command)
    return model.lift * (n * n + n * rpm[0] + rpm[0] * rpm[0]) / 3.0


@njit(cache=True)
def thrust_axis(row: Array) -> Vec:
    """Direction of an aircraft's thrust in world axes."""
    return rotate(quat(row[3:7]), (0.0, 0.0, 1.0))
