# SPDX-License-Identifier: BSD-3-Clause
"""Full actuation: aircraft on joints whose thrusts together make any wrench, rank 6; iap_simulator eq. (10)."""

from iap_control.actuation.jointed import JointedActuation
from iap_control.allocation.actuation import Effectiveness, Thrusters
from iap_control.allocation.model import PlatformModel
from iap_description.vehicles.assembly import Assembly


class FullActuation(JointedActuation):
    """The kind `full`, see `Actuation`."""

    name = "full"
    law = "full_actuation"
    arm_refusal: str | None = None

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of thrust vectors of rank 6, else None."""
        reach = self._reach(assembly, thrusters)
        if reach is None or reach.rank < 6:
            return None
        return self._effectiveness(assembly, thrusters)

    def controlled_angles(self, model: PlatformModel) -> tuple[bool, bool, bool]:  # noqa: ARG002
        """All of them."""
        return True, True, True

    def axis_refusal(self, model: PlatformModel, axis: int) -> str | None:  # noqa: ARG002
        """None: there is a wrench on every axis."""
        return None
