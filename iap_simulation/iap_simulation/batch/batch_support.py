# SPDX-License-Identifier: BSD-3-Clause
"""Support of scenarios in many worlds at once: refusals, the memory that they need, and devices that fly them."""

import re
import resource
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from iap_control.actuation.kinds import laws
from iap_control.controllers.controller import AUTO
from iap_description.errors import BadInput, IapError, shown
from iap_description.vehicles.assembly import Assembly
from iap_description.world.obstacles import Obstacles
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.batch.layout import rows_of
from iap_physics.engines.make import BATCHES
from iap_sensors.mounted.motion_capture import KEY as MOTION_CAPTURE
from iap_sensors.mounted.sampling import nearest_rate
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA
from iap_sensors.rays.lidar_spec import LIDAR
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

if TYPE_CHECKING:
    from iap_simulation.batch.on_cuda import Gpu

Device = Literal["cpu", "cuda"]
CPU: Final = "cpu"
CUDA: Final = "cuda"  # an NVIDIA GPU
ENGINE = "closed_form"  # that flies them unless another one is named
IN_CONTACT = ("mujoco",)  # engines in which things touch
ROW_BYTES = 24  # per world and row of its blocks, with what is made of them
NOISE_BYTES = 8000  # per world, of noise drawn ahead
IMU_BYTES = 9000  # per world and inertial unit
SENSOR_TOPICS = (
    "imu",
    "mag",
    DEPTH_CAMERA,
    LIDAR,
    MOTION_CAPTURE,
)  # of worlds; the second is not measured

# Draws by which worlds differ in more than start and noise.
DEVIATIONS = (
    "mass",
    "inertia",
    "com",
    "drag",
    "thrust",
    "rotor_lag",
    "delay",
    "force",
    "torque",
    "wind_speed",
    "wind_direction_deg",
)


OF_OBJECTS = (
    "friction",
    "stiffness",
    "object_mass",
    "hinge_friction",
    "hinge_damping",
    "hinge_stiffness",
    "hinge_release",
    "face_speed",
)
OF_MOTIONS = ("motion_speed", "motion_turn_deg", "motion_shift")
STATE_SOURCES = (TRUTH, CAPTURE_INERTIAL)  # of worlds
REFUSED = ("docking", "modules")
NO_WHOLE_SAMPLES = "imu: a control period holds no whole number of samples"


def deviates(scenario: Scenario) -> bool:
    """Tell if seeds differ in what flies, in its wind, or in what it meets."""
    is_drawn = any(getattr(scenario.draw, key) > 0.0 for key in DEVIATIONS)
    meets = scenario.engine.name in IN_CONTACT
    fields = [each for each in scenario.world.objects.values() if isinstance(each, Obstacles)]
    draw = scenario.draw
    is_moved = any(map(np.any, (draw.object_position, draw.object_rpy_deg, draw.loose_position)))
    is_drawn_object = any(getattr(draw, key) > 0.0 for key in OF_OBJECTS + OF_MOTIONS) or is_moved
    differs = is_drawn_object or any(field.seed is None for field in fields)
    return is_drawn or bool(meets and differs)


def unsupported(scenario: Scenario) -> str | None:
    """Why a scenario cannot be flown in many worlds at once, in one line; None where it can."""
    engine, count = scenario.engine.name, len(scenario.vehicles)
    has_units = any(vehicle.sensors.imu is not None for vehicle in scenario.vehicles)
    reasons = {
        f"engine.name: {engine}": engine not in BATCHES,
        f"vehicles: several in one world in {engine} (engine.name: mujoco has them)": count > 1
        and engine not in IN_CONTACT,
        **{key: getattr(scenario, key) is not None for key in REFUSED},
        f"latches in {engine}": bool(scenario.latches) and engine not in IN_CONTACT,
        "plant": scenario.identified is not None,
        "sensors.imu of several vehicles": count > 1 and has_units,
        NO_WHOLE_SAMPLES: not samples_fit(scenario),
        "sensors.cameras": bool(scenario.cameras),
    }
    what = next((what for what, is_so in reasons.items() if is_so), None)
    if what is not None or count == 1:
        return what or _unsupported_vehicle(scenario, scenario.vehicles[0])
    each = ((spec.name, _unsupported_vehicle(scenario, spec)) for spec in scenario.vehicles)
    return next((f"vehicle '{name}': {why}" for name, why in each if why is not None), None)


