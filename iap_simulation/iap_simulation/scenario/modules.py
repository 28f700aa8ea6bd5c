# SPDX-License-Identifier: BSD-3-Clause
"""The modules of a scenario: a chain of them by `modules.count`, their joints, and their motors that fail."""

import copy
from typing import Annotated, Any

from pydantic import BaseModel, Field

from iap_control.modules.joint_table import joints_of
from iap_control.modules.settings import ModuleJointSpec, modules_tree
from iap_description.config.record import validate
from iap_description.config.values import Positive, Vec3
from iap_description.vehicles.faults import MotorFault
from iap_physics.plant.joint_spec import PlantJoint, PlantJoints
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

MAX_MODULES = 8  # chain


class _Chain(BaseModel):
    """Keys of `modules` that make a chain.

    Attributes:
        count: of modules.
        size: from one to the next [m].
        joints: between them.
    """

    count: Annotated[int, Field(strict=True, ge=1, le=MAX_MODULES)]
    size: Positive
    joints: dict[str, Any] | None = None


class _Offset(BaseModel):
    """Place where a vehicle flies [m]."""

    offset: Vec3


class _Offsets(BaseModel):
    """Places where vehicles fly."""

    vehicles: Annotated[list[_Offset], Field(min_length=1)]


def with_modules(tree: dict[str, Any], source: str) -> dict[str, Any]:
    """A scenario's tree with the preset of its key `modules` written out, and so many vehicles as `modules.count` says.

    Vehicles are copies of the first, m1, m2, ... along x, and joined from the start; joints stay as they are where
    there are as many already.

    Raises:
        BadInput: no such preset, or no such chain.
    """
    modules = modules_tree(tree.get("modules"), source)
    out = {**tree, "modules": modules}
    count = modules.get("count") if isinstance(modules, dict) else None
    vehicles = tree.get("vehicles")
    if not isinstance(modules, dict) or count is None or not isinstance(vehicles, list):
        return out
    chain = validate(_Chain, modules, source=source, prefix="modules")
    offsets = validate(_Offsets, {"vehicles": vehicles}, source=source).vehicles
    middle = sum(each.offset[0] for each in offsets) / len(vehicles)
    out["vehicles"] = []
    for i in range(chain.count):
        along = middle + (i - 0.5 * (chain.count - 1)) * chain.size
        offset = [along, *offsets[0].offset[1:]]
        module = {**copy.deepcopy(vehicles[0]), "name": f"m{i + 1}", "offset": offset}
        out["vehicles"].append(module)
    if chain.joints is None or len(chain.joints) != chain.count - 1:
        out["modules"] = {**modules, "joints": _joints(chain.count)}
    return out


def _joints(count: int) -> dict[str, Any]:
    """Joints of a chain, each module docked onto the one before."""
    joints = {
        f"j{i}": ModuleJointSpec(leader=f"m{i}", face="+x", follower=f"m{i + 1}", joined=True)
        for i in range(1, count)
    }
    return {name: joint.model_dump(mode="json") for name, joint in joints.items()}


def is_coordinated(scenario: Scenario) -> bool:
    """True if a scenario has modules with joints between them."""
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
