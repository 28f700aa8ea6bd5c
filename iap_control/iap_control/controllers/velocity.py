# SPDX-License-Identifier: BSD-3-Clause
"""The controller of a vehicle that takes velocities: the reference's, along the axes of the platform's heading."""

from iap_control.allocation.model import PlatformModel
from iap_control.arm.tip_velocities import heading_twist
from iap_control.gains import Gains
from iap_control.headings import YawMode
from iap_description.arrays import Array
from iap_description.signals import NO_WRENCH, ForceTask, Reference
from iap_description.states import Command, Mode, Q


class VelocityController:
    """Commands the twist of the reference, whatever its pose; a `Controller` without feedback.

    Args:
        model: of the platform.
        gains: not used, since nothing is fed back.
        dt: control period [s].
        yaw_mode: of headings, which such a vehicle has not.
    """

    def __init__(
        self,
        model: PlatformModel,
        gains: Gains,  # noqa: ARG002 - the arguments of all controllers
        *,
        dt: float,  # noqa: ARG002
        yaw_mode: YawMode = "follow",  # noqa: ARG002
    ) -> None:
        self._command = Command.zeros(model.count, Mode.VELOCITY)

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_P: Array = NO_WRENCH,  # noqa: ARG002
        task: ForceTask | None = None,  # noqa: ARG002
    ) -> Command:
        """The command for one control step, as in `Controller`; the same object every time, overwritten."""
        self._command.wrench_P[:] = heading_twist(reference.row, x[Q])
        return self._command

    def reset(self) -> None:
        """Nothing is remembered."""

    def set_gains(self, gains: Gains) -> None:
        """Nothing is fed back."""
