# SPDX-License-Identifier: BSD-3-Clause
"""A scenario's plant, for one process and for physics_node alike."""

from collections.abc import Sequence

import numpy as np

from iap_description.math import so3
from iap_description.states import resting_state
from iap_description.vehicles.faults import SensorFault
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.identified.spec import IdentifiedSpec
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.vehicle_spec import InertialUnitsSpec, PlantVehicle
from iap_sensors.mounted.sampling import nearest_rate
from iap_simulation.scenario.modules import motor_faults, plant_joints
from iap_simulation.scenario.randomization import (
    drawn_arm_starts,
    drawn_deviation,
    drawn_imu_mounts,
    drawn_latches,
    drawn_wind,
    drawn_world,
    friction_factor,
)
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.vehicle import Vehicle, vehicles_of


def plant_spec(scenario: Scenario, vehicles: Sequence[Vehicle] | None = None) -> PlantSpec:
    """The plant of a scenario, with what its seed draws.

    Args:
        scenario: resolved.
        vehicles: made of it, if they are there already.

    Raises:
        BadInput: a recorded command cannot be used, or a body has no mount for an inertial unit.
    """
    made = vehicles_of(scenario) if vehicles is None else vehicles
    return PlantSpec(
        seed=scenario.seed,
        rates=scenario.rates,
        engine=scenario.engine.name,
        world=drawn_world(scenario),
        wind=drawn_wind(scenario),
        has_drag=scenario.has_drag,
        vehicles=tuple(
            _vehicle(scenario, spec, vehicle)
            for spec, vehicle in zip(scenario.vehicles, made, strict=True)
        ),
        latches=drawn_latches(scenario),
        modules=plant_joints(scenario),
        gripper=scenario.gripper,
        grips_in_step=_grips_in_step(scenario),
        identified=_identified(scenario),
    )


def _grips_in_step(scenario: Scenario) -> bool:
    """True if a policy commands the gripper."""
    gripper = scenario.gripper
    return gripper is not None and gripper.is_commanded and scenario.policy is not None


def _identified(scenario: Scenario) -> IdentifiedSpec | None:
    """The identified plant with its drawn start; None of bodies."""
    plant = scenario.identified
    if plant is None:
        return None
    poses, joints = drawn_arm_starts(scenario, np.array([scenario.seed]))
    *position, yaw = poses[0].tolist()
    return IdentifiedSpec(
        **plant.model_dump(exclude={"type"}), position=position, yaw=yaw, joints=joints[0].tolist()
    )


def _vehicle(scenario: Scenario, spec: VehicleSpec, vehicle: Vehicle) -> PlantVehicle:
    control, push = spec.control, vehicle.push
    start, rpm = vehicle.start, vehicle.start_rpm
    if scenario.identified is not None:
        poses, _ = drawn_arm_starts(scenario, np.array([scenario.seed]))
        turn = so3.quaternion_exp(np.array([0.0, 0.0, poses[0, 3]]))
        start, rpm = resting_state(poses[:, :3], turn[None]), np.zeros_like(rpm)
    is_noisy = any(spec.state_noise.model_dump().values())
    return PlantVehicle(
        name=spec.name,
        platform=spec.platform,
        deviation=drawn_deviation(scenario, spec),
        friction_factor=friction_factor(scenario),
        autopilot=control.gains.autopilot,
        firmware=spec.firmware,
        start=start.tolist(),
        start_rpm=rpm.tolist(),
        start_tilt=vehicle.start_tilt.tolist(),
        hover_thrust=vehicle.hover_thrust.tolist(),
        disturbances=spec.disturbances,
        faults=(
            *(f for f in spec.faults if not isinstance(f, SensorFault)),
            *motor_faults(scenario, spec),
        ),
        state_noise=spec.state_noise if is_noisy else None,
        wrench_filter=control.wrench_filter if scenario.has_contact(spec) else None,
        imu=_imu(scenario, spec),
        flies_on_estimate=control.state_source != TRUTH,
        joints_in_step=vehicle.arm is not None and not vehicle.arm.is_given,
        may_land=vehicle.on_ground,
        lost_after=None if push is None else push.lost_after,
        push_hold=None if push is None else push.hold,
    )


def _imu(scenario: Scenario, spec: VehicleSpec) -> InertialUnitsSpec | None:
    unit = spec.sensors.imu
    if unit is None:
        return None
    _, every = nearest_rate(unit.rate, scenario.rates.physics_hz)
    return InertialUnitsSpec.of(drawn_imu_mounts(scenario, spec), every, unit.sampling)
