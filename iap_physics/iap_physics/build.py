# SPDX-License-Identifier: BSD-3-Clause
"""Builds a plant with all its parts from a specification."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_physics.air.batch_air import GUSTS, Air
from iap_physics.air.wind import generators
from iap_physics.arm.batch_grippers import BatchGrippers, GrippingBatch
from iap_physics.arm.gripper import Gripper
from iap_physics.arm.servo_steps import check_servos
from iap_physics.engines.engine import Engine
from iap_physics.engines.make import make_engine
from iap_physics.firmware.firmware import Firmware
from iap_physics.firmware.kinds import make_firmware
from iap_physics.firmware.rotor_places import AutopilotMount
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.latching.batch_latches import BatchLatches, LatchingBatch
from iap_physics.latching.latches import Latches
from iap_physics.latching.rotor_stops import RotorStops
from iap_physics.modules.proximity import ModuleProximity
from iap_physics.plant.clearance import check_clearance
from iap_physics.plant.contact_wrenches import (
    BatchContactWrenches,
    ContactSums,
    ContactWrenches,
)
from iap_physics.plant.disturbances import Disturbances
from iap_physics.plant.firmware_flight import FirmwareFlight
from iap_physics.plant.part import PlantPart
from iap_physics.plant.period_flight import DEFAULT_OPTIONS, PlantOptions
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_faults import PlantFaults
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.touchdowns import Touchdowns
from iap_physics.plant.vehicle_spec import PlantVehicle
from iap_physics.propulsion.propulsion import Propulsion, propulsion_of


def engine_of(spec: PlantSpec, *, view: bool = False) -> Engine:
    """A fresh engine for the plant of a specification, not loaded yet.

    Args:
        spec: of the plant.
        view: open the engine's window, of an engine that has one.

    Raises:
        BadInput: no such engine, it needs what is not installed, or a window of a plant without bodies.
    """
    if spec.identified is None:
        return make_engine(spec.engine, view=view)
    if view:
        raise BadInput("--view: a plant identified from logs has no bodies to be seen")
    return IdentifiedEngine()


def build_plant(
    spec: PlantSpec,
    engine: Engine,
    probes: Sequence[PlantPart] = (),
    options: PlantOptions = DEFAULT_OPTIONS,
) -> Plant:
    """The plant of a specification at its start, the same in all worlds of an engine that is loaded here.

    Args:
        spec: of the plant.
        engine: not loaded yet.
        probes: parts that measure; the caller reads them.
        options: how the plant computes.

    Raises:
        BadInput: a vehicle starts inside an object of the world or folded into itself, or the servos of an arm are
            unstable at this time step.
    """
    assemblies = [vehicle.assembly for vehicle in spec.vehicles]
    if isinstance(engine, IdentifiedEngine) and spec.identified is not None:
        engine.identify(spec.identified, spec.seed, spec.dt)
    engine.load(spec.world, assemblies, np.repeat(spec.start, engine.batch, axis=0))
    for assembly in assemblies if spec.identified is None else ():
        if assembly.arm is not None:
            check_servos(assembly.name, assembly.arm, 1.0 / spec.rates.physics_hz)
    pairs = zip(assemblies, spec.vehicles, strict=True)
    airframes = [vehicle.airframe(assembly) for assembly, vehicle in pairs]
    rates, gravity = spec.rates, spec.world.gravity
    propulsion = propulsion_of(
        airframes, engine.batch, physics_hz=rates.physics_hz, gravity=gravity
    )
    air = Air(spec.wind, generators(spec.rng(GUSTS), engine.batch), has_drag=spec.has_drag)
    parts = [*_parts(spec, engine, assemblies, propulsion), *probes]
    plant = Plant(engine, propulsion, air, spec.rates, parts, options)
    plant.begin(spec)
    check_clearance(engine.contacts(), [each.rows for each in plant.propulsion], spec)
    return plant


def _parts(
    spec: PlantSpec,
    engine: Engine,
    assemblies: Sequence[Assembly],
    propulsion: Sequence[Propulsion],
) -> list[PlantPart]:
    """The parts of a specification, in the order in which they act."""
    vehicles, rows = spec.vehicles, [each.rows.start for each in propulsion]
    parts: list[PlantPart] = [
        PlantFaults(i, vehicle.faults, propulsion[i], spec.rates.control_hz)
        for i, vehicle in enumerate(vehicles)
        if vehicle.faults
    ]
    parts.extend(_firmwares(spec, propulsion))
    if spec.gripper is not None and isinstance(engine, GrippingBatch):
        dt = 1.0 / spec.rates.physics_hz
        parts.append(BatchGrippers.of(spec.gripper, engine, spec.world, rows, dt))
    elif spec.gripper is not None:
        parts.append(Gripper.of(spec.gripper, engine, spec.world, rows))
    if any(vehicle.disturbances for vehicle in vehicles):
        parts.append(Disturbances([vehicle.disturbances for vehicle in vehicles]))
    proximity = ModuleProximity.of(spec)
    if proximity is not None:
        parts.append(proximity)
    if spec.latches:
        parts.extend(_latching(spec, engine, assemblies, propulsion))
    measured = {i: rows[i] for i, each in enumerate(vehicles) if each.wrench_filter is not None}
    if measured and isinstance(engine, ContactSums):
        parts.append(BatchContactWrenches(engine, measured, spec.rates.substeps))
    elif measured:
        parts.append(ContactWrenches(engine, measured, parts))
    clearances = {i: v.platform.ground_clearance for i, v in enumerate(vehicles) if v.may_land}
    is_alone = engine.batch == 1 and not isinstance(engine, ContactSums)
    if clearances and is_alone and spec.world.has_ground:
        names, hover = [v.name for v in vehicles], [sum(v.hover_thrust) for v in vehicles]
        dt = 1.0 / spec.rates.physics_hz
        parts.append(Touchdowns(engine, propulsion, clearances, names, hover, dt))
    return parts


def _latching(
    spec: PlantSpec,
    engine: Engine,
    assemblies: Sequence[Assembly],
    propulsion: Sequence[Propulsion],
) -> list[PlantPart]:
    """The latches of a specification, and what stops the rotors of vehicles that they hold."""
    ends = [vehicle.platform.ends for vehicle in spec.vehicles]
    how = (spec.latches, assemblies, ends, spec.world.objects)
    latches: BatchLatches | Latches
    if isinstance(engine, LatchingBatch):
        latches = BatchLatches(engine, *how)
    else:
        latches = Latches(engine, *how)
    by_name = {each.name: p for each, p in zip(spec.vehicles, propulsion, strict=True)}
    stops = RotorStops.of(latches, spec.latches, by_name)
    return [latches] if stops is None else [latches, stops]


def _firmwares(spec: PlantSpec, propulsion: Sequence[Propulsion]) -> list[FirmwareFlight]:
    """The firmwares that fly in place of autopilots, of each vehicle that has some."""
    out: list[FirmwareFlight] = []
    count = 0
    for i, vehicle in enumerate(spec.vehicles):
        if vehicle.firmware is None:
            continue
        flight = FirmwareFlight(
            i,
            vehicle.name,
            vehicle.firmware,
            propulsion[i],
            physics_hz=spec.rates.physics_hz,
            gravity=spec.world.gravity,
            make=partial(_firmware, spec, vehicle, count),
        )
        out.append(flight)
        count += len(vehicle.platform.fleet)
    return out


def _firmware(spec: PlantSpec, vehicle: PlantVehicle, first: int, number: int) -> Firmware:
    """The firmware of a vehicle's aircraft; `first` is the number of its first one among all that firmwares fly."""
    assert vehicle.firmware is not None  # noqa: S101 - the caller has looked
    rng = spec.rng(f"firmware/{first + number}")
    aircraft = AutopilotMount.of(vehicle.platform.fleet[number]).aircraft
    return make_firmware(vehicle.firmware, aircraft, first + number, rng)
