# SPDX-License-Identifier: BSD-3-Clause
"""Low-passed poses of modules and their leaders by modules' own estimates, off references that may move."""

from collections.abc import Mapping

import numpy as np

from iap_control.modules.structure import Joint
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, P, Q


class OwnPoses:
    """Low-passes how far modules' estimates are off their references, which may move.

    Args:
        filter_time: time constant [s].
        dt: period of updates [s].
    """

    def __init__(self, filter_time: float, dt: float) -> None:
        self._share = -np.expm1(-dt / filter_time)
        self._off: Array | None = None

    def update(self, estimates: Array, rows: Array) -> None:
        """Take estimates (n, 13) and the references (n, 19+) that they are held to."""
        turns = so3.multiply(so3.conjugate(rows[:, REF_Q]), estimates[:, Q])
        now = np.hstack([estimates[:, P] - rows[:, REF_P], so3.quaternion_log(turns)])
        last = now if self._off is None else self._off
        self._off = last + self._share * (now - last)

    def of(self, module: int, row: Array) -> tuple[Array, Array]:
        """Place (3,) [m] and attitude (4,) of a module whose reference is a row (19+)."""
        off = np.zeros(6) if self._off is None else self._off[module]
        return row[REF_P] + off[:3], so3.multiply(row[REF_Q], so3.quaternion_exp(off[3:]))


class LeadersSeen:
    """Low-passes how far each joint's leader, in the frame of its follower's own estimate, is off its reference.

    Args:
        filter_time: time constant [s].
        dt: period of updates [s].
    """

    def __init__(self, filter_time: float, dt: float) -> None:
        self._share = -np.expm1(-dt / filter_time)
        self._off_W: dict[str, Array] = {}

    def update(
        self, joints: Mapping[str, Joint], estimates: Array, shared: Array, rows: Array
    ) -> None:
        """Take estimates (n, 13) of each module's own, and in one frame for all, and references (n, 19+)."""
        for name, joint in joints.items():
            seen_W = estimates[joint.b, P] + shared[joint.a, P] - shared[joint.b, P]
            now = seen_W - rows[joint.a, REF_P]
            last = self._off_W.get(name, now)
            self._off_W[name] = last + self._share * (now - last)

    def of(self, name: str) -> Array:
        """(3,) of a joint's leader [m]."""
        return self._off_W[name]
