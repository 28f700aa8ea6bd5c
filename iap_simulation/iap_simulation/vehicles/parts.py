# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a vehicle as its keys ask for them: timeline, model, controller, control of its arm, stream of its noise."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from iap_control.actuation.kinds import platform_model
from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel, check_axes
from iap_control.arm.arm_control import ArmControl
from iap_control.controllers.controller import Controller, make_controller
from iap_control.controllers.land_detector import LandDetector
from iap_control.interaction.push import pushed_axes
from iap_control.laws.tracking import gravity_wrench
from iap_control.references.motions import Replay
from iap_control.references.replay import RecordedCommand
from iap_control.references.timeline import Leads, Timeline, flight_timeline
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.states import (
    REF_A,
    REF_FIXED,
    REF_P,
    REF_Q,
    Command,
    Level,
    Mode,
    resting_state,
)
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_physics.engines.joints import joined_rows
from iap_sensors.mounted.motion_capture import KEY as CAPTURE
from iap_sensors.mounted.motion_capture import vehicle_bias
from iap_simulation.scenario.firmware_checks import law_of
from iap_simulation.scenario.randomization import drawn_deviation, drawn_start
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def vehicle_start(
    scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array, Array, Array]:
    """State rows (bodies, 13), rotor speeds [rpm] and angles [rad] (N, 4) and hover thrusts (N,) [N], as a seed draws.

    Args:
        scenario: whose seed counts.
        vehicle: of it.
        assembly: of the controller's model.
        model: of the controller.
        row: the reference row (19 + N) that the start is displaced from.
    """
    drawn = drawn_start(row, scenario, vehicle)
    deviated = drawn_deviation(scenario, vehicle).assembly(assembly)
    start, rpm, tilt = _start(vehicle, deviated, model, drawn)
    hover = _balanced(vehicle, model, so3.IDENTITY, drawn[REF_FIXED:])
    return start, rpm, tilt, _thrust(hover, vehicle)


def _start(
    vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array, Array]:
    """Bodies, rotor speeds and angles at the first reference: hovering in balance, or standing with the rotors idle."""
    base = resting_state(row[REF_P], row[REF_Q])
    rotors = [aircraft.rotor for aircraft in vehicle.platform.fleet]
    upright = np.zeros((len(rotors), 4))
    if vehicle.start.mode == "ground":
        idle = [each.rotor.rpm_min * each.presence for each in vehicle.platform.fleet]
        return joined_rows(assembly, base), np.array(idle), upright
    command = _balanced(vehicle, model, base[3:7], row[REF_FIXED:])
    if command.mode == Mode.RPM:
        return joined_rows(assembly, base), command.rpm.copy(), command.tilt.copy()
    rpm = np.sqrt(command.thrust / (4.0 * np.array([each.c_f for each in rotors])))
    rows = joined_rows(assembly, base, q_WB=command.q_WB)
    return rows, np.repeat(rpm[:, None], 4, axis=1), upright


def _balanced(vehicle: VehicleSpec, model: PlatformModel, q_WP: Array, headings: Array) -> Command:
    """The command that carries the platform at rest, at its attitude (4,) and headings (N,) [rad]."""
    weight = np.empty(6)
    gravity_wrench(model.inertia.mass, model.inertia.d_0, model.inertia.gravity, q_WP, weight)
    trial = Allocator(model, rate_filter=vehicle.control.gains.rate_filter, dt=1.0)
    return trial(-weight, q_WP, headings)


def _thrust(command: Command, vehicle: VehicleSpec) -> Array:
    """Thrusts (N,) of the aircraft under a command that carries the platform [N]."""
    if command.mode == Mode.RPM:
        fleet = vehicle.platform.fleet
        per_square = np.array([aircraft.rotor.c_f for aircraft in fleet])
        return per_square * (command.rpm**2).sum(axis=1)
    return command.thrust.copy()


TOUCH = 0.02  # depth that a reference may be below where the platform stands [m]
CHECKED, CHECKED_REPLAY = 500, 20_000  # instants at which a reference is looked at
THRUST_MARGIN = 1.25  # of all thrusts together, that a recorded command may ask for at an instant
STATE_NOISE = "{}/state_noise"  # stream of a vehicle's state noise, by its name


def state_noise_stream(seed: int, name: str) -> np.random.Generator:
    """The generator of a vehicle's state noise."""
    return stream(seed, STATE_NOISE.format(name))


def marker_bias(vehicle: VehicleSpec, assembly: Assembly) -> Callable[[int], Array]:
    """Offset of a vehicle's markers in the flight of a seed (3,) [m]; zero where it goes by no capture."""
    if vehicle.control.state_source != CAPTURE_INERTIAL:
        return _no_bias
    return partial(vehicle_bias, vehicle.sensors.mounted[CAPTURE], assembly)


