# SPDX-License-Identifier: BSD-3-Clause
"""The controller of one multirotor whose autopilot takes attitudes: those that position and yaw ask for, and thrust.

The law of position and yaw [Lee, Leok and McClamroch 2010] wants an attitude, and torques that turn the aircraft
there. Here the attitude itself is commanded with its rate, and the aircraft's own autopilot makes the torques.
"""

from iap_control.allocation.model import PlatformModel
from iap_control.controllers.controller import PlatformController
from iap_control.gains import Gains
from iap_control.headings import YawMode
from iap_control.laws.position_yaw_control import PositionYawControl
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import NO_WRENCH, ForceTask, Reference
from iap_description.states import Command, Level, Mode


class AttitudeController(PlatformController):
    """Commands attitude, body rate and thrust of the only aircraft of a platform; a `Controller`.

    Args:
        model: of the platform.
        gains: motion gains; those of attitude are the autopilot's own.
        dt: control period [s].
        yaw_mode: of the aircraft's heading.

    Raises:
        BadInput: the platform has several aircraft, or does not tilt to push.
    """

    def __init__(
        self, model: PlatformModel, gains: Gains, *, dt: float, yaw_mode: YawMode = "follow"
    ) -> None:
        super().__init__(model, gains, dt=dt, yaw_mode=yaw_mode)
        if model.count != 1 or not isinstance(self.law, PositionYawControl):
            raise BadInput(
                "key 'control.law': 'attitude' flies a platform of one aircraft that tilts to push, such as f450"
            )
        self._position_yaw = self.law
        self._command = Command.zeros(1, Mode.ATTITUDE_THRUST)

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_P: Array = NO_WRENCH,
        task: ForceTask | None = None,
    ) -> Command:
        """The command for one control step, as in `Controller`; the same object every time, overwritten.

        Raises:
            BadInput: the reference is a wrench, which says nothing of an attitude.
        """
        if reference.level == Level.WRENCH:
            raise BadInput("key 'control.law': 'attitude' follows poses, not recorded wrenches")
        made, out, q_PB = super().__call__(x, reference, wrench_P, task), self._command, self._q_PB
        q_WP, w_WP_P = self._position_yaw.attitude
        out.thrust[:] = made.thrust
        out.q_WB[0] = so3.multiply(q_WP, q_PB)
        out.w_WB_B[0] = so3.rotate(so3.conjugate(q_PB), w_WP_P)
        return out

    @property
    def _q_PB(self) -> Array:
        """(4,) attitude of the aircraft on its platform."""
        q_PB: Array = self.model.q_PB[0]
        return q_PB
