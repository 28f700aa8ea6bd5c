# SPDX-License-Identifier: BSD-3-Clause
"""Base of most kinds of actuation: a wrench on every axis, and control of the whole pose."""

from collections.abc import Callable

from iap_control.allocation.actuation import ReferenceRows
from iap_control.allocation.model import PlatformLaw, PlatformModel
from iap_control.gains import Gains
from iap_control.interaction.wrench_control import WrenchControl
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Mode


class PoseActuation:
    """Base of kinds, see `Actuation`: rotors on one body that make any wrench, unless a kind says otherwise."""

    mode = Mode.RPM
    tilts_to_push = False
    uncontrolled = "is left to itself"
    arm_refusal: str | None = None

    def wrenches(self, model: PlatformModel) -> Array:
        """The wrenches of the rotors, see `Actuation`."""
        return model.B

    def controlled_angles(self, model: PlatformModel) -> tuple[bool, bool, bool]:  # noqa: ARG002
        """All of them."""
        return True, True, True

    def axis_refusal(self, model: PlatformModel, axis: int) -> str | None:  # noqa: ARG002
        """None: there is a wrench on every axis."""
        return None

    def make_law(
        self,
        model: PlatformModel,
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],  # noqa: ARG002 - attitude is controlled
        *,
        follows: bool,  # noqa: ARG002
    ) -> PlatformLaw:
        """Pose and wrench control, see `Actuation`."""
        return WrenchControl(model, gains, dt)

    def limits(self, model: PlatformModel) -> tuple[Array, Array]:
        """Limits of the rotors, see `Actuation`."""
        return model.rotor_limits

    def check_references(
        self, model: PlatformModel, rows: ReferenceRows, vehicle_name: str
    ) -> None:
        """Take any attitude, see `Actuation`."""
