# SPDX-License-Identifier: BSD-3-Clause
"""A user's own controller: PD on the pose of a fully actuated platform, with the suite's allocation."""

import numpy as np

from iap_control.allocation.allocator import Allocator
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.signals import NO_WRENCH
from iap_description.states import REF_A, REF_P, REF_Q, REF_V, REF_W, P, Q, V, W

STIFFNESS, DAMPING = 4.0, 4.0  # [1/s^2], [1/s]


class PoseDamper:
    """Accelerates towards the reference; feels no wrench and integrates nothing."""

    def __init__(self, model, gains, *, dt, yaw_mode):
        self.model, self.yaw_mode = model, yaw_mode
        self.allocator = Allocator(model, rate_filter=gains.rate_filter, dt=dt)

    def reset(self):
        """Forget past commands."""
        self.allocator.reset()

    def set_gains(self, gains):
        """Its gains are its own."""

    def __call__(self, x, reference, wrench_P=NO_WRENCH, task=None):
        """The command that pulls the state (13,) towards the reference."""
        row, m, g = reference.row, self.model.inertia.mass, self.model.inertia.gravity
        a_W = row[REF_A] - STIFFNESS * (x[P] - row[REF_P]) - DAMPING * (x[V] - row[REF_V])
        force_P = so3.rotate(so3.conjugate(x[Q]), m * (a_W + [0.0, 0.0, g]))
        turn_P = so3.quaternion_log(so3.multiply(so3.conjugate(row[REF_Q]), x[Q]))
        w_P = so3.rotate(so3.conjugate(x[Q]), x[W]) - row[REF_W]
        alpha_P = -STIFFNESS * turn_P - DAMPING * w_P
        torque_P = self.model.inertia.J @ alpha_P + np.cross(self.model.inertia.d_0, force_P)
        yaw = self.model.mount_yaw + yaw_of(x[Q])
        return self.allocator(np.concatenate([force_P, torque_P]), x[Q], yaw)
