# SPDX-License-Identifier: BSD-3-Clause
"""Keys of a scenario that its kind of plant has no use for, or that its engine, modules and latches do not fit."""

from iap_control.arm.tip_velocities import TipVelocities
from iap_control.controllers.controller import VELOCITY
from iap_control.references.poses_and_lines import Hover
from iap_physics.engines.make import BY_DEFAULT, FREE, default_engine
from iap_physics.plant.plant_spec import check_latches
from iap_simulation.scenario.plant_choice import BodiesChoice
from iap_simulation.scenario.scenario_keys import ScenarioKeys

FACTORS = ("mass", "inertia", "drag", "thrust", "rotor_lag")  # of model_error; the others are sums


def check_plant(scenario: ScenarioKeys) -> None:
    """Refuse keys that the plant of a scenario has no use for.

    Raises:
        ValueError: naming the key.
    """
    vehicle, draw = scenario.vehicles[0], scenario.draw
    takes_velocities = isinstance(vehicle.arm.motion, TipVelocities)
    if isinstance(scenario.plant, BodiesChoice):
        for key, is_there in {
            "arm.motion.type": takes_velocities,
            "control.law": any(each.control.law == VELOCITY for each in scenario.vehicles),
            "draw.joints_deg": draw.joints_deg > 0.0,
        }.items():
            if is_there:
                raise ValueError(
                    f"key '{key}': is of a plant that takes velocities, plant.type: identified"
                )
        return
    for key, is_there in _unknown_to_identified(scenario).items():
        if is_there:
            raise ValueError(f"key '{key}': a plant of type identified has nothing of it")
    if vehicle.control.law != VELOCITY:
        raise ValueError(
            f"key 'control.law': {VELOCITY} commands a plant of type identified (got {vehicle.control.law})"
        )
    if vehicle.platform.arm is None or vehicle.platform.joints:
        raise ValueError(
            "key 'platform': a plant of type identified is one body with an arm, such as m100_arm"
        )
    if not takes_velocities and vehicle.arm.motion.type != "hold":
        raise ValueError(
            "key 'arm.motion.type': hold or tip_velocities on a plant of type identified"
            f" (got {vehicle.arm.motion.type})"
        )


def check_modules(scenario: ScenarioKeys) -> None:
    """Refuse modules whose joints the engine cannot make, or whose rate control cannot keep.

    Raises:
        ValueError: naming the key.
    """
    modules, rate = scenario.modules, scenario.rates.control_hz
    if modules is None:
        return
    if scenario.engine.name == FREE and modules.joints:
        raise ValueError("key 'engine.name': closed_form has no joints that are added in flight")
    if rate % modules.rate != 0.0:
        raise ValueError(
            f"key 'modules.rate': {modules.rate:g} Hz does not divide the control's {rate:g}"
        )


def check_scenario_latches(scenario: ScenarioKeys) -> None:
    """Refuse latches without their ports, and docking without its latch.

    Raises:
        ValueError: naming the key.
    """
    ends = {vehicle.name: vehicle.platform.ends for vehicle in scenario.vehicles}
    check_latches(scenario.latches, ends, scenario.world, scenario.engine.name)
    docking = scenario.docking
    if docking is not None and docking.latch not in scenario.latches:
        there = ", ".join(scenario.latches) or "none"
        raise ValueError(f"key 'docking.latch': no latch '{docking.latch}' (latches: {there})")
    if docking is not None and scenario.latches[docking.latch].face is not None:
        raise ValueError(f"key 'docking.latch': '{docking.latch}' holds no two vehicles")
    if scenario.policy == "script" and docking is None:
        raise ValueError("key 'policy': 'script' needs the key 'docking'")


def _unknown_to_identified(scenario: ScenarioKeys) -> dict[str, bool]:
    """Keys, and true where a scenario asks for something by them that an identified plant has not."""
    vehicle, draw, control = scenario.vehicles[0], scenario.draw, scenario.vehicles[0].control
    errors = vehicle.model_error.model_dump()
    others = draw.model_dump(exclude={"position", "attitude_deg", "joints_deg"})
    turns = draw.attitude_deg if isinstance(draw.attitude_deg, tuple) else (draw.attitude_deg,) * 3
    return {
        "vehicles": len(scenario.vehicles) > 1,
        "engine.name": scenario.engine.name not in {BY_DEFAULT[0], default_engine()},
        "world.objects": bool(scenario.world.objects),
        "world.scene": scenario.world.scene is not None,
        "latches": bool(scenario.latches),
        "modules": scenario.modules is not None,
        "docking": scenario.docking is not None,
        "gripper": scenario.gripper is not None,
        "policy": scenario.policy is not None,
        "wind.speed": scenario.wind.speed > 0.0,
        "wind.turbulence": scenario.wind.turbulence > 0.0,
        "drag": scenario.drag == "on",
        "cameras": bool(scenario.cameras),
        "sensors": bool(vehicle.sensors.topics),
        "faults": bool(vehicle.faults),
        "disturbances": bool(vehicle.disturbances),
        "push": vehicle.push is not None,
        "control.admittance": control.admittance,
        "control.wrench_mode": control.wrench_mode != "none",
        "state_noise": any(vehicle.state_noise.model_dump().values()),
        **{f"model_error.{key}": _any(errors[key]) for key in errors if key not in FACTORS},
        **{f"model_error.{key}": errors[key] != 1.0 for key in FACTORS},
        "start.mode": vehicle.start.mode == "ground",
        "reference.type": not isinstance(vehicle.reference, Hover),
        **{f"draw.{key}": _any(value) for key, value in others.items()},
        "draw.attitude_deg": any(turns[:2]),
    }


def _any(value: object) -> bool:
    """True if a number, or any of a tuple, is not zero."""
    return any(value) if isinstance(value, tuple) else bool(value)


def check_drawn_releases(scenario: ScenarioKeys) -> None:
    """Refuse draws of release angles that a latch's lever never reaches.

    Raises:
        ValueError: naming the key.
    """
    share, objects = scenario.draw.hinge_release, scenario.world.objects
    for name, item in objects.items():
        latch = None if item.hinge is None else item.hinge.latch
        lever = None if latch is None else objects[latch.lever].hinge
        if latch is None or lever is None:
            continue
        low, high = lever.limits_deg
        furthest = latch.release_deg * (1.0 + share)
        if not low <= furthest <= high:
            raise ValueError(
                f"key 'draw.hinge_release': {share:g} draws release_deg of '{name}' up to {furthest:g},"
                f" beyond limits_deg {[low, high]} of '{latch.lever}'"
            )
