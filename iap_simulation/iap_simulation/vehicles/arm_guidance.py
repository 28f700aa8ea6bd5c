# SPDX-License-Identifier: BSD-3-Clause
"""Guidance of platforms by their arms: joints are commanded, and platforms follow what leads both together."""

from collections.abc import Sequence

from iap_control.arm.arm_control import JointCoordinates
from iap_description.signals import Reference
from iap_physics.arm.gripper import known_load
from iap_physics.plant.plant import Plant
from iap_simulation.vehicles.vehicle import Vehicle


class ArmGuidance:
    """Commands the arms of vehicles on what is known of their states.

    Args:
        vehicles: all of them.
    """

    def __init__(self, vehicles: Sequence[Vehicle]) -> None:
        self._vehicles = vehicles

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:
        """Command every arm, and put the reference that its platform is to follow with it."""
        for i, vehicle in enumerate(self._vehicles):
            motors, control = plant.arm(i), vehicle.arm
            if motors is None or control is None:
                continue
            control.carry(known_load(plant, i))
            interaction = vehicle.interaction
            control.feel(None if interaction is None else interaction.task)
            x, joints = (
                vehicle.known_state(plant.state(i)[0])[0],
                JointCoordinates(motors.q, motors.v),
            )
            references[i] = control(k, x, joints, vehicle.controller, references[i])
            plant.command_arm(i, control.target)
