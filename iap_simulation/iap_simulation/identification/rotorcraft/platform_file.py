# SPDX-License-Identifier: BSD-3-Clause
"""Platform and aircraft files of an identified rotorcraft, on top of a platform that has its shapes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import yaml

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.platform import load_platform
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.estimate import Estimate
from iap_simulation.identification.rotorcraft.rotorcraft import Rotorcraft

PLATFORM, AIRCRAFT = "platform.yaml", "aircraft.yaml"
NOT_LOGGED = "not from the log"


class Number(NamedTuple):
    """A value of an aircraft, and where it comes from."""

    value: Any
    origin: str


def platform_files(
    model: Rotorcraft, start: str, mass: float | None, logs: Sequence[FlightLog]
) -> dict[str, str]:
    """Texts of files by their names, which ``iap run --platform DIR/platform.yaml`` flies together.

    Args:
        model: of the logs.
        start: platform of one aircraft whose shapes and other numbers are taken.
        mass: of the vehicle [kg]; None takes that of the start.
        logs: that the model comes from.

    Raises:
        BadInput: the start is no single aircraft, or has another number of rotors.
    """
    base = load_platform(start)
    if base.joints:
        raise BadInput(
            f"key 'rotorcraft.start': {start} has {base.count} aircraft; a platform of one is expected"
        )
    count = len(base.aircraft.rotors)
    other = next((log for log in logs if log.rotors and log.rotors != count), None)
    if other is not None:
        raise BadInput(
            f"key 'rotorcraft.start': {start} has {count} rotors, {other.path} has {other.rotors}:"
            " name a platform of as many"
        )
    source = ", ".join(log.path.name for log in logs)
    numbers = _numbers(
        model.parameters, base.aircraft, mass, is_by_motors=model.model.rotation.is_by_motors
    )
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
    parameters: dict[str, Estimate], base: Aircraft, mass: float | None, *, is_by_motors: bool
) -> dict[str, Number]:
    """Numbers of the aircraft by their keys.

    With F = m T / n the full thrust of one of n rotors, T the full thrust per mass, and B the angular acceleration by
    the full thrust of a motor, I = |r| F / B about roll and pitch, with |r| the mean arm, and the torque ratio of yaw
    is B I_zz / F.
    """
    m = base.mass if mass is None else mass
    numbers = {
        "mass": Number(
            m, "given, not from the log" if mass is not None else f"{NOT_LOGGED}: rotorcraft.mass"
        )
    }
    full, rotors = (
        parameters.get("full thrust per mass"),
        np.array([rotor.position for rotor in base.rotors]),
    )
    if full is None:
        return numbers
    F = m * full.value / len(rotors)
    top = base.rotor.rpm_max
    numbers["rotor.thrust_coefficient"] = Number(
        float(F / top**2), f"{_text_of(full)} at {top:g} rpm, which is {NOT_LOGGED}"
    )
    scale = m / base.mass
    inertia, origins = (
        [float(scale * each) for each in base.inertia[:3]],
        [f"{NOT_LOGGED}, by the mass"] * 3,
    )
    for axis, (name, arm) in enumerate((("roll", 1), ("pitch", 0))):
        if name in parameters and is_by_motors:
            inertia[axis] = float(np.abs(rotors[:, arm]).mean() * F / parameters[name].value)
            origins[axis] = _text_of(parameters[name])
    inertia[2] = float(
        np.clip(inertia[2], abs(inertia[0] - inertia[1]) * 1.01, 0.99 * (inertia[0] + inertia[1]))
    )
    numbers["inertia"] = Number(
        inertia, "; ".join(f"{x}: {y}" for x, y in zip("xyz", origins, strict=True))
    )
    if "yaw" in parameters and is_by_motors:
        numbers["rotor.torque_ratio"] = Number(
            float(parameters["yaw"].value * inertia[2] / F),
            f"{_text_of(parameters['yaw'])}, by I_zz",
        )
    for key, name in (
        ("rotor.time_constant_up", "lag up"),
        ("rotor.time_constant_down", "lag down"),
    ):
        if name in parameters:
            numbers[key] = Number(float(parameters[name].value), _text_of(parameters[name]))
    drags = [parameters.get(f"drag {axis}") for axis in "xy"]
    if all(each is not None for each in drags):
        linear = [float(m * each.value) for each in drags if each is not None] + [
            float(base.drag.linear[2])
        ]
        numbers["drag"] = Number(
            {"linear": linear, "quadratic": [0.0, 0.0, 0.0]}, f"x and y; z {NOT_LOGGED}"
        )
    return numbers


def _text_of(each: Estimate) -> str:
    return f"{each.value:.4g} +- {each.half_width:.2g} {each.unit}"


def _rounded(value: Any) -> Any:  # noqa: ANN401 - numbers, lists and mappings of them
    """The same in six significant digits, which no interval is narrower than."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}")


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
