# SPDX-License-Identifier: BSD-3-Clause
r"""Admittance: the pose command yields to the wrench like a mass on a damper and a spring, iap_simulator eq. (19).

.. math::
    M_e \ddot e + D_e \dot e + K_e e = F_e

with e the correction of the command, revised minus given (eq. (20)). Where ``orientation`` is so3,
the turn is a rotation vector, and the matrices are diagonal in axes along the command's heading,
z up: whichever way the platform faces, `pitch` is the platform's. As the paper has it (euler), they
are diagonal in world axes and the turn is added to the Euler angles.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.gains import AdmittanceGains
from iap_control.interaction.pose_correction import Correction, revise, revise_euler
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.kernels import yaw_of
from iap_description.math.second_order import transition
from iap_description.signals import Reference
from iap_description.states import REF_FIXED

MIN_CORRECTION = 1e-9  # a correction smaller than this is over [m], [rad], and per second


class AdmittanceNumbers(NamedTuple):
    """The law as the compiled step takes it, order x y z roll pitch yaw.

    Attributes:
        M: (6,) virtual mass.
        D: (6,) damping.
        K: (6,) spring.
        push: (6,) largest force or torque that counts [N, N m].
        A: (6, 2, 2) each axis' exact step.
        heading: whether the axes are those of the command's heading; else the world's.
    """

    M: Array
    D: Array
    K: Array
    push: Array
    A: Array
    heading: bool

    @classmethod
    def of(cls, gains: AdmittanceGains, dt: float) -> "AdmittanceNumbers":
        """The law of a gain preset at a period [s]."""
        M, D, K = np.array(gains.M), np.array(gains.D), np.array(gains.K)
        damping = 0.5 * D / np.sqrt(K * M)
        A = np.stack([transition(*axis, dt) for axis in zip(np.sqrt(K / M), damping, strict=True)])
        swing = np.array([_largest_swing(xi) for xi in damping])
        push = K * np.repeat(gains.limit, 3) / swing
        return cls(M, D, K, push, A, gains.orientation == "so3")


def _largest_swing(damping: float) -> float:
    """Largest swing of an axis under a bounded force, per its rest under that force: the impulse response's 1-norm."""
    if damping >= 1.0:
        return 1.0
    return 1.0 / math.tanh(0.5 * math.pi * damping / math.sqrt(1.0 - damping * damping))


class Admittance:
    """Revises references under the wrench of the environment.

    A wrench beyond what the spring holds at the limit of the correction counts no more, so that the
    correction cannot exceed its limit and comes back as soon as the wrench does.

    Args:
        gains: virtual masses, dampers and springs.
        dt: control period [s].
    """

    def __init__(self, gains: AdmittanceGains, dt: float) -> None:
        self._law = AdmittanceNumbers.of(gains, dt)
        self._revise = revise if gains.orientation == "so3" else revise_euler
        self._state = Correction.none()
        self._no_wrench = np.zeros(6)  # read-only, the kernel would be compiled once more
        self._revised = Reference(np.zeros(REF_FIXED))

    @property
    def correction(self) -> Array:
        """(6,) what is added to the command now: position in world axes [m], turn or Euler angles [rad]."""
        return self._state.e

    def reset(self) -> None:
        """Follow the command as it is given."""
        for part in self._state:
            part[:] = 0.0

    def __call__(self, reference: Reference, wrench_W: Array, active: bool) -> Reference:
        """The revised reference after a period under a wrench; the same object every time, overwritten.

        Args:
            reference: the command.
            wrench_W: (6,) of the environment on the platform about P's origin, world axes [N, N m].
            active: whether the command yields; if not, the correction returns to zero by its own spring.

        Raises:
            BadInput: the wrench or the command is not finite.
        """
        row, out = reference.row, self._revised
        if out.row.shape != row.shape:
            out.row = np.empty_like(row)
        if not _step(row, wrench_W if active else self._no_wrench, self._law, self._state):
            what = "wrench" if not np.isfinite(wrench_W).all() else "reference"
            raise BadInput(f"admittance: the {what} is not finite")
        if not active and all(np.abs(part).max() < MIN_CORRECTION for part in self._state[:2]):
            self.reset()
        self._revise(row, self._state, out.row)
        out.level, out.wrench_P = reference.level, reference.wrench_P
        return out


@njit(cache=True)
def _step(row: Array, wrench_W: Array, law: AdmittanceNumbers, state: Correction) -> bool:
    """Advance the correction by one period of a constant wrench; False, and nothing done, if an input is not finite."""
    total = 0.0
    for i in range(6):
        total += wrench_W[i]
    for i in range(REF_FIXED):
        total += row[i]
    if not math.isfinite(total):
        return False
    yaw = yaw_of(row[3:7]) if law.heading else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    force = wrench_W.copy()
    _turn_about_z(force, c, -s)
    for part in state:
        _turn_about_z(part, c, -s)
    for i in range(6):
        f = min(max(force[i], -law.push[i]), law.push[i])
        rest = f / law.K[i]
        e, de = state.e[i] - rest, state.de[i]
        state.e[i] = rest + law.A[i, 0, 0] * e + law.A[i, 0, 1] * de
        state.de[i] = law.A[i, 1, 0] * e + law.A[i, 1, 1] * de
        state.dde[i] = (f - law.D[i] * state.de[i] - law.K[i] * state.e[i]) / law.M[i]
    for part in state:
        _turn_about_z(part, c, s)
    return True


@njit(cache=True)
def _turn_about_z(six: Array, c: float, s: float) -> None:
    """Turn both vectors of (6,) about z by the angle of cosine c and sine s."""
    for i in range(0, 6, 3):
        x, y = six[i], six[i + 1]
        six[i], six[i + 1] = c * x - s * y, s * x + c * y
