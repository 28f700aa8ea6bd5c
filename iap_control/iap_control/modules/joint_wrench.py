# SPDX-License-Identifier: BSD-3-Clause
r"""Wrenches in the joints of a structure from what each module's observer tells, after beatle (27), (39) and (40).

With W_e the wrench of joint e on its module b by its module a, all about one point O, and a disturbance W_dist that
every module feels alike, (27) reads for any graph of joints

.. math::
    W_{ext,i} = \sum_e B_{ie} W_e + W_{dist}.

The columns of B sum to zero, so that W_dist is the mean of W_ext (39), and the solution of least norm is

.. math::
    W_e = y_b - y_a, \qquad y = (B B^T)^+ W_{ext},

where y, a potential on the modules, does not see what is common to all. In a chain this is the recursion
W_{i+1} = W_i + W_dist - W_{ext,i} from W_1 = 0: (40) with the sign that follows from (27); the printed one is the
opposite. In a closed loop a wrench that circulates is in the null space of B: no observer sees it, and no thrust
changes it; the least norm leaves it out.

Torques of (27) are about different CoMs in print; here they are moved to O, the GCoS, first. Where a disturbance is not
alike for all, the difference is taken for wrenches in joints: F on one end of three modules leaves 2 F / 3 and F / 3.
"""

import numpy as np

from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3


def moved_to(wrenches: Array, arms: Array) -> Array:
    """Wrenches (n, 6) about points p_i taken about O, with arms (n, 3) from O to p_i: tau + arm x f."""
    out = np.array(wrenches, dtype=float)
    out[:, 3:] += so3.cross(arms, out[:, :3])
    return out


def disturbance(structure: Structure, external_S: Array) -> Array:
    """W_dist (6,) that all modules feel about their own CoMs, (39): the mean of what they feel, about the GCoS.

    Args:
        structure: of n modules.
        external_S: (n, 6) W_ext of each about its own CoM, axes of S [N, N m].
    """
    mean: Array = moved_to(external_S, structure.offsets_S).mean(axis=0)
    return mean


def potential(structure: Structure, external_S: Array) -> Array:
    """Potentials y = (B B')^+ (w - w_mean) of the modules' wrenches, whose differences are the wrenches in joints.

    B is the incidence of modules and joints. Wrenches are taken about the GCoS, in S. Arguments are those of
    `disturbance`.

    Returns:
        (n, 6) [N, N m].
    """
    common = np.tile(disturbance(structure, external_S), (len(external_S), 1))
    about_gcos = moved_to(external_S, structure.offsets_S) - moved_to(common, structure.offsets_S)
    y: Array = structure.laplacian_inverse @ about_gcos
    return y


def potential_of_joints(structure: Structure, joint_S: Array) -> Array:
    """Y (n, 6) about the GCoS in S whose differences are wrenches (m, 6) of joints about their places.

    Those of a closed loop are met as closely as thrust can bring them about.
    """
    y: Array = structure.differences_inverse @ moved_to(joint_S, structure.joints_S)
    return y


def joint_wrenches(structure: Structure, y: Array) -> Array:
    """W_e (m, 6) on module b of each joint by module a, about the joint's place, axes of S, of a potential (n, 6)."""
    return moved_to(structure.incidence.T @ y, -structure.joints_S)
