# SPDX-License-Identifier: BSD-3-Clause
"""Rigid actuation: rotors fixed to one body push along its z axis, rank 4; position and yaw are commanded."""

from collections.abc import Callable

from iap_control.actuation.base import PoseActuation
from iap_control.actuation.jointed import turns
from iap_control.allocation.actuation import Effectiveness, Thrusters
from iap_control.allocation.inverses import least_norm, rotor_strengths
from iap_control.allocation.model import PlatformLaw, PlatformModel
from iap_control.allocation.rotor_allocation import RotorAllocation
from iap_control.allocation.rotor_maps import rotor_map
from iap_control.gains import Gains
from iap_control.laws.position_yaw_control import PositionYawControl
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health


class RigidActuation(PoseActuation):
    """The kind `rigid`, see `Actuation`."""

    name = "rigid"
    law = "position_yaw"
    tilts_to_push = True
    uncontrolled = "turn to push"

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of rotor thrusts (6, 4N), None of rotors that tilt or turn on joints.

        Raises:
            BadInput: they do not turn the platform about every axis.
        """
        if thrusters.is_vectored or turns(assembly):
            return None
        B = rotor_map(assembly, thrusters.fleet)
        return Effectiveness(B, self.inverse(B, thrusters, Health.sound(thrusters.fleet)))

    def inverse(self, B: Array, thrusters: Thrusters, health: Health) -> Array:
        """See `Actuation`."""
        return least_norm(B, rotor_strengths(thrusters.fleet, health))

    def controlled_angles(self, model: PlatformModel) -> tuple[bool, bool, bool]:  # noqa: ARG002
        """Yaw alone; tilt follows from the thrust."""
        return False, False, True

    def axis_refusal(self, model: PlatformModel, axis: int) -> str | None:  # noqa: ARG002
        """Every axis is refused."""
        return "without spherical joints tilts to push"

    def allocation(self, model: PlatformModel) -> RotorAllocation:
        """See `Actuation`."""
        return RotorAllocation(model)

    def make_law(
        self,
        model: PlatformModel,
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],
        *,
        follows: bool,
    ) -> PlatformLaw:
        """Control of position and yaw, see `Actuation`."""
        return PositionYawControl(model, gains, dt, headings, follows=follows)

    def thrusts(self, parts: Array) -> Array:
        """(4N,) themselves, see `Actuation`."""
        return parts
