# SPDX-License-Identifier: BSD-3-Clause
"""From the arguments of a launch file to a flight and its scenario; no ROS needed."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from iap_description.config.alternatives import nearest
from iap_description.errors import BadInput
from iap_io.runs.run_folder import CONFIG
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

N = TypeVar("N", int, float)
SWITCH = ["true", "false"]
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
Arguments = Mapping[str, tuple[str, str, list[str] | None]]  # default, description, choices
COMMON: Arguments = {  # of all launch files
    "namespace": ("", "Namespace of all nodes, topics, services and TF of the launch.", None),
    "params_file": ("", "YAML file of node parameters, which count before all others.", None),
    "respawn": ("false", "Whether a node that dies is started again; else all end.", SWITCH),
    "log_level": ("info", "Of the suite's nodes.", ["debug", "info", "warn", "error", "fatal"]),
    "discovery": (
        "",
        f"How far nodes look for others; empty: as {RANGE} says, or localhost where it is not set.",
        ["", "localhost", "subnet", "system_default", "off"],
    ),
}
TIP_SCENARIO, NO_RECORDED_STICK = "arm_teleop", "arm.motion.demands=[]"
REPLAY = ("topic", "actual_topic", "convention")
CHOICES = ("platform", "gains", "sensors", "scene", "state_source")
PARAMETERS: dict[str, tuple[Any, str]] = {  # of a flight, by name: default, description
    "scenario": ("hover", "Name of a scenario, or the path of a YAML file."),
    "bag": ("", "Bag or CSV whose commands are flown instead of a scenario."),
    "topic": ("", "Topic of the bag's commands; empty: the one whose type and name fit."),
    "actual_topic": ("", "Topic of what the real aircraft did, to compare with; empty: none."),
    "convention": (
        "",
        "Frames of the bag: enu or ned; empty: ned for a pair of Points, else enu.",
    ),
    "platform": ("", "Platform instead of the scenario's."),
    "gains": ("", "Gain preset, or path of a YAML file of gains, instead of the scenario's."),
    "sensors": (
        "",
        "Sensors of every vehicle instead of the scenario's, e.g. imu,uwb; none: none.",
    ),
    "scene": ("", "Scene that is flown in instead of the scenario's."),
    "state_source": (
        "",
        "State that controllers use instead of the scenario's: truth, or a method.",
    ),
    "seed": (-1, "Seed of all noise; -1: the scenario's."),
    "duration": (0.0, "Simulated time [s]; 0: the scenario's."),
    "assignments": ([""], "KEY=VALUE for any key of the resolved configuration, as --set."),
}


def refuse_misspelt(words: Iterable[str], known: Iterable[str]) -> None:
    """Refuse arguments whose names are nearly those of a launch file, which launch would ignore.

    Args:
        words: of the command line; those with `:=` are arguments.
        known: names of the launch file's arguments.

    Raises:
        BadInput: an argument is misspelt.
    """
    names = set(known)
    for word in words:
        name, is_argument, _ = word.partition(":=")
        meant = nearest(name, names) if is_argument else None
        if meant not in (None, name):
            raise BadInput(f"{word}: no such argument; is {meant}:= meant?")


def flight_parameters(arguments: Mapping[str, str]) -> dict[str, Any]:
    """Values of `PARAMETERS` from launch arguments, which have `set` for `assignments`.

    Raises:
        BadInput: a number is none, or there is a bag and a scenario.
    """
    if arguments.get("bag") and arguments["scenario"] != PARAMETERS["scenario"][0]:
        raise BadInput(f"scenario:={arguments['scenario']}: a bag is flown in place of a scenario")
    out: dict[str, Any] = {"assignments": arguments["set"].split(";")}
    for name, (default, _) in PARAMETERS.items():
        if isinstance(default, int | float):
            out[name] = number(arguments, name, type(default))
        else:
            out.setdefault(name, arguments.get(name, default))
    return out


def by_stick(arguments: Mapping[str, str]) -> dict[str, str]:
    """Arguments of sim.launch.py for a flight by hand, from those of teleop.launch.py.

    A platform's stick gives its reference. An end effector's gives twists, which lead platform and joints from where
    the scenario's reference begins; what the scenario has recorded of a stick is left out.
    """
    assignments, usual = arguments.get("set", ""), str(PARAMETERS["scenario"][0])
    if arguments["tip"] != "true":
        return {
            "by_hand": arguments["vehicle"],
            "scenario": arguments.get("scenario", usual),
            "set": assignments,
        }
    return {
        "by_hand": "",
        "scenario": arguments.get("scenario", TIP_SCENARIO),
        "set": ";".join([*filter(None, [assignments]), NO_RECORDED_STICK]),
    }


def number(arguments: Mapping[str, str], name: str, kind: type[N]) -> N:
    """The number that a launch argument has.

    Raises:
        BadInput: it has none.
    """
    try:
        return kind(arguments[name])
    except ValueError as error:
        raise BadInput(f"{name}:={arguments[name]}: a number is expected") from error


def simulation_namespace(text: str) -> str:
    """The namespace of a simulation as an absolute name; empty for the root.

    Raises:
        BadInput: it is no name in ROS 2.
    """
    name = text.strip("/")
    if name and not re.fullmatch(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", name, re.ASCII):
        raise BadInput(
            f"namespace:={text}: letters, digits and _ are expected, and / between names"
        )
    return f"/{name}" if name else ""


def localized(arguments: Mapping[str, str]) -> tuple[Scenario, VehicleSpec]:
    """The scenario of those who localise, and its vehicle, by default the first; a run has its own configuration.

    Raises:
        BadInput: there is no such run or vehicle, or anything of the scenario is unknown.
    """
    flight = {name: default for name, (default, _) in PARAMETERS.items()}
    flight |= {name: arguments[name] for name in ("scenario", "platform", "sensors", "scene")}
    if arguments["run"]:
        config = Path(arguments["run"]) / CONFIG
        if not config.is_file():
            raise BadInput(f"run:={arguments['run']}: no run folder")
        flight["scenario"] = os.path.realpath(config)
    scenario, _ = resolve_flight({**flight, "assignments": arguments["set"].split(";")})
    name, names = arguments["vehicle"], [vehicle.name for vehicle in scenario.vehicles]
    if name and name not in names:
        raise BadInput(f"vehicle:={name}: {scenario.scenario} has {', '.join(names)}")
    return scenario, scenario.vehicles[names.index(name) if name else 0]


def resolve_flight(flight: Mapping[str, Any]) -> tuple[Scenario, dict[str, Any]]:
    """The scenario that values of `PARAMETERS` stand for, and its plain tree.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    options = Options(
        **{name: flight[name] or None for name in (*CHOICES, "duration")},
        seed=None if flight["seed"] < 0 else flight["seed"],
        assignments=tuple(filter(None, flight["assignments"] or ())),
    )
    if not flight["bag"]:
        return resolve(flight["scenario"], options)
    replay = {"path": flight["bag"], **{name: flight[name] or None for name in REPLAY}}
    return resolve_replay(replay, options)
