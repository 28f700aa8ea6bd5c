# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of picks, in level axes of the platform at its start: forwards, to the left and up.

| term | numbers | unit | what it is |
|---|---|---|---|
| `force` | 3 | N | of contacts on the platform, as it is measured |
| `load` | 1 | N | size of the force that the gripper bears, as it is measured |
| `held` | 1 | 1 | 1 while the gripper says that it holds something |
| `object` | 3 | m | from the tip to the point where the object is taken, as it is measured |
| `goal` | 3 | m | from the tip to where this point shall be in the end |
| `lag` | 3 | m | the tip from its reference |
| `velocity` | 3 | m/s | of the central body |
| `joints` | 3 | rad | joint angles since the start |
| `joint_rates` | 3 | rad/s | their rates |
| `action` | 4 | 1 | the last action |
"""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term

JOINTS = 3  # of an arm


class PickInputs(NamedTuple):
    """Inputs of observations of B worlds, see the terms of their names.

    Attributes:
        force: (B, 3) [N].
        load: (B,) [N].
        held: (B,) 1 or 0.
        object: (B, 3) [m].
        goal: (B, 3) [m].
        lag: (B, 3) [m].
        velocity: (B, 3) [m/s].
        joints: (B, 3) [rad].
        joint_rates: (B, 3) [rad/s].
        action: (B, 4).
    """

    force: Array
    load: Array
    held: Array
    object: Array
    goal: Array
    lag: Array
    velocity: Array
    joints: Array
    joint_rates: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 3, lambda pick: pick.force),
    array_term("load", 1, lambda pick: pick.load[:, None]),
    array_term("held", 1, lambda pick: pick.held[:, None]),
    array_term("object", 3, lambda pick: pick.object),
    array_term("goal", 3, lambda pick: pick.goal),
    array_term("lag", 3, lambda pick: pick.lag),
    array_term("velocity", 3, lambda pick: pick.velocity),
    array_term("joints", JOINTS, lambda pick: pick.joints),
    array_term("joint_rates", JOINTS, lambda pick: pick.joint_rates),
    array_term("action", PER_ACTION, lambda pick: pick.action),
)
