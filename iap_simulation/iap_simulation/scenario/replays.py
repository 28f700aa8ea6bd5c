# SPDX-License-Identifier: BSD-3-Clause
"""Flights of recorded commands: what their reading understood is written into the keys."""

import math
from pathlib import Path
from typing import Any

from iap_control.actuation.kinds import platform_model
from iap_control.references.motions import Replay
from iap_control.references.replay import RecordedCommand, commanded
from iap_description.vehicles.assembly import Assembly
from iap_io.flight_logs.run_folders import is_run
from iap_io.runs.topics import BAG
from iap_io.trajectories.headings import largest_tilt
from iap_simulation.scenario.resolving import Options, resolve_tree, scenario_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

MARGIN = 0.3  # between the ground and a flight that is raised off it [m]
TOUCH = 0.02  # depth that a reference may be below where the platform stands [m]
SAG = 0.1  # of a flight that starts on the ground and does not climb [m]
NEAR_ZERO = 0.5  # height within which a flight starts on the ground [m]
HEADING = (False, False, True)  # angles of a platform that is flight_tree by position and yaw
STEEP = math.radians(80.0)  # tilt beyond which yaw is no heading


def resolve_replay(replay: dict[str, Any], options: Options) -> tuple[Scenario, dict[str, Any]]:
    """Resolve the flight of a recorded command; `replay` has the keys of `Replay` that are not left to the reading.

    The path may be the folder of a run, whose bag is meant.

    Returns:
        The scenario, and its plain tree, whose key `reference` says what was read.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    recording = Path(replay["path"])
    if is_run(recording):
        replay = {**replay, "path": str(recording / BAG)}
    flight = {
        "description": f"Replay of {recording.name}.",
        "reference": {"type": "replay", **replay},
    }
    scenario, tree = resolve_tree(f"replay_{recording.stem}", flight, "replay", options)
    vehicle = scenario.vehicles[0]
    reference = vehicle.reference
    if not isinstance(reference, Replay):  # another one is set
        return scenario, tree
    command = commanded(reference)
    fitted = _left_open(reference, _fitted(scenario, vehicle, command))
    read = _left_open(reference, command.about.keys)
    others = (reference.actual_topic, reference.wrench_topic, reference.actual_wrench_topic)
    if any(each is not None for each in others):  # whose axes may be others
        read.pop("convention", None)
    read |= _left_open(reference, _of_wrenches(command))
    if reference.topic is not None:  # without a body behind a colon
        read["topic"] = command.about.topic
    flight_tree = {
        **tree,
        "reference": {**tree["reference"], **fitted},
    }  # read anew, with its notes
    return scenario_of(flight_tree, "replay"), {
        **flight_tree,
        "reference": {**flight_tree["reference"], **read},
    }


def _left_open(reference: Replay, keys: dict[str, Any]) -> dict[str, Any]:
    """Those of the keys that the user has left to the reading."""
    return {key: value for key, value in keys.items() if getattr(reference, key) is None}


def _of_wrenches(command: RecordedCommand) -> dict[str, Any]:
    """Keys of recorded wrenches, with what was understood of them."""
    frames = {each.axes for each in command.about.wrenches}
    keys: dict[str, Any] = {"wrench_frame": frames.pop()} if len(frames) == 1 else {}
    return keys if command.wrench is None else {**keys, "wrench_use": command.wrench.use}


def _fitted(scenario: Scenario, vehicle: VehicleSpec, command: RecordedCommand) -> dict[str, Any]:
    """Keys that fit a command to a platform: raised off the ground, and its heading alone where it loops."""
    z = command.commanded.poses[:, 2] + vehicle.offset[2]
    clearance = vehicle.platform.ground_clearance
    sinks, climbs = z[0] - z.min(), z.max() - z[0]
    is_low = z.min() < clearance - TOUCH and abs(z[0]) < NEAR_ZERO
    is_low = is_low and sinks < (
        NEAR_ZERO if climbs > sinks else SAG
    )  # what only sinks may have z downwards
    lift = math.ceil(round(100.0 * (clearance + MARGIN - float(z.min())), 6)) / 100.0
    keys: dict[str, Any] = {"lift": lift} if is_low and scenario.world.has_ground else {}
    if largest_tilt(command.commanded.poses[:, 3:]) > STEEP and _by_heading(scenario, vehicle):
        keys["attitude"] = "heading"
    return keys


def _by_heading(scenario: Scenario, vehicle: VehicleSpec) -> bool:
    """True if a vehicle follows positions and headings alone."""
    assembly = Assembly.of(vehicle.platform, vehicle.name)
    model = platform_model(
        assembly, vehicle.platform.fleet, gravity=scenario.world.gravity, com_coupling=False
    )
    return model.controlled_angles == HEADING