def _no_bias(seed: int) -> Array:  # noqa: ARG001 - as of a capture
    return np.zeros(3)


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
        law_of(vehicle, model), model, control.gains, dt=scenario.dt, yaw_mode=control.yaw
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
    leads = Leads(vehicle.start.lead_in, height, model.inertia.mass)
    line = flight_timeline(vehicle.reference, leads, scenario.dt, recorded)
    yaw_deg = vehicle.control.aircraft_yaw_deg
    yaw = None if yaw_deg is None else np.deg2rad(yaw_deg)
    line = line.placed(np.array(vehicle.offset), model.mount_yaw, yaw)
    if scenario.duration is not None:
        line = line.cut(scenario.duration)
    model.actuation.check_references(model, line, vehicle.name)
    check_feasible(scenario, vehicle, model, line)
    return line


def check_feasible(
    scenario: Scenario, vehicle: VehicleSpec, model: PlatformModel, line: Timeline
) -> None:
    """Refuse references into the ground, and recorded ones that ask for more thrust than there is, before the flight.

    Raises:
        BadInput: naming where, and what mends it.
    """
    is_replay = isinstance(vehicle.reference, Replay)
    t, rows = _motion_rows(line, CHECKED_REPLAY if is_replay else CHECKED)
    lands = vehicle.start.mode == "ground" and not is_replay
    if len(t) and scenario.world.has_ground and not lands and scenario.modules is None:
        _check_height(vehicle, t, rows[:, REF_P] + line.offset)
    if len(t) and is_replay:
        _check_thrust(vehicle, model, t, rows[:, REF_A])


def _check_height(vehicle: VehicleSpec, t: Array, p: Array) -> None:
    """Refuse positions (K, 3) [m] at times (K,) [s] below the height that the platform stands at."""
    z = p[:, 2]
    stands, worst = vehicle.platform.ground_clearance, int(np.argmin(z))
    if z[worst] >= stands - TOUCH:
        return
    x, y, offset = vehicle.offset
    raised = math.ceil(round(100.0 * (offset + stands + 0.3 - float(z[worst])), 6)) / 100.0
    is_replay = isinstance(vehicle.reference, Replay)
    ned = "; --convention ned reads NED/FRD" if is_replay else ""
    if is_replay and p[:, 1].min() > -TOUCH and p[:, 1].max() > stands:
        ned += ", y-up takes y as the height"
    raise BadInput(
        f"vehicle '{vehicle.name}': its reference goes down to z = {z[worst]:.3f} m at t = {t[worst]:.2f} s, where"
        f" {vehicle.platform.name} stands on the ground at {stands:.3f} m: --set"
        f" 'offset=[{x:g},{y:g},{raised:g}]' raises it{ned}"
    )


def _check_thrust(vehicle: VehicleSpec, model: PlatformModel, t: Array, a: Array) -> None:
    """Refuse accelerations (K, 3) [m/s^2] at times (K,) [s] beyond all thrusts together."""
    most = float(model.rotor_limits[1].sum()) / model.inertia.mass
    specific = np.linalg.norm(a + [0.0, 0.0, model.inertia.gravity], axis=1)
    worst = int(np.argmax(specific))
    if specific[worst] > THRUST_MARGIN * most:
        raise BadInput(
            f"vehicle '{vehicle.name}': the recorded command asks for {np.linalg.norm(a[worst]):.1f} m/s^2 at"
            f" t = {t[worst]:.2f} s, and {vehicle.platform.name} has thrust for {most:.1f} with gravity: are"
            f" set-points too"
            " far apart (--max-speed V follows them at V m/s), or the unit another (--scale)? --from and --to cut it"
            " out, --platform flies another"
        )


def _motion_rows(line: Timeline, most: int) -> tuple[Array, Array]:
    """Times [s] and rows of a timeline's motion where poses are tracked, at no more instants than `most`."""
    begin, first = 0, round(line.lead / line.dt)
    for part in line.parts:
        if begin == first and part.level == Level.POSE:
            count = min(part.count, max(1, round(line.window[1] / line.dt) - first + 1))
            k = np.unique(np.linspace(0.0, count - 1.0, most).round())
            return (first + k) * line.dt, part.made(k)
        begin += part.count
    return np.zeros(0), np.zeros((0, REF_FIXED))


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


def land_detector(
    scenario: Scenario, vehicle: VehicleSpec, model: PlatformModel
) -> LandDetector | None:
    """The land detector of a vehicle whose flight ends on the ground; None of others."""
    if vehicle.start.mode != "ground" or not scenario.world.has_ground:
        return None
    inertia = model.inertia
    return LandDetector(vehicle.platform.ground_clearance, inertia.mass, inertia.gravity)


def check_times(scenario: Scenario, duration: float) -> None:
    """Refuse faults that would strike after a flight's end [s]."""
    for i, spec in enumerate(scenario.vehicles):
        for j, fault in enumerate(spec.faults):
            if fault.at >= duration:
                key = f"faults.{j}.at"
                if len(scenario.vehicles) > 1:
                    key = f"vehicles.{i}.{key}"
                raise BadInput(
                    f"key '{key}': {fault.at:g} s, but the flight ends at {duration:g} s"
                )
