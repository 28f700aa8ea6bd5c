# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a vehicle as its keys ask for them: timeline, model, controller, control of its arm, stream of its noise."""

import numpy as np

from iap_control.actuation.kinds import platform_model
from iap_control.allocation.model import PlatformModel, check_axes
from iap_control.arm.arm_control import ArmControl
from iap_control.controllers.controller import Controller, make_controller
from iap_control.interaction.push import pushed_axes
from iap_control.references.replay import RecordedCommand
from iap_control.references.timeline import Leads, Timeline, flight_timeline
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_description.vehicles.assembly import Assembly
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

STATE_NOISE = "{}/state_noise"  # stream of a vehicle's state noise, by its name


def state_noise_stream(seed: int, name: str) -> np.random.Generator:
    """The generator of a vehicle's state noise."""
    return stream(seed, STATE_NOISE.format(name))


def controller_model(
    scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly
) -> PlatformModel:
    """The controller's model of a vehicle."""
    com_coupling = vehicle.control.gains.com_coupling
    gravity, fleet = scenario.world.gravity, vehicle.platform.fleet
    return platform_model(assembly, fleet, gravity=gravity, com_coupling=com_coupling)


def vehicle_controller(
    scenario: Scenario, vehicle: VehicleSpec, model: PlatformModel
) -> Controller:
    """The controller that a vehicle's keys ask for.

    Raises:
        BadInput: there is none for this platform, or the platform cannot push as it shall.
    """
    control = vehicle.control
    controller = make_controller(
        control.law, model, control.gains, dt=scenario.dt, yaw_mode=control.yaw
    )
    if vehicle.push is not None and control.wrench_mode != "none":
        check_axes(model, pushed_axes(vehicle.push), vehicle.name)
    return controller


def vehicle_timeline(
    scenario: Scenario,
    vehicle: VehicleSpec,
    model: PlatformModel,
    recorded: RecordedCommand | None,
) -> Timeline:
    """References of a vehicle at every control instant.

    Raises:
        BadInput: the platform cannot follow them.
    """
    height = vehicle.platform.ground_clearance if vehicle.start.mode == "ground" else None
    leads = Leads(vehicle.start.lead_in, height)
    line = flight_timeline(vehicle.reference, leads, scenario.dt, recorded)
    yaw_deg = vehicle.control.aircraft_yaw_deg
    yaw = None if yaw_deg is None else np.deg2rad(yaw_deg)
    line = line.placed(np.array(vehicle.offset), model.mount_yaw, yaw)
    if scenario.duration is not None:
        line = line.cut(scenario.duration)
    model.actuation.check_references(model, line, vehicle.name)
    return line


def arm_control(
    scenario: Scenario,
    vehicle: VehicleSpec,
    assembly: Assembly,
    model: PlatformModel,
    line: Timeline,
) -> ArmControl | None:
    """The control of a vehicle's arm, whose motion begins with that of the platform; None without an arm.

    Raises:
        BadInput: the motion does not fit the arm, or no controller flies such a platform while its arm moves.
    """
    if assembly.arm is None:
        return None
    if model.actuation.arm_refusal is not None:
        raise BadInput(
            f"vehicle '{vehicle.name}': key 'platform.arm': {model.actuation.arm_refusal}"
        )
    return ArmControl.of(
        assembly.arm, model, vehicle.arm, lead=line.lead, last=line.last, dt=scenario.dt
    )
