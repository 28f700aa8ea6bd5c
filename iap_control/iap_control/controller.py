# SPDX-License-Identifier: BSD-3-Clause
"""The platform's controller: the motion law that its joints allow, then allocation."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from iap_control.allocator import Allocator
from iap_control.gains import Gains
from iap_control.interaction.wrench_control import WrenchControl
from iap_control.laws.position_yaw import RigidLaw, RigidMemory, position_yaw_wrench
from iap_control.laws.tracking import Law, Tracking
from iap_control.model import PlatformModel, check_axes
from iap_description.kernels import quat, rotate, vec, yaw_of
from iap_description.signals import AXES, NO_WRENCH, ForceMode, ForceTask, Reference
from iap_description.states import REF_ALPHA, REF_FIXED, REF_Q, REF_W, Command, Level, Q

Array = NDArray[np.float64]
YawMode = Literal["follow", "hold", "given"]


class PlatformController:
    """Turns states and references into commands for one platform; holds nothing but the law's memory.

    Args:
        model: what is believed of the platform.
        gains: motion gains.
        dt: control period [s].
        yaw_mode: the aircraft's headings follow the platform's, are held, or are given by the reference.
    """

    def __init__(
        self, model: PlatformModel, gains: Gains, *, dt: float, yaw_mode: YawMode = "follow"
    ) -> None:
        self.model = model
        self.dt = dt
        self.yaw_mode = yaw_mode
        self._jointed: WrenchControl | None = None
        self.allocator = Allocator(model, rate_filter=gains.rate_filter, dt=dt)
        self.set_gains(gains)
        self.reset()

    def set_gains(self, gains: Gains) -> None:
        """Change the gains, also in flight; the integrals stay."""
        self.gains = gains
        self.model = self.model.coupled(gains.com_coupling)
        self.allocator.set_rate_filter(gains.rate_filter)
        if self.model.actuation == "rigid":
            slower = np.array([*gains.rigid.kI, 0.0, 0.0, 0.0])
            self._law = Law.of(gains)._replace(kI=slower)
            self._rigid = RigidLaw.of(gains, self.model)
        elif self._jointed is None:
            self._jointed = WrenchControl(self.model, gains, self.dt)
        else:
            self._jointed.set_gains(self.model, gains)

    def reset(self) -> None:
        """Forget integrals and past commands."""
        self._integral = np.zeros(6)
        self._work = Tracking.empty()
        self._rigid_memory = RigidMemory.empty()
        self._headings = np.zeros(self.model.count)
        self._held: Array | None = None
        self._yaw: float | None = None
        self._yaw_rate = 0.0
        self.allocator.reset()
        if self._jointed is not None:
            self._jointed.reset()
        self._last: Array | None = None
        self._no_task = ForceTask(
            ForceMode.NONE, np.zeros(6), np.zeros(6), np.zeros(6, dtype=bool)
        )

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array = NO_WRENCH,
        force: ForceTask | None = None,
    ) -> Command:
        """The command for one control step; the same object every time, overwritten.

        Args:
            x: (13,) state row of the central body.
            reference: the present reference.
            wrench_e_P: (6,) external wrench in P to compensate [N, N m].
            force: the wrench to be felt, under direct wrench control; None is pose control.

        Raises:
            BadInput: wrench control of a platform whose rotors are fixed to one body.
        """
        U = self.wrench(x, reference, wrench_e_P, force)
        return self.allocator(U, x[Q], self.headings(x, reference))

    def wrench(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array = NO_WRENCH,
        force: ForceTask | None = None,
    ) -> Array:
        """Active wrench U (6,) about P's origin, in P; arguments as in `__call__`."""
        if reference.level == Level.WRENCH:
            U = reference.wrench_P
        elif self._jointed is None:
            U = self._rigid_wrench(x, reference, wrench_e_P, force)
        else:
            U = self._jointed_wrench(self._jointed, x, reference, wrench_e_P, force)
        self._last = U
        return U

    def _jointed_wrench(
        self,
        control: WrenchControl,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        force: ForceTask | None,
    ) -> Array:
        row, level, short = reference.row, reference.level, self.allocator.short
        if control.is_idle and (force is None or force.mode == ForceMode.NONE):
            settings = (self._work, int(level), self.dt, short)
            U = control.flight.wrench(x, row, wrench_e_P, control.integral, *settings)
            if force is not None:
                control.report(force)
            return U
        task = force or self._no_task
        return control(x, row, level, wrench_e_P, task, self._last, short)

    def _rigid_wrench(
        self, x: Array, reference: Reference, wrench_e_P: Array, force: ForceTask | None
    ) -> Array:
        if force is not None and force.mode != ForceMode.NONE:
            check_axes(self.model, np.ones(len(AXES), dtype=bool), "platform")
        memory = (x, reference.row, wrench_e_P, self._integral, self._work)
        settings = (int(reference.level), self.model.inertia, self._law, self._rigid)
        yaw = self._yaw_command(x, reference)
        last = (self.dt, self.allocator.saturated)
        return position_yaw_wrench(*memory, *settings, self._rigid_memory, yaw, *last)

    def _yaw_command(self, x: Array, reference: Reference) -> float:
        """Yaw [rad] of a rigid platform: the heading's, or the sum of the turn rates where no pose is tracked."""
        q_WP = quat(reference.row[REF_Q])
        if reference.level == Level.ACCELERATION:
            self._yaw_rate += self.dt * rotate(q_WP, vec(reference.row[REF_ALPHA]))[2]
        else:
            self._yaw_rate = rotate(q_WP, vec(reference.row[REF_W]))[2]
        if self._yaw is None or reference.level == Level.POSE or self.yaw_mode != "follow":
            self._yaw = float(self.headings(x, reference)[0] - self.model.mount_yaw[0])
        else:
            self._yaw += self.dt * self._yaw_rate
        return self._yaw

    def headings(self, x: Array, reference: Reference) -> Array:
        """Heading (N,) [rad] of every aircraft under the chosen yaw mode."""
        if self.yaw_mode == "given":
            return reference.row[REF_FIXED:]
        if self._held is None or self.yaw_mode == "follow":
            q_WP = reference.row[REF_Q] if reference.level == Level.POSE else x[Q]
            np.add(self.model.mount_yaw, yaw_of(q_WP), out=self._headings)
            self._held = self._headings
        return self._headings
