# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of modules' poses from their references, low-passed, and the steering of structures against them.

Steering turns a whole structure against its leader's attitude error: an addition to BEATLE, off where its gain is zero.

What feed-forward takes out of the joints is also what followers do against a common turn, so that after a while the
leader alone holds the structure, whose inertia is many times its own (300 times about y, of eight in a chain): its
integral then swings it for minutes. So all modules get the angular acceleration

.. math::
    \alpha = -k_s\, (\bar e_L + k_i \int \bar e_L\, dt),

with e_L the leader's rotation from its reference, low-passed, in their references, where a_i = alpha x R d_i follows.
They carry it out together, each for its own mass, and no joint bears any of it.

All modules of a structure turn alike, so each of them measures how it turns: what is fast of e_L is the mean of what is
fast of all, so that the noise of n estimates makes 1 / sqrt(n) of what the leader's alone would. What is slow is the
leader's own: estimates may differ, and its law holds its own to the reference.

Feed-forward takes the lasting part of that away again, at the rate at which it takes over what the leader does, its
integral with it: without k_i a structure of inertia J swings slowly, omega^2 = g k_I / (k_s J) and damped by
g k_P / (k_s J) alone, of eight in a chain once in 45 s. The integral adds k_i to the damping.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from iap_control.modules.settings import SteeringSettings
from iap_control.modules.structure import ModuleJoint, Structure
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, P, Q


class Steering:
    """Turns structures.

    Args:
        settings: gain and filter.
        dt: period of updates [s].
    """

    def __init__(self, settings: SteeringSettings, dt: float) -> None:
        self._settings, self._dt = settings, dt
        self._share = -np.expm1(-dt / settings.filter_time)
        self._slow_share = -np.expm1(-dt / settings.common_time)
        self._errors: Array | None = None
        self._slow: Array = np.zeros(3)  # of the errors of each module [rad]
        self._sums: Array = np.zeros(3)  # k_i times the integrals [rad]

    def __call__(self, structures: Sequence[Structure], estimates: Array, rows: Array) -> Array:
        """Angular accelerations (n, 3) of modules, own axes [rad/s^2], on estimates (n, 13) and references (n, 19+)."""
        turns = so3.multiply(so3.conjugate(rows[:, REF_Q]), estimates[:, Q])
        now = so3.quaternion_log(turns)
        last = now if self._errors is None else self._errors
        slow = now if self._errors is None else self._slow
        self._errors = last + self._share * (now - last)
        self._slow = slow + self._slow_share * (now - slow)
        joined = [each for each in structures if len(each.modules) > 1]
        self._integrate([i for each in joined for i in each.modules])
        out = np.zeros((len(rows), 3))
        for each in joined:
            members = list(each.modules)
            fast = (self._errors - self._slow)[members].mean(axis=0)
            error = self._slow[each.leader] + fast + self._sums[each.leader]
            out[members] = -self._settings.gain * error
        return out

    def _integrate(self, modules: list[int]) -> None:
        """Add up the errors of modules that are joined, each its own, so that another one may lead."""
        assert self._errors is not None  # noqa: S101 - set by the caller
        limit, sums = self._settings.limit, np.zeros_like(self._errors)
        more = self._sums + self._dt * self._settings.integral * self._errors
        sums[modules] = np.clip(more, -limit, limit)[modules]
        self._sums = sums


class PoseOffsets:
    """Low-passes how far modules' estimates are off their references, which may move.

    Args:
        filter_time: time constant [s].
        dt: period of updates [s].
    """

    def __init__(self, filter_time: float, dt: float) -> None:
        self._share = -np.expm1(-dt / filter_time)
        self._off: Array | None = None

    def update(self, estimates: Array, rows: Array) -> None:
        """Low-pass the pose errors of modules: e += share (e_now - e).

        e_now is [p - p_r; log(q_r^-1 q)] of each module [m, rad].

        Args:
            estimates: (n, 13) state rows in W.
            rows: (n, 19+) references.
        """
        turns = so3.multiply(so3.conjugate(rows[:, REF_Q]), estimates[:, Q])
        now = np.hstack([estimates[:, P] - rows[:, REF_P], so3.quaternion_log(turns)])
        last = now if self._off is None else self._off
        self._off = last + self._share * (now - last)

    def of(self, module: int, row: Array) -> tuple[Array, Array]:
        """Place (3,) [m] and attitude (4,) of a module whose reference is a row (19+)."""
        off = np.zeros(6) if self._off is None else self._off[module]
        return row[REF_P] + off[:3], so3.multiply(row[REF_Q], so3.quaternion_exp(off[3:]))


class LeaderOffsets:
    """Low-passes how far each joint's leader, in the frame of its follower's own estimate, is off its reference.

    Args:
        filter_time: time constant [s].
        dt: period of updates [s].
    """

    def __init__(self, filter_time: float, dt: float) -> None:
        self._share = -np.expm1(-dt / filter_time)
        self._off_W: dict[str, Array] = {}

    def update(
        self, joints: Mapping[str, ModuleJoint], estimates: Array, shared: Array, rows: Array
    ) -> None:
        """Low-pass the offset of each joint's first module from its reference: e += share (e_now - e) [m], in W.

        e_now = p_b + (s_a - s_b) - r_a, with p of a module's own frame, s of the shared one and r the reference.

        Args:
            joints: by name, with their modules a and b.
            estimates: (n, 13) states, each in the module's own frame.
            shared: (n, 13) states in one frame for all.
            rows: (n, 19+) references.
        """
        for name, joint in joints.items():
            seen_W = estimates[joint.b, P] + shared[joint.a, P] - shared[joint.b, P]
            now = seen_W - rows[joint.a, REF_P]
            last = self._off_W.get(name, now)
            self._off_W[name] = last + self._share * (now - last)

    def of(self, name: str) -> Array:
        """(3,) of a joint's leader [m]."""
        return self._off_W[name]
