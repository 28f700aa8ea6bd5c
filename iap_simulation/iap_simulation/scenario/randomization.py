# SPDX-License-Identifier: BSD-3-Clause
"""Draws of every seed: a scenario's key `draw`.

Each quantity has a stream of its own, so that one more of them changes no other.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iap_control.references.poses_and_lines import Hover
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_description.math.random_streams import uniform, uniforms
from iap_description.sensors.mounts import SensorMount, displacements, imu_mounts
from iap_description.states import REF_P, REF_Q
from iap_description.vehicles.arm import Arm
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Latch
from iap_description.world.hinge import Hinge
from iap_description.world.object_motions import ObjectMotion
from iap_description.world.objects import WorldObject
from iap_description.world.obstacles import Obstacles
from iap_description.world.world import World
from iap_physics.air.wind import Wind
from iap_physics.plant.vehicle_spec import scaled_friction
from iap_physics.propulsion.deviation import Deviation
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.scenario_keys import Draw
from iap_simulation.scenario.vehicle_spec import VehicleSpec

OBSTACLES = "obstacles/{}"  # stream of a field, by its name
START = "{}/start"  # stream of a vehicle's start, by its name
HINGE_TORQUES = ("friction", "damping", "stiffness")
ARM_START = "arm/start"  # stream of a start on an identified plant


def drawn_start(row: Array, scenario: Scenario, vehicle: VehicleSpec) -> Array:
    """A reference row (19+) whose pose is displaced, of a vehicle that is held in place its attitude alone."""
    out, draw = row.copy(), scenario.draw
    dice = uniform(scenario.seed, START.format(vehicle.name), 6)
    if not vehicle.start.fixed:
        out[REF_P] += np.array(draw.position) * dice[:3]
    turn = so3.quaternion_exp(np.deg2rad(draw.attitude_deg) * dice[3:])
    out[REF_Q] = so3.multiply(row[REF_Q], turn)
    return out


def drawn_arm_starts(scenario: Scenario, seeds: Integers) -> tuple[Array, Array]:
    """Starts of flights on an identified plant with seeds (n,).

    Returns:
        Poses (n, 4), position [m] and heading [rad], and joint coordinates (n, joints) [rad].

    Raises:
        BadInput: what may be drawn of a joint is beyond its limits.
    """
    vehicle, draw = scenario.vehicles[0], scenario.draw
    arm, hover = vehicle.platform.arm, vehicle.reference
    assert arm is not None and isinstance(hover, Hover)  # noqa: S101 - as the plant needs them
    _check_joints(arm, draw.joints_deg)
    turns = draw.attitude_deg if isinstance(draw.attitude_deg, tuple) else (draw.attitude_deg,) * 3
    dice = uniforms(seeds, ARM_START, 4 + len(arm.joints))
    place = np.array([*hover.position, np.deg2rad(hover.rpy_deg[2])])
    spread = np.append(np.broadcast_to(draw.position, 3), np.deg2rad(turns[2]))
    wide = np.deg2rad(draw.joints_deg)
    return place + spread * dice[:, :4], arm.home_pose + wide * dice[:, 4:]


def _check_joints(arm: Arm, spread_deg: float) -> None:
    for joint, middle, least, most in zip(arm.joints, arm.home_pose, *arm.limits, strict=True):
        for angle in middle + np.deg2rad([-spread_deg, spread_deg]):
            if not least <= angle <= most:
                raise BadInput(
                    f"key 'draw.joints_deg': {joint.name} at {np.rad2deg(angle):.1f} deg is beyond its limits,"
                    f" {np.rad2deg(least):.1f} to {np.rad2deg(most):.1f}"
                )


def drawn_deviation(scenario: Scenario, vehicle: VehicleSpec) -> Deviation:
    """Deviation of a vehicle from its platform's file: by its model error, and by what this seed draws."""
    draw, error, count = scenario.draw, vehicle.model_error, vehicle.platform.count

    def dice(quantity: str, size: int) -> Array:
        return uniform(scenario.seed, f"{vehicle.name}/{quantity}", size)

    def factor(quantity: str) -> float:
        width: float = getattr(draw, quantity)
        mean: float = getattr(error, quantity)
        return mean * float(1.0 + width * dice(quantity, 1)[0]) if width > 0.0 else mean

    def factors(quantity: str) -> tuple[float, ...]:
        width: float = getattr(draw, quantity)
        mean: float = getattr(error, quantity)
        if width > 0.0:
            return tuple((mean * (1.0 + width * dice(quantity, count))).tolist())
        return (mean,) * count if mean != 1.0 else ()

    def around(quantity: str) -> tuple[float, float, float]:
        width: float = getattr(draw, quantity)
        mean: tuple[float, float, float] = getattr(error, quantity)
        if width == 0.0:
            return mean
        x, y, z = (np.array(mean) + width * dice(quantity, 3)).tolist()
        return (x, y, z)

    return Deviation(
        mass=factor("mass"),
        inertia=factor("inertia"),
        com=around("com"),
        drag=factor("drag"),
        thrust=factors("thrust"),
        rotor_lag=factors("rotor_lag"),
        delay=error.delay + (draw.delay * float(dice("delay", 1)[0]) if draw.delay else 0.0),
        force=around("force"),
        torque=around("torque"),
    )


