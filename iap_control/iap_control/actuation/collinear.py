# SPDX-License-Identifier: BSD-3-Clause
"""Collinear actuation: aircraft on spherical joints along a line, about which they cannot turn the platform, rank 5.

The law is that of iap_simulator eq. (16).
"""

import numpy as np

from iap_control.actuation.jointed import JointedActuation, positions
from iap_control.allocation.actuation import Effectiveness, JointLine, Thrusters
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import FREE
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly

COSINE_TOLERANCE = 1e-6  # between the joints' line and an axis: perpendicular below


class CollinearActuation(JointedActuation):
    """The kind `collinear`, see `Actuation`."""

    name = "collinear"
    law = "under_actuation"
    arm_refusal: str | None = "no law flies an arm on joints that lie on a line"

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of thrust vectors of a lower rank than 6, else None.

        Raises:
            BadInput: an aircraft does not turn freely.
        """
        reach = self._reach(assembly, thrusters)
        if reach is None or reach.rank == 6:
            return None
        if not (thrusters.swings == FREE).all():
            raise BadInput(
                f"vehicle '{assembly.name}': key 'platform.joints': the aircraft on their joints push along"
                f" {reach.rank} of 6 axes only, and not along {reach.lacking}, for which there is no control law"
            )
        return self._effectiveness(assembly, thrusters, line_through(positions(assembly)))

    def controlled_angles(self, model: PlatformModel) -> tuple[bool, bool, bool]:
        """Those of the two axes that are furthest from the line."""
        free = int(np.argmax(np.abs(line_of(model).direction_P)))
        return free != 0, free != 1, free != 2

    def axis_refusal(self, model: PlatformModel, axis: int) -> str | None:
        """The torque about the line cannot be made."""
        if axis >= 3 and abs(line_of(model).direction_P[axis - 3]) > COSINE_TOLERANCE:
            return "with its joints on a line cannot turn about it"
        return None


def line_of(model: PlatformModel) -> JointLine:
    """The line of a model's joints."""
    assert model.line is not None  # noqa: S101 - each platform of this kind has one
    return model.line


def line_through(joints: Array) -> JointLine:
    """The line of joints (N, 3), its direction towards +x where there is a choice."""
    center = joints.mean(axis=0)
    direction = np.linalg.svd(joints - center)[2][0]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    return JointLine(direction, center - direction * (direction @ center))
