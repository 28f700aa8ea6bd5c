# SPDX-License-Identifier: BSD-3-Clause
"""The controller of a platform whose rotors are fixed to one body: gains and memory of its compiled law."""

from collections.abc import Callable

import numpy as np

from iap_control.allocator import Allocator
from iap_control.gains import Gains
from iap_control.laws.position_yaw import RigidLaw, RigidMemory, position_yaw_wrench
from iap_control.laws.tracking import Law, Tracking
from iap_control.model import PlatformModel, check_axes
from iap_description.arrays import Array
from iap_description.kernels import quat, rotate, vec
from iap_description.signals import AXES, ForceMode, ForceTask, Reference
from iap_description.states import REF_ALPHA, REF_Q, REF_W, Level


class PositionYawControl:
    """Turns states and references into active wrenches of one platform.

    Args:
        model: of the platform.
        gains: of flight.
        dt: control period [s].
        headings: (N,) of the aircraft [rad] for a state row and a reference.
        follows: whether the headings follow the platform's yaw.
    """

    def __init__(
        self,
        model: PlatformModel,
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],
        *,
        follows: bool,
    ) -> None:
        self._dt, self._headings, self._follows = dt, headings, follows
        self.set_gains(model, gains)
        self.reset()

    def set_gains(self, model: PlatformModel, gains: Gains) -> None:
        """Change the gains, also in flight; the integral stays."""
        self._model = model
        self._law = Law.of(gains)._replace(kI=np.array([*gains.rigid.kI, 0.0, 0.0, 0.0]))
        self._rigid = RigidLaw.of(gains, model)

    def reset(self) -> None:
        """Forget integral and past commands."""
        self._integral = np.zeros(6)
        self._work = Tracking.empty()
        self._memory = RigidMemory.empty()
        self._yaw: float | None = None
        self._yaw_rate = 0.0

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        task: ForceTask | None,
        last: Array | None,  # noqa: ARG002 - of use to wrench control only
        allocator: Allocator,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `WrenchControl.__call__`.

        Raises:
            BadInput: the task controls a wrench.
        """
        if task is not None and task.mode != ForceMode.NONE:
            check_axes(self._model, np.ones(len(AXES), dtype=bool), "platform")
        memory = (x, reference.row, wrench_e_P, self._integral, self._work)
        settings = (int(reference.level), self._model.inertia, self._law, self._rigid)
        yaw = self._yaw_command(x, reference)
        end = (self._dt, allocator.saturated)
        return position_yaw_wrench(*memory, *settings, self._memory, yaw, *end)

    def _yaw_command(self, x: Array, reference: Reference) -> float:
        """Yaw [rad]: the heading's, or the sum of the turn rates where no pose is tracked."""
        q_WP = quat(reference.row[REF_Q])
        if reference.level == Level.ACCELERATION:
            self._yaw_rate += self._dt * rotate(q_WP, vec(reference.row[REF_ALPHA]))[2]
        else:
            self._yaw_rate = rotate(q_WP, vec(reference.row[REF_W]))[2]
        if self._yaw is None or reference.level == Level.POSE or not self._follows:
            heading = self._headings(x, reference)[0]
            self._yaw = float(heading - self._model.mount_yaw[0])
        else:
            self._yaw += self._dt * self._yaw_rate
        return self._yaw
