# SPDX-License-Identifier: BSD-3-Clause
"""Platform and aircraft files of an identified rotorcraft, on top of a platform that has its shapes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import yaml

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform, load_platform
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.estimate import Parameter
from iap_simulation.identification.rotorcraft.fleet import FULL, FleetModel
from iap_simulation.identification.rotorcraft.rotorcraft import Rotorcraft

PLATFORM, AIRCRAFT = "platform.yaml", "aircraft.yaml"
NOT_LOGGED = "not from the log"


class Scale(NamedTuple):
    """Numbers that give a log's ratios their units; None takes that of the start.

    Attributes:
        mass: of the vehicle [kg].
        arm: mean distance of its rotors from the CoM, seen from above [m].
    """

    mass: float | None = None
    arm: float | None = None

    def reasons(self, start: str) -> dict[str, str]:
        """Why what is not given is not determined, by its name.

        Raises:
            BadInput: no such platform.
        """
        base = load_platform(start).aircraft
        reasons = {}
        if self.mass is None:
            reasons["mass"] = (
                f"no log has one: {base.mass:g} kg of {start} scales thrusts, inertias and drag;"
                " --set rotorcraft.mass=KG takes yours"
            )
        if self.arm is None:
            reasons["arm"] = (
                f"no log has one, but its ratio to the inertia: {_arm(base):.3g} m of {start} scales inertias;"
                " --set rotorcraft.arm=M takes yours"
            )
        return reasons


class Number(NamedTuple):
    """A value of an aircraft, and where it comes from."""

    value: Any
    origin: str


def platform_files(
    model: Rotorcraft, start: str, scale: Scale, logs: Sequence[FlightLog]
) -> dict[str, str]:
    """Texts of files by their names, which ``iap run --platform DIR/platform.yaml`` flies together.

    Args:
        model: of the logs.
        start: platform of one aircraft whose shapes and other numbers are taken.
        scale: of the vehicle.
        logs: that the model comes from.

    Raises:
        BadInput: the start is no single aircraft, or has another number of rotors.
    """
    base = load_platform(start)
    if base.joints:
        raise BadInput(
            f"key 'rotorcraft.start': {start} has {base.count} aircraft; a platform of one is expected"
        )
    by_motors = model.model.rotation.is_by_motors
    numbers = _numbers(model.parameters, base.aircraft, scale, is_by_motors=by_motors)
    return _files(numbers, base, start, logs)


def fleet_files(model: FleetModel, start: str, logs: Sequence[FlightLog]) -> dict[str, str]:
    """The same of a platform of several aircraft, which all become alike.

    Raises:
        BadInput: the start has another number of aircraft or rotors.
    """
    base = load_platform(start)
    if base.count != len(logs):
        raise BadInput(
            f"key 'rotorcraft.start': {start} has {base.count} aircraft, {logs[0].path} has {len(logs)}:"
            " --set rotorcraft.start=NAME of the platform that flew"
        )
    full, mass = model.parameters[FULL], base.aircraft.mass
    scale = float(Assembly.of(base, base.name).mass) / (base.count * mass)
    full_scale = full._replace(value=scale * full.value, half_width=scale * full.half_width)
    numbers = _numbers({FULL: full_scale, **model.mean}, base.aircraft, Scale(), is_by_motors=True)
    return _files(numbers, base, start, logs)


def _files(
    numbers: dict[str, Number], base: Platform, start: str, logs: Sequence[FlightLog]
) -> dict[str, str]:
    """Texts of a platform's file and of its aircraft's."""
    count = len(base.aircraft.rotors)
    other = next((log for log in logs if log.rotors and log.rotors != count), None)
    if other is not None:
        raise BadInput(
            f"key 'rotorcraft.start': {start} has {count} rotors, {other.path} has {other.rotors}:"
            " name a platform of as many"
        )
    source = ", ".join(dict.fromkeys(log.path.name for log in logs))
    head = f"# Identified from {source} by iap identify --model rotorcraft, on top of {start}.\n"
    platform = {
        "extends": start,
        "name": "identified",
        "description": f"Identified from {source}.",
        "aircraft": AIRCRAFT,
    }
    return {
        PLATFORM: head + yaml.safe_dump(platform, sort_keys=False),
        AIRCRAFT: head + _text(numbers, base.aircraft),
    }


def _numbers(
    parameters: dict[str, Parameter], base: Aircraft, scale: Scale, *, is_by_motors: bool
) -> dict[str, Number]:
    """Numbers of the aircraft by their keys."""
    m = base.mass if scale.mass is None else scale.mass
    origin = f"{NOT_LOGGED}: rotorcraft.mass" if scale.mass is None else "rotorcraft.mass"
    numbers = {"mass": Number(m, origin)}
    size = 1.0 if scale.arm is None else scale.arm / _arm(base)
    if scale.arm is not None:
        base = _scaled(base, size)
        rotors = [
            {**each.model_dump(mode="json", exclude_defaults=True), "spin": each.spin}
            for each in base.rotors
        ]
        numbers["rotors"] = Number(rotors, f"rotorcraft.arm; shapes {NOT_LOGGED}")
    full = parameters.get("full thrust per mass")
    if full is not None:
        F, top = m * full.value / len(base.rotors), base.rotor.rpm_max
        numbers["rotor.thrust_coefficient"] = Number(
            float(F / top**2), f"{_text_of(full)} at {top:g} rpm, which is {NOT_LOGGED}"
        )
        turning = parameters if is_by_motors else {}
        numbers |= _rotation(turning, base, F, m / base.mass * size**2)
    for key, name in (("up", "lag up"), ("down", "lag down")):
        if name in parameters:
            each = parameters[name]
            numbers[f"rotor.time_constant_{key}"] = Number(float(each.value), _text_of(each))
    drags = [parameters[name] for name in ("drag x", "drag y") if name in parameters]
    if len(drags) == 2:
        linear = [*(float(m * each.value) for each in drags), float(base.drag.linear[2])]
        whole = {"linear": linear, "quadratic": [0.0, 0.0, 0.0]}
        numbers["drag"] = Number(whole, f"x and y; z {NOT_LOGGED}")
    return numbers


def _rotation(
    parameters: dict[str, Parameter], base: Aircraft, F: float, scale: float
) -> dict[str, Number]:
    """Inertia, and the ratio of drag torque to thrust.

    With F the full thrust of a rotor and B the angular acceleration by it, I = |r| F / B about roll and pitch, with |r|
    the mean arm. The torque ratio of yaw is B I_zz / F.

    Args:
        parameters: of the model.
        base: aircraft whose arms are taken, and whatever logs do not tell.
        F: [N].
        scale: of the base's inertia, by masses and squares of arms.
    """
    arms = np.abs([rotor.position for rotor in base.rotors]).mean(axis=0)
    inertia = [float(scale * each) for each in base.inertia[:3]]
    origins = [f"{NOT_LOGGED}, by the mass"] * 3
    for axis, name in enumerate(("roll", "pitch")):
        if name in parameters:
            inertia[axis] = float(arms[1 - axis] * F / parameters[name].value)
            origins[axis] = _text_of(parameters[name])
    x, y, z = inertia  # a body's z is between their difference and their sum
    inertia[2] = float(np.clip(z, 1.01 * abs(x - y), 0.99 * (x + y)))
    text = "; ".join(f"{axis}: {each}" for axis, each in zip("xyz", origins, strict=True))
    numbers = {"inertia": Number(inertia, text)}
    if "yaw" in parameters:
        ratio = float(parameters["yaw"].value * inertia[2] / F)
        numbers["rotor.torque_ratio"] = Number(ratio, f"{_text_of(parameters['yaw'])}, by I_zz")
    return numbers


def _arm(base: Aircraft) -> float:
    """Mean distance of an aircraft's rotors from its CoM, seen from above [m]."""
    return float(np.mean([np.hypot(*rotor.position[:2]) for rotor in base.rotors]))


