# SPDX-License-Identifier: BSD-3-Clause
"""Senses of policies that fly a platform in a plant, and its gripper."""

from collections.abc import Collection

import numpy as np

from iap_description.errors import BadInput
from iap_learning.policies.scenario_policies import KEY
from iap_learning.tasks.senses import Sense, Senses
from iap_physics.arm.gripper import NO_COMMANDED_GRIPPER, Gripper
from iap_physics.latching.latches import Latches
from iap_physics.plant.plant import Plant


def senses_of(plant: Plant, asked: Collection[Sense]) -> Senses:
    """Senses of a plant's first platform, of which those that are asked for count.

    Raises:
        BadInput: phases of latches are, or joints or a gripper, and there are none.
    """
    objects = plant.engine.object_states() if Sense.OBJECTS in asked else None
    phases = None
    if Sense.PHASES in asked:
        latches = plant.part(Latches)
        if latches is None:
            raise BadInput(f"{KEY}: the policy watches latches, and the scenario has none")
        phases = latches.phase_numbers[0]
    joints = gripper = None
    if Sense.JOINTS in asked:
        motors = plant.arm(0)
        if motors is None:
            raise BadInput(
                f"{KEY}: the policy watches joints of an arm, and the scenario has none"
            )
        joints = np.stack([motors.q, motors.v])
    if Sense.GRIPPER in asked:
        part = commanded_gripper(plant)
        gripper = np.array([float(part.holds), part.borne])
    wrench = plant.contact_wrench(0)
    return Senses(wrench, objects, phases, joints=joints, gripper=gripper)


def commanded_gripper(plant: Plant) -> Gripper:
    """The gripper of a plant that goes by commands.

    Raises:
        BadInput: there is none.
    """
    gripper = plant.part(Gripper)
    if gripper is None or not gripper.spec.is_commanded:
        raise BadInput(f"{KEY}: {NO_COMMANDED_GRIPPER}")
    return gripper
