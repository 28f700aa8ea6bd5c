# SPDX-License-Identifier: BSD-3-Clause
"""The joints between a scenario's modules, and the motors of modules that fail, as the plant takes them."""

from iap_control.modules.joint_table import joints_of
from iap_description.vehicles.faults import MotorFault
from iap_physics.plant.joint_spec import PlantJoint, PlantJoints
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def is_coordinated(scenario: Scenario) -> bool:
    """Whether a scenario has modules with joints between them."""
    return scenario.modules is not None and bool(scenario.modules.joints)


def plant_joints(scenario: Scenario) -> PlantJoints | None:
    """The joints of a plant; None where there are no modules with joints."""
    spec = scenario.modules
    if spec is None or not spec.joints:
        return None
    names = [vehicle.name for vehicle in scenario.vehicles]
    joints = {
        name: PlantJoint(
            leader=spec.joints[name].leader,
            follower=spec.joints[name].follower,
            way=joint.d_ab_S,
            joined=spec.joints[name].joined,
            closes=spec.joints[name].closes,
        )
        for name, joint in joints_of(spec, names).items()
    }
    return PlantJoints(
        rate=spec.rate, latch_force=spec.latch_force, joints=joints, proximity=spec.proximity
    )


def motor_faults(scenario: Scenario, vehicle: VehicleSpec) -> tuple[MotorFault, ...]:
    """Motors of a module that stop by the key `modules.faults`."""
    faults = () if scenario.modules is None else scenario.modules.faults
    mine = (each for each in faults if (each.module, each.kind) == (vehicle.name, "motors"))
    return tuple(MotorFault(at=each.at, aircraft=1, motors="off") for each in mine)
