# SPDX-License-Identifier: BSD-3-Clause
r"""Velocity of the central body without what the aircraft's own turning adds through joints off their CoMs.

An aircraft whose joint sits at r from its CoM moves that joint by (w_i - w_P) x R_i r when it turns, and with it the
central body, which is light beside the aircraft. That motion comes at once, and for a joint below the CoM against the
acceleration that the tilt is for: from tilt to velocity there is a zero at :math:`\sqrt{T / (m r)}` = 25 rad/s in the
right half plane (20 mm, the three-star's aircraft), near the autopilot's bandwidth. Damping that takes it for motion
of the platform drives the aircraft to swing. The thrusts and masses act as if they sat at the joints, see
`Assembly.p_PF_P`; so nothing else of the law changes.
"""

from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_description.vehicles.assembly import Assembly


class LeverCompensation:
    """Takes the aircraft's own turning out of the central body's velocity; for platforms with joints off the CoM.

    Args:
        assembly: the platform, all joints on its central body.
    """

    def __init__(self, assembly: Assembly) -> None:
        joints = assembly.joints
        self._bodies = [joint.child for joint in joints]
        self._arms_B = np.array(
            [joint.p_CJ_C if joint.kind.turns_freely else np.zeros(3) for joint in joints]
        )
        rows = [np.hstack([np.eye(3), -so3.hat(joint.p_PJ_P)]) for joint in joints]
        self._twist_of = np.linalg.pinv(np.vstack(rows))  # (6, 3N) of the joints' velocities

    @classmethod
    def of(cls, assembly: Assembly) -> Self | None:
        """The compensation that a platform needs; None where every joint that turns is at its aircraft's CoM."""
        is_off = any(joint.kind.turns_freely and joint.p_CJ_C.any() for joint in assembly.joints)
        return cls(assembly) if is_off else None

    def __call__(self, x: Array, measured: Array) -> Array:
        """The row (13,) of the central body for the controller.

        Args:
            x: (bodies, 13) rows of the platform, of whose aircraft attitude and rate count.
            measured: (13,) what is measured of the central body.
        """
        aircraft, q_WP = x[self._bodies], measured[Q]
        turning_W = aircraft[:, W] - measured[W]
        added_W = np.cross(turning_W, so3.rotate(aircraft[:, Q], self._arms_B))
        twist_P = self._twist_of @ so3.rotate(so3.conjugate(q_WP), added_W).ravel()
        row = measured.copy()
        row[V] -= so3.rotate(q_WP, twist_P[:3])
        row[W] -= so3.rotate(q_WP, twist_P[3:])
        return row
