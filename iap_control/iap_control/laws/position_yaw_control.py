# SPDX-License-Identifier: BSD-3-Clause
"""Controller of position and yaw of one rigid multirotor, with its memory."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from iap_control.allocation.actuation import AllocationState
from iap_control.allocation.model import Inertia, PlatformModel, check_axes
from iap_control.gains import Gains
from iap_control.laws.position_yaw import position_yaw_wrench
from iap_control.laws.rigid_law import RigidLaw, RigidMemory, rigid_law
from iap_control.laws.yaw_command import YawMemory, yaw_command
from iap_description.arrays import Array
from iap_description.math.momentum import inertia_about_com
from iap_description.signals import AXES, ForceMode, ForceTask, Reference


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
        self._law = rigid_law(gains)
        self._rigid = RigidLaw.of(gains, model)

    def set_inertia(self, inertia: Inertia) -> None:
        """Fly on with other lumped dynamics of the same mass."""
        self._model = replace(self._model, inertia=inertia)
        J_c = inertia_about_com(inertia.J, inertia.mass, inertia.d_0)
        self._rigid = self._rigid._replace(J_c=J_c)

    def reset(self) -> None:
        """Forget integral and past commands."""
        self._integral = np.zeros(6)
        self._memory = RigidMemory.empty()
        self._yaw = YawMemory.empty()

    @property
    def attitude(self) -> tuple[Array, Array]:
        """The attitude (4,) that the last wrench turns the platform to, and its rate (3,) there [rad/s]: views."""
        return self._memory.q_WB, self._memory.w_B

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        task: ForceTask | None,
        last: Array | None,  # noqa: ARG002 - of use to wrench control only
        allocator: AllocationState,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `WrenchControl.__call__`.

        Raises:
            BadInput: the task controls a wrench.
        """
        if task is not None and task.mode != ForceMode.NONE:
            check_axes(self._model, np.ones(len(AXES), dtype=bool), "platform")
        memory = (x, reference.row, wrench_e_P, self._integral)
        settings = (int(reference.level), self._model.inertia, self._law, self._rigid)
        heading, mount = self._headings(x, reference)[0], self._model.mount_yaw[0]
        turn = (int(reference.level), heading, mount, self._follows, self._dt)
        yaw = yaw_command(reference.row, *turn, self._yaw)
        end = (self._dt, allocator.saturated)
        return position_yaw_wrench(*memory, *settings, self._memory, yaw, *end)