def drawn_imu_mounts(scenario: Scenario, vehicle: VehicleSpec) -> list[SensorMount]:
    """The mounts of a vehicle's inertial units where this seed puts them, off where they were meant to be.

    Raises:
        BadInput: a body has no mount for one.
    """
    draw, mounts = scenario.draw, imu_mounts(Assembly.of(vehicle.platform, vehicle.name))
    if draw.imu_position == draw.imu_tilt_deg == 0.0:
        return mounts
    dice = uniform(scenario.seed, f"{vehicle.name}/imu", 6 * len(mounts)).reshape(-1, 6)
    shifts, tilts = displacements(dice, draw.imu_position, draw.imu_tilt_deg)
    return [
        replace(mount, p_BS_B=mount.p_BS_B + shift, q_BS=so3.multiply(mount.q_BS, tilt))
        for mount, shift, tilt in zip(mounts, shifts, tilts, strict=True)
    ]


def drawn_coms(seeds: Integers, scenario: Scenario, vehicle: VehicleSpec) -> Array:
    """(n, 3) `com` [m] of each seed's `drawn_deviation`."""
    error, width = np.array(vehicle.model_error.com), scenario.draw.com
    if width == 0.0:
        return np.full((len(seeds), 3), error)
    return error + width * uniforms(seeds, f"{vehicle.name}/com", 3)


def drawn_wind(scenario: Scenario) -> Wind:
    """The wind of this seed."""
    wind, draw = scenario.wind, scenario.draw
    if draw.wind_speed == draw.wind_direction_deg == 0.0:
        return wind
    speed, turn = uniform(scenario.seed, "wind", 2).tolist()
    changes = {
        "speed": wind.speed * (1.0 + draw.wind_speed * speed),
        "direction_deg": wind.direction_deg + draw.wind_direction_deg * turn,
    }
    return wind.model_copy(update=changes)


def placed_world(scenario: Scenario) -> World:
    """The world with its objects where this seed has them; the scenario's own where all stand as it says."""
    world = scenario.world
    placed = {name: _placed(scenario, name, item) for name, item in world.objects.items()}
    for name, item in world.objects.items():
        carrier = None if item.hinge is None else item.hinge.carrier
        if carrier is not None and placed[carrier] is not world.objects[carrier]:
            placed[name] = _moved_along(item, world.objects[carrier], placed[carrier])
    if all(placed[name] is item for name, item in world.objects.items()):
        return world
    return world.model_copy(update={"objects": placed})


def stands(item: WorldObject) -> bool:
    """True of a single object with a place of its own, which `draw.object_position` and its like displace."""
    is_carried = item.hinge is not None and item.hinge.carrier is not None
    return item.is_placed and not is_carried and not isinstance(item, Obstacles)


def is_loose(item: WorldObject) -> bool:
    """True of a single object that moves freely, which `draw.loose_position` displaces."""
    return item.is_free and not isinstance(item, Obstacles)


def _moved_along(item: WorldObject, carrier: WorldObject, placed: WorldObject) -> WorldObject:
    """An object where its carrier, which has been placed elsewhere, has taken it."""
    turn = so3.multiply(placed.q_WO, so3.conjugate(carrier.q_WO))
    way = so3.rotate(turn, np.array(item.position) - carrier.position)
    R_WO = so3.matrix_from_quaternion(so3.multiply(turn, item.q_WO))
    place = {
        "position": tuple((placed.position + way).tolist()),
        "rpy_deg": euler.rpy_deg_from_matrix(R_WO),
    }
    return item.model_copy(update=place)


def _placed(scenario: Scenario, name: str, item: WorldObject) -> WorldObject:
    """Obstacles of this seed, where their own is open, and others at the place and with the motion of this seed."""
    changes: dict[str, Any] = {}
    if item.motion is not None and _draws_motions(scenario.draw):
        changes["motion"] = _drawn_motion(scenario, name, item.motion)
    if isinstance(item, Obstacles):
        if item.seed is None:
            changes["seed"] = _obstacle_seed(scenario.seed, name)
    elif stands(item):
        changes |= _drawn_place(scenario, name, item)
    elif is_loose(item) and np.any(scenario.draw.loose_position):
        changes["position"] = _shifted(scenario, name, item, scenario.draw.loose_position)
    return item.model_copy(update=changes) if changes else item


def _drawn_place(scenario: Scenario, name: str, item: WorldObject) -> dict[str, Any]:
    """The keys of an object's place that this seed changes."""
    draw, changes = scenario.draw, {}
    for key, width in (("position", draw.object_position), ("rpy_deg", draw.object_rpy_deg)):
        if np.any(width):
            changes[key] = _shifted(scenario, name, item, width, key)
    return changes