def _unsupported_vehicle(scenario: Scenario, vehicle: VehicleSpec) -> str | None:
    """Why a vehicle cannot be flown in many worlds at once, in one line; None where it can."""
    engine, law, source = scenario.engine.name, vehicle.control.law, vehicle.control.state_source
    resists = any(joint.resists for joint in Assembly.of(vehicle.platform, vehicle.name).joints)
    reasons = {
        "sensors besides inertial units, depth cameras by rays, lidars and motion captures": bool(
            set(vehicle.sensors.topics) - set(SENSOR_TOPICS)
        ),
        f"control.state_source: {source}": source not in STATE_SOURCES,
        f"control.state_source: {source}, of several vehicles or with an arm": source != TRUTH
        and (len(scenario.vehicles) > 1 or vehicle.platform.arm is not None),
        f"control.law: {law} in {engine}": law not in (AUTO, *laws()) and engine not in IN_CONTACT,
        f"platform.arm in {engine}": vehicle.platform.arm is not None and engine not in IN_CONTACT,
        "faults": bool(vehicle.faults),
        "firmware": vehicle.firmware is not None,
        "recorded wrenches": getattr(vehicle.reference, "wrench_topic", None) is not None,
        "vehicles that are drawn, on joints with friction or stops": resists
        and deviates(scenario),
        f"vehicles that are drawn, whose autopilots have a rate_loop, in {engine} (engine.name: mujoco has them)": (
            vehicle.control.gains.autopilot.rate_loop is not None
            and deviates(scenario)
            and engine not in IN_CONTACT
        ),
        f"contact, or a disturbance whose wrench is measured, in {engine} (engine.name: mujoco"
        " has them)": scenario.has_contact(vehicle) and engine not in IN_CONTACT,
    }
    return next((what for what, is_so in reasons.items() if is_so), None)


def samples_fit(scenario: Scenario) -> bool:
    """Tell if inertial units, if there are any, sample equally often in every control period."""
    unit, rates = scenario.vehicles[0].sensors.imu, scenario.rates
    return unit is None or rates.substeps % nearest_rate(unit.rate, rates.physics_hz)[1] == 0


def refuse_estimates(scenario: Scenario, source: str) -> None:
    """Refuse worlds whose vehicles go by estimates, for those who look at the truth.

    Raises:
        BadInput: one does.
    """
    for vehicle in scenario.vehicles:
        method = vehicle.control.state_source
        if method != TRUTH:
            raise BadInput(
                f"key 'control.state_source': {shown(method)}, but in many worlds {source} goes by the truth"
            )


def check_memory(worlds: int, vehicles: Sequence[VehicleSpec]) -> None:
    """Refuse more worlds with these vehicles than this machine has memory for.

    Raises:
        BadInput: saying how much they need.
    """
    each = sum(map(_bytes_of, vehicles))
    check_fits(worlds * each, f"worlds: {worlds} of them")


def _bytes_of(vehicle: VehicleSpec) -> int:
    """Memory of a vehicle in one world [B]."""
    bodies = 1 + len(vehicle.platform.joints)
    units = 0 if vehicle.sensors.imu is None else bodies
    return ROW_BYTES * rows_of(bodies) + NOISE_BYTES + IMU_BYTES * units


def check_fits(needed: float, what: str) -> None:
    """Refuse what needs more bytes than this machine has free.

    Raises:
        BadInput: saying how much it needs.
    """
    free = _free_memory()
    if needed > free:
        raise BadInput(
            f"{what} need about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
        )


def _free_memory() -> int:
    """Bytes that this process can still have, after Linux's own estimate and the limit that it was started with."""
    match = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    if match is None:
        raise IapError("/proc/meminfo does not say how much memory is free")
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    free = 1024 * int(match.group(1))
    return free if limit == resource.RLIM_INFINITY else min(free, limit)


def check_device(device: str) -> None:
    """Refuse a device that cannot fly worlds here.

    Raises:
        BadInput: there is none of that name or on this machine, or its extra is not installed.
    """
    if device not in get_args(Device):
        raise BadInput(f"device '{device}': {' or '.join(get_args(Device))} is expected")
    if device == CUDA:
        import_module("iap_simulation.batch.on_cuda").check_gpu()


def gpu_of(device: Device) -> "Gpu | None":
    """The memory of the GPU for worlds of device ``cuda``; None for others."""
    if device == CPU:
        return None
    gpu: Gpu = import_module("iap_simulation.batch.on_cuda").Gpu()
    return gpu
