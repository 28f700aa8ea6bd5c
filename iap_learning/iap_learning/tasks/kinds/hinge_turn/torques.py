# SPDX-License-Identifier: BSD-3-Clause
"""Torques about the hinge of what a task turns: the least that it needs, and the largest that rotors can give."""

import numpy as np

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.world.hinge import Hinge
from iap_description.world.world import WorldObject
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.parts import controller_model

UPRIGHT = np.cos(np.deg2rad(10.0))  # least z of an axis about which gravity hardly turns anything


def check_torque(task: TurnTask, scenario: Scenario, item: WorldObject, lever: float) -> None:
    """Refuse what no draw makes easy enough for the platform's rotors and for the largest force of a success.

    Axes that are not upright are let through: about them, weight turns the object too.

    Args:
        task: whose angle is reached.
        scenario: whose first vehicle pushes.
        item: that turns.
        lever: from the axis to the tip at the start [m].

    Raises:
        BadInput: the least torque is above the largest one.
    """
    hinge = item.hinge
    if hinge is None or abs(so3.rotate(item.q_WO, hinge.direction)[2]) < UPRIGHT:
        return
    needed, force = least_torque(task, scenario, hinge), largest_force(scenario)
    lever += float(np.linalg.norm(np.broadcast_to(scenario.draw.object_position, 3)))
    limit = f"the rotors of {scenario.vehicles[0].platform.name} give at most"
    if force > task.success.peak:
        force, limit = task.success.peak, "success.peak allows"
    if needed > lever * force:
        raise BadInput(
            f"task '{task.name}': '{task.turned}' needs at least {needed:.3g} N m about its hinge, and {limit}"
            f" {force:.3g} N, {lever * force:.3g} N m at {lever:.3g} m: lower"
            f" world.objects.{task.turned}.hinge.friction or .stiffness"
        )


def least_torque(task: TurnTask, scenario: Scenario, hinge: Hinge) -> float:
    """Mean torque against friction and spring over the turn, in the easiest draw [N m].

    A push whose torque never is as large does less work than they take, so it brings nothing to the angle.
    """
    draw = scenario.draw
    spring = hinge.stiffness * np.deg2rad(0.5 * task.success.angle_deg - hinge.rest_deg)
    easiest = spring - draw.hinge_stiffness * abs(spring)
    return float(hinge.friction * (1.0 - draw.hinge_friction) + easiest)


def largest_force(scenario: Scenario) -> float:
    """Horizontal force of the first vehicle's rotors while they carry its weight, in the strongest draw [N].

    All thrusts together make it, as if each could point anywhere: the platform may lean as it likes.
    """
    draw, vehicle = scenario.draw, scenario.vehicles[0]
    error, assembly = vehicle.model_error, Assembly.of(vehicle.platform, vehicle.name)
    model = controller_model(scenario, vehicle, assembly)
    thrust = float(model.rotor_limits[1].sum()) * error.thrust * (1.0 + draw.thrust)
    mass = model.inertia.mass * error.mass * (1.0 - draw.mass)
    return float(np.sqrt(max(thrust**2 - (mass * scenario.world.gravity) ** 2, 0.0)))