def _shifted(
    scenario: Scenario, name: str, item: WorldObject, width: ArrayLike, key: str = "position"
) -> tuple[float, ...]:
    """Three numbers of an object, with what this seed adds to them."""
    shift = np.array(width) * uniform(scenario.seed, f"{name}/{key}", 3)
    return tuple((np.array(getattr(item, key)) + shift).tolist())


def _draws_motions(draw: Draw) -> bool:
    return draw.motion_speed > 0.0 or draw.motion_turn_deg > 0.0 or draw.motion_shift > 0.0


def _drawn_motion(scenario: Scenario, name: str, motion: ObjectMotion) -> ObjectMotion:
    """The motion of an object with the speed, direction and phase of this seed."""
    draw = scenario.draw
    speed, turn, shift = uniform(scenario.seed, f"{name}/motion", 3).tolist()
    return motion.changed(
        time_scale=motion.time_scale * (1.0 + draw.motion_speed * speed),
        turn_deg=motion.turn_deg + draw.motion_turn_deg * turn,
        time_shift=motion.time_shift + draw.motion_shift * shift,
    )


def _obstacle_seed(seed: int, name: str) -> int:
    (dice,) = uniform(seed, OBSTACLES.format(name), 1).tolist()
    return int((1.0 + dice) * 2**30)


def drawn_world(scenario: Scenario) -> World:
    """The world with the obstacles, the places and the surfaces of objects of this seed."""
    world, factor, draw = placed_world(scenario), friction_factor(scenario), scenario.draw
    if factor == 1.0 and not (draw.stiffness or draw.object_mass or _draws_hinges(draw)):
        return world
    objects = {
        name: _drawn_object(scenario, name, item, factor) for name, item in world.objects.items()
    }
    surface = scaled_friction(world.surface, factor)
    return world.model_copy(update={"surface": surface, "objects": objects})


def _drawn_object(scenario: Scenario, name: str, item: WorldObject, factor: float) -> WorldObject:
    """An object with the friction over what the scenario says, and the stiffness, mass and hinge of this seed."""
    draw, surface = scenario.draw, scaled_friction(item.surface, factor)
    if draw.stiffness and surface.stiffness is not None:
        (dice,) = uniform(scenario.seed, f"{name}/stiffness", 1).tolist()
        harder, damping = 10.0 ** (draw.stiffness * dice), surface.damping or 0.0
        changes = {"stiffness": harder * surface.stiffness, "damping": harder**0.5 * damping}
        surface = surface.model_copy(update=changes)
    changed: dict[str, Any] = {"surface": surface}
    if draw.object_mass and item.mass is not None:
        (dice,) = uniform(scenario.seed, f"{name}/mass", 1).tolist()
        changed["mass"] = item.mass * (1.0 + draw.object_mass * dice)
    if _draws_hinges(draw) and item.hinge is not None:
        changed["hinge"] = _drawn_hinge(scenario, name, item.hinge)
    return item.model_copy(update=changed)


def _draws_hinges(draw: Draw) -> bool:
    return any(getattr(draw, f"hinge_{key}") > 0.0 for key in (*HINGE_TORQUES, "release"))


def _drawn_hinge(scenario: Scenario, name: str, hinge: Hinge) -> Hinge:
    """The hinge of an object with the torques, and the release of its latch, of this seed."""
    changes: dict[str, Any] = {}
    for key in HINGE_TORQUES:
        width = getattr(scenario.draw, f"hinge_{key}")
        (dice,) = uniform(scenario.seed, f"{name}/hinge_{key}", 1).tolist()
        changes[key] = getattr(hinge, key) * (1.0 + width * dice)
    if hinge.latch is not None:
        (dice,) = uniform(scenario.seed, f"{name}/hinge_release", 1).tolist()
        release = hinge.latch.release_deg * (1.0 + scenario.draw.hinge_release * dice)
        changes["latch"] = hinge.latch.model_copy(update={"release_deg": release})
    return hinge.model_copy(update=changes)


def drawn_latches(scenario: Scenario) -> dict[str, Latch]:
    """The latches with the speeds of this seed at which faces catch."""
    share = scenario.draw.face_speed
    if share == 0.0:
        return scenario.latches
    latches = {}
    for name, latch in scenario.latches.items():
        latches[name] = latch
        if latch.face is not None:
            factors = 1.0 + share * uniform(scenario.seed, f"{name}/face", 4)
            speed, least, slip, rate = factors.tolist()
            face = {
                "least_speed": least * latch.face.least_speed,
                "slip": slip * latch.face.slip,
                "turn_rate": rate * latch.face.turn_rate,
            }
            changes = {"speed": speed * latch.speed, "face": latch.face.model_copy(update=face)}
            latches[name] = latch.model_copy(update=changes)
    return latches


def friction_factor(scenario: Scenario) -> float:
    """The friction of this seed over what the scenario says of surfaces."""
    if scenario.draw.friction == 0.0:
        return 1.0
    (dice,) = uniform(scenario.seed, "friction", 1).tolist()
    return float(1.0 + scenario.draw.friction * dice)
