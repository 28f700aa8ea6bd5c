# SPDX-License-Identifier: BSD-3-Clause
"""The start of a vehicle: hovering in balance at its first reference, or standing on the ground."""

import numpy as np

from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel
from iap_control.laws.tracking import gravity_wrench
from iap_description.arrays import Array
from iap_description.states import REF_FIXED, REF_P, REF_Q, Command, Mode, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.joints import joined_rows
from iap_simulation.scenario.randomization import drawn_deviation, drawn_start
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

LEVEL: Array = np.array([0.0, 0.0, 0.0, 1.0])  # attitude


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
    flown = drawn_deviation(scenario, vehicle).assembly(assembly)
    start, rpm, tilt = _start(vehicle, flown, model, drawn)
    hover = _balanced(vehicle, model, LEVEL, drawn[REF_FIXED:])
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