def _scaled(base: Aircraft, size: float) -> Aircraft:
    """An aircraft whose rotors are farther out by a factor, at the same height."""
    rotors = [
        each.model_copy(
            update={
                "position": (size * each.position[0], size * each.position[1], each.position[2])
            }
        )
        for each in base.rotors
    ]
    return base.model_copy(update={"rotors": tuple(rotors)})


def _text_of(each: Parameter) -> str:
    return f"{each.value:.4g} +- {each.half_width:.2g} {each.unit}"


def _text(numbers: dict[str, Number], base: Aircraft) -> str:
    """YAML of an aircraft on top of another, with the origin of each number behind it."""
    lines = [
        f"extends: {base.name}",
        "name: identified",
        "description: Identified from flight logs.",
    ]
    groups: dict[str, list[str]] = {}
    for key, number in numbers.items():
        group, _, name = key.rpartition(".")
        value = (
            yaml.safe_dump(number.value, default_flow_style=True, width=1000)
            .removesuffix("...\n")
            .strip()
        )
        groups.setdefault(group, []).append(
            f"{'  ' if group else ''}{name}: {value}  # {number.origin}"
        )
    for group, texts in groups.items():
        lines += [f"{group}:"] if group else []
        lines += texts
    return "\n".join(lines) + "\n"
