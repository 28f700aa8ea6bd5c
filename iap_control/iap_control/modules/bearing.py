# SPDX-License-Identifier: BSD-3-Clause
r"""Wrenches in joints where modules are lost: what these lack, the others bear together.

Joints are without wrenches only where each module carries itself. Of modules that no longer obey, the others bear W,
about the GCoS. What is not known beforehand each bears as least as it can, sum |f_i|^2 + |tau_i|^2 / rho^2: the
wrenches of a common twist,

.. math::
    f_i = a + \alpha \times d_i, \qquad \tau_i = \rho^2 \alpha,

tau_i about the module's own CoM, with a and alpha such that they sum up to W. So forces do what torques would, as far
as the structure is long.

A weight is known, and large: of its vertical force and its moments about x and y each bears what leaves the largest
thrust of all rotors least, with those that carry the modules themselves. As the limit of least sum u_j^p, p = 16, of
the rotors' thrusts u_j under C u = c, which Newton's method finds from p = 2 on.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from iap_control.modules.joint_wrench import moved_to
from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3

POWERS, NEWTON_STEPS = (4, 8, 16), 20
TINY = 1e-3  # [N]


class Lift(NamedTuple):
    """Weights of n modules, lift of their r rotors, and stiffness of their laws.

    Attributes:
        weights: (n,) [N].
        rotors: (n, r, 2) along x and y from each module's CoM [m].
        stiffness: (n, 3) force per error of place, own axes [N/m].
    """

    weights: Array
    rotors: Array
    stiffness: Array

    @classmethod
    def of(
        cls,
        weights: Sequence[float],
        rotors: Sequence[Sequence[Sequence[float]]],
        stiffness: Sequence[Sequence[float]],
    ) -> Self:
        """The same of plain numbers."""
        return cls(*(np.array(each, dtype=float) for each in (weights, rotors, stiffness)))

    @property
    def lever(self) -> float:
        """rho: root mean square of the rotors' levers about x and y, by which thrust makes torque [m]."""
        return float(np.sqrt(np.mean(self.rotors**2)))

    def among(self, modules: Sequence[int]) -> "Lift":
        """Bearing of some modules."""
        return Lift(*(each[list(modules)] for each in self))


def evened(structure: Structure, y: Array, lever: float) -> Array:
    """Potential (n, 6) of what joints bear beyond what modules bear for lost ones, about the GCoS.

    Args:
        structure: whose modules `obeys` tells from the lost; one obeys at least.
        y: (n, 6) potential of all that joints bear.
        lever: rho [m].
    """
    laplacian = structure.incidence @ structure.incidence.T
    borne: Array = np.where(structure.obeys[:, None], laplacian @ y, 0.0)
    borne -= moved_to(_least(structure, borne.sum(axis=0), lever), structure.offsets_S)
    out: Array = structure.laplacian_inverse @ borne
    return out


def shares(structure: Structure, wrench_S: Array, lift: Lift) -> Array:
    """Wrenches (n, 6) of modules about their own CoMs that sum up to one (6,) about the GCoS; zero of lost modules.

    Args:
        structure: whose modules bear it.
        wrench_S: [N, N m].
        lift: of its modules.
    """
    if not structure.obeys.any():
        return np.zeros((len(structure.modules), 6))
    lifted = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0]) * wrench_S
    out, obeying = (
        _least(structure, wrench_S - lifted, lift.lever),
        np.flatnonzero(structure.obeys),
    )
    out[obeying] += _lifts(structure.offsets_S[obeying], lifted, lift.among(obeying.tolist()))
    return out


def _least(structure: Structure, wrench_S: Array, lever: float) -> Array:
    """`shares` of least norm, whatever modules carry besides."""
    out, twists = np.zeros((len(structure.modules), 6)), _twists(structure, lever)
    borne = twists @ np.linalg.solve(twists.sum(axis=0), wrench_S)
    out[structure.obeys] = moved_to(borne, -structure.offsets_S[structure.obeys])
    return out


def _lifts(offsets_S: Array, wrench_S: Array, lift: Lift) -> Array:
    """Wrenches (k, 6) of modules about their CoMs that sum up to a vertical one (6,), with least largest thrusts."""
    count = lift.rotors.shape[1]
    rotors, each = lift.rotors + offsets_S[:, None, :2], lift.weights / count
    C = np.stack([np.ones(rotors.shape[:2]), rotors[..., 1], -rotors[..., 0]])
    weight = np.einsum("ckr,k->c", C, each)
    u = _least_largest(C.reshape(3, -1), wrench_S[2:5] + weight).reshape(-1, count)
    extra = u - each[:, None]
    out = np.zeros((len(offsets_S), 6))
    out[:, 2] = extra.sum(axis=1)
    out[:, 3] = (extra * lift.rotors[..., 1]).sum(axis=1)
    out[:, 4] = -(extra * lift.rotors[..., 0]).sum(axis=1)
    return out


def _least_largest(C: Array, c: Array) -> Array:
    """The u with C u = c whose largest entry is (nearly) least."""
    u: Array = np.linalg.pinv(C) @ c
    for power in POWERS:
        for _ in range(NEWTON_STEPS):
            W = np.maximum(np.abs(u), TINY) ** (2 - power)
            W /= W.max()
            u += (W * (C.T @ np.linalg.solve((C * W) @ C.T, c)) - u) / (power - 1)
    return u


def _twists(structure: Structure, lever: float) -> Array:
    """(k, 6, 6) `_bearing` of the modules that obey."""
    return np.array([_bearing(d_S, lever) for d_S in structure.offsets_S[structure.obeys]])


def _bearing(d_S: Array, lever: float) -> Array:
    """(6, 6) from (a, alpha) to the wrench of a module at d_i, about the GCoS."""
    arm = so3.hat(d_S)
    return np.block([[np.eye(3), -arm], [arm, lever**2 * np.eye(3) - arm @ arm]])
