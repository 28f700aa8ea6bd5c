# SPDX-License-Identifier: BSD-3-Clause
r"""Wrenches in joints where modules are lost: what these lack, the others bear together.

Joints are without wrenches only where each module carries itself. Of modules that no longer obey, the others bear W,
about the GCoS. Each bears of it what is least, sum |f_i|^2 + |tau_i|^2 / rho^2: the wrenches of a common twist,

.. math::
    f_i = a + \alpha \times d_i, \qquad \tau_i = \rho^2 \alpha,

tau_i about the module's own CoM, with a and alpha such that they sum up to W. So forces do what torques would, as far
as the structure is long.
"""

import numpy as np

from iap_control.modules.joint_wrench import moved
from iap_control.modules.structure import Structure
from iap_description import so3
from iap_description.arrays import Array

LEVER = 0.134  # rho: of rotors about a module's x and y axes, by which thrust makes torque [m]


def evened(structure: Structure, y: Array) -> Array:
    """Potential (n, 6) of what joints bear beyond what modules bear for lost ones, about the GCoS.

    Args:
        structure: whose modules `obeys` tells from the lost; one obeys at least.
        y: (n, 6) potential of all that joints bear.
    """
    laplacian = structure.incidence @ structure.incidence.T
    felt: Array = np.where(structure.obeys[:, None], laplacian @ y, 0.0)
    twists = _twists(structure)
    felt[structure.obeys] -= twists @ np.linalg.solve(twists.sum(axis=0), felt.sum(axis=0))
    out: Array = np.linalg.pinv(laplacian, hermitian=True) @ felt
    return out


def shares(structure: Structure, wrench_S: Array) -> Array:
    """Wrenches (n, 6) of modules about their own CoMs that sum up to one (6,) about the GCoS; zero of lost modules."""
    out = np.zeros((len(structure.modules), 6))
    if structure.obeys.any():
        twists = _twists(structure)
        borne = twists @ np.linalg.solve(twists.sum(axis=0), wrench_S)
        out[structure.obeys] = moved(borne, -structure.offsets_S[structure.obeys])
    return out


def _twists(structure: Structure) -> Array:
    """(k, 6, 6) `_bearing` of the modules that obey."""
    return np.array([_bearing(d_S) for d_S in structure.offsets_S[structure.obeys]])


def _bearing(d_S: Array) -> Array:
    """(6, 6) from (a, alpha) to the wrench of a module at d_i, about the GCoS."""
    arm = so3.hat(d_S)
    return np.block([[np.eye(3), -arm], [arm, LEVER**2 * np.eye(3) - arm @ arm]])
