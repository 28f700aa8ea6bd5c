# SPDX-License-Identifier: BSD-3-Clause
"""Gains, limits and memory of the law of a rigid multirotor, in arrays and in numbers."""

import math
from typing import NamedTuple

import numpy as np

from iap_control.allocation.model import PlatformModel
from iap_control.gains import Gains
from iap_control.laws.tracking import (
    Law,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    Vec,
    formula,
    mat,
    vec,
)
from iap_description.math.momentum import inertia_about_com


class RigidLaw(NamedTuple):
    """Attitude gains (3,) per inertia, the inertia about the CoM, and limits.

    Attributes:
        kP: (3,) [1/s^2].
        kD: (3,) [1/s].
        J_c: (3, 3) inertia about the CoM [kg m^2].
        thrust_min: smallest collective thrust [N].
        thrust_max: largest [N].
        tan_tilt_max: of the thrust vector.
        rate_filter: time constant of the attitude command's derivatives [s].
        pull_max: largest horizontal acceleration that a position error asks for [m/s^2].
    """

    kP: Array
    kD: Array
    J_c: Array
    thrust_min: float
    thrust_max: float
    tan_tilt_max: float
    rate_filter: float
    pull_max: float

    @classmethod
    def of(cls, gains: Gains, model: PlatformModel) -> "RigidLaw":
        """The arrays of a gain preset for a rigid platform."""
        J_c = inertia_about_com(model.inertia.J, model.inertia.mass, model.inertia.d_0)
        low, high = map(math.fsum, zip(*(each.thrust_limits for each in model.fleet), strict=True))
        limits = (low, high, math.tan(min(each.tilt_max for each in model.fleet)))
        kP, kD = np.array(gains.rigid.kP), np.array(gains.rigid.kD)
        pull_max = _largest_pull(model, J_c, kP)
        return cls(kP, kD, J_c, *limits, gains.rigid.rate_filter, pull_max)


def _largest_pull(model: PlatformModel, J_c: Array, kP: Array) -> float:
    """Horizontal acceleration [m/s^2] at the tilt whose error the rotors can still answer while they hover.

    Beyond it a heavy platform turns too slowly for its position loop, and swings ever wider.
    """
    gravity = model.inertia.gravity
    low, high = model.rotor_limits
    weight = np.array([0.0, 0.0, model.inertia.mass * gravity])
    lift = model.B_inverse @ np.concatenate([weight, np.cross(model.inertia.d_0, weight)])
    room = np.minimum(high - lift, lift - low)[high > 0.0]  # of rotors that are there and turn
    per_torque = np.abs(model.B_inverse[:, 3:5]).max(axis=0)  # [N] per N m of roll and pitch
    tilt = (room.min(initial=np.inf) / per_torque / np.diag(J_c)[:2] / kP[:2]).min()
    tilt_max = min(each.tilt_max for each in model.fleet)
    return gravity * math.tan(min(tilt_max, max(float(tilt), 0.0)))


def rigid_law(gains: Gains) -> Law:
    """The motion gains of a rigid platform."""
    return Law.of(gains)._replace(kI=np.array([*gains.rigid.kI, 0.0, 0.0, 0.0]))


class RigidMemory(NamedTuple):
    """Memory of the attitude part: the last command and its filtered derivatives; nothing while `started` is 0."""

    q_WB: Array
    w_B: Array
    alpha_B: Array
    started: Array

    @classmethod
    def empty(cls) -> "RigidMemory":
        """Memory of a controller that has not run yet."""
        return cls(np.zeros(4), np.zeros(3), np.zeros(3), np.zeros(1))


class RigidLawNumbers(NamedTuple):
    """`RigidLaw` in numbers."""

    kP: Vec
    kD: Vec
    J_c: Mat
    thrust_min: float
    thrust_max: float
    tan_tilt_max: float
    rate_filter: float
    pull_max: float


@formula
def rigid_law_numbers(rigid: RigidLaw) -> RigidLawNumbers:
    """The numbers of a rigid platform's attitude gains and limits."""
    arrays = (vec(rigid.kP), vec(rigid.kD), mat(rigid.J_c))
    limits = (rigid.thrust_min, rigid.thrust_max, rigid.tan_tilt_max)
    return RigidLawNumbers(*arrays, *limits, rigid.rate_filter, rigid.pull_max)
