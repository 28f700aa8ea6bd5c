# SPDX-License-Identifier: BSD-3-Clause
"""Whether modules that are joined from the start stand where their joints can hold them."""

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.relative_pose import RelativePose, check_drogue
from iap_description.arrays import Array


def check_start(coordinator: Coordinator, rows: Array) -> None:
    """Refuse joints that hold from the start, and whose modules do not fit each other.

    Args:
        coordinator: at its start.
        rows: (n, 13) where the modules stand.

    Raises:
        BadInput: a gap, an offset or an angle is beyond the drogue.
    """
    for name, machine in coordinator.machines.items():
        if machine.holds:
            joint = coordinator.joints[name]
            pose = RelativePose.of(rows[joint.a], rows[joint.b])
            drogue = coordinator.spec.machine.drogue
            check_drogue(name, machine.misalignment(pose), drogue)
