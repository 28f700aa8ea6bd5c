# SPDX-License-Identifier: BSD-3-Clause
"""Piloted flights: the shipped ones and their making, and recordings of one's own in their place.

python -m iap_bringup.experiments.piloted_flights FOLDER

A scripted pilot moves a gamepad's sticks, which become references at every state of the loop as in
joy_teleop (see `teleop`), and some of the references are recorded. A flight depends on its seed alone.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup import DATA
from iap_bringup.experiments.scripted_pilot import FreeVolume, ScriptedPilot
from iap_bringup.teleop.mappings import JoystickMapping, load_mapping
from iap_bringup.teleop.stick_reference import StickReference, joystick_demand
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_P, Level
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.bags.bag_writer import BagWriter
from iap_io.bags.storage_files import STORAGE_SUFFIXES
from iap_io.trajectories.reader import read_recorded
from iap_io.wire.cdr import message_types
from iap_io.wire.message_views import ReferenceMessage
from iap_physics.engines.joints import joined_rows
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options
from iap_simulation.scenario.scenario import Scenario

FLIGHTS = DATA / "flights"
MAPPING = FLIGHTS / "gamepad.yaml"
PLATFORM, ANCHORS = "three_star", "paper_manual"
START = (0.0, 0.0, 1.5)  # [m]
DURATION = 60.0  # [s]
IDLE_TIMES = 1.0, 2.5  # [s] before the sticks are moved, and after they are released
STATES, JOY, RECORDED = 200, 50, 25  # rates of states, joystick and recorded references [Hz]
TOPIC = "/iap/reference"
DIGITS = 6  # recorded decimals, so that a machine's rounding in the last place does not show


@dataclass(frozen=True)
class PilotedFlight:
    """A piloted flight.

    Attributes:
        scene: of the flight, and its name.
        seed: of the pilot.
        goals: volume of the pilot's goals.
        volume: that it does not leave; free of obstacles with room for the platform.
    """

    scene: str
    seed: int
    goals: FreeVolume
    volume: FreeVolume


COURSES = {
    scene: PilotedFlight(
        scene, seed, FreeVolume((-x, -y, 1.2), (x, y, 3.6)), FreeVolume((-X, -Y, 0.8), (X, Y, 4.2))
    )
    for scene, seed, x, y, X, Y in (
        ("narrow_station", 1, 9.0, 4.0, 11.0, 6.5),
        ("broad_station", 7, 7.0, 5.0, 9.0, 6.5),
        ("bright_arena", 8, 8.0, 5.5, 10.0, 7.0),
    )
}


def fly_scripted(course: PilotedFlight) -> Array:
    """Reference rows (K, 19 + N) of a flight at `STATES`, from its first to its last instant."""
    mapping = load_mapping(JoystickMapping, str(MAPPING))
    base = np.zeros(13)
    base[:3], base[6] = START, 1.0
    reference = StickReference.at(joined_rows(Assembly.of(load_platform(PLATFORM)), base))
    every = STATES // JOY
    pilot = ScriptedPilot(course.goals, mapping, np.random.default_rng(course.seed), 1.0 / JOY)
    rows, demand = [reference.row], joystick_demand([0.0] * 8, [0] * 12, mapping)
    for k in range(1, round(DURATION * STATES) + 1):
        t = k / STATES
        if t > IDLE_TIMES[0] and k % every == 0:
            axes, buttons = pilot.sticks(t, reference.row, is_done=t > DURATION - IDLE_TIMES[1])
            demand = joystick_demand(axes.tolist(), buttons, mapping)
        at = reference.row[REF_P]
        reference = reference.moved(demand, 1.0 / STATES, limits=mapping.limits, p_WP_W=at)
        rows.append(reference.row)
    return np.array(rows)


def write_flight(course: PilotedFlight, folder: Path) -> None:
    """Record the references of a flight as a rosbag2 folder; the same bytes every time.

    Raises:
        RecordingFailed: the folder is there already, or cannot be written.
    """
    every = STATES // RECORDED
    rows = np.round(fly_scripted(course)[::every], DIGITS) + 0.0  # no negative zeros
    message = ReferenceMessage.of(rows.shape[1] - REF_FIXED)
    writer = BagWriter(
        folder, message_types(), {"made_by": "iap_bringup.experiments.piloted_flights"}
    )
    channel = writer.add_topic(TOPIC, ReferenceMessage.TYPE)
    for k, row in enumerate(rows):
        stamp = k * (1_000_000_000 // RECORDED)
        message.put_head(stamp, k * every)
        message.put_row(row, Level.POSE, np.zeros(6))
        writer.append(channel, stamp, message.dump())
    writer.close()


def flight_folder(name: str) -> Path:
    """The bag of a flight that ships with the suite.

    Raises:
        BadInput: no such flight.
    """
    if name not in COURSES:
        raise BadInput(f"no piloted flight '{name}': choose {', '.join(COURSES)}")
    return FLIGHTS / name


def resolve_recording(path: Path, scene: str, options: Options) -> tuple[Scenario, dict[str, Any]]:
    """Any recorded command, flown by the three-star in a scene among the anchors of TABLE XI, if it has a tag."""
    choices = options.model_copy(update={"scene": options.scene or scene})
    command = {"path": str(path), "topic": None, "actual_topic": None, "convention": None}
    scenario, _ = resolve_replay(command, choices)
    has_tag = scenario.vehicles[0].sensors.uwb is not None
    anchors = (f"sensors.uwb.anchors={ANCHORS}",) if has_tag else ()
    return resolve_replay(
        command, choices.model_copy(update={"assignments": (*anchors, *choices.assignments)})
    )


@dataclass(frozen=True)
class RecordedCommands:
    """A user's recording and its place.

    Attributes:
        path: of the recording.
        scene: in which it is flown.
        offset: (3,) that brings it to the middle of the free volume, at its own height [m].
        duration: [s].
    """

    path: Path
    scene: str
    offset: tuple[float, float, float]
    duration: float


def recordings(folder: Path) -> list[Path]:
    """Recordings in a folder, by name: its rosbag2 bags; without any its ROS 1 bags; without any its CSV files.

    So a flight that is there in several forms is flown once.

    Raises:
        BadInput: no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise BadInput(f"--flights {folder}: no such folder")
    entries = sorted(folder.iterdir())
    kinds = (
        [each for each in entries if _is_rosbag2(each)],
        [each for each in entries if each.suffix == ".bag"],
        [each for each in entries if each.suffix == ".csv"],
    )
    for paths in kinds:
        if paths:
            return paths
    raise BadInput(f"--flights {folder}: no rosbag2 folder, .bag or .csv file")


def recorded_flights(folder: Path) -> dict[str, RecordedCommands]:
    """One recording for each scene of a piloted flight; with fewer recordings than scenes they come again.

    Raises:
        BadInput: nothing to fly, a recording that cannot be read, or one that does not fit into its scene.
    """
    paths = recordings(folder)
    return {
        scene: placed(paths[i % len(paths)], course)
        for i, (scene, course) in enumerate(COURSES.items())
    }


def placed(path: Path, course: PilotedFlight) -> RecordedCommands:
    """A recording in the middle of a course's free volume; it is moved sideways only, and not scaled.

    Raises:
        BadInput: it cannot be read, or it does not fit.
    """
    recorded = read_recorded(path)
    low, high = recorded.p_WP_W.min(axis=0), recorded.p_WP_W.max(axis=0)
    free = np.array(course.volume)
    offset = np.round(free.mean(axis=0) - 0.5 * (low + high), 3)
    offset[2] = 0.0
    if (low + offset < free[0]).any() or (high + offset > free[1]).any():
        size = " x ".join(f"{extent:.1f}" for extent in high - low)
        room = " x ".join(f"{extent:.1f}" for extent in free[1] - free[0])
        heights = f"heights {low[2]:.1f} to {high[2]:.1f} m"
        raise BadInput(
            f"{path}: {size} m at {heights} does not fit into {course.scene}: {room} m from"
            f" {free[0, 2]:.1f} to {free[1, 2]:.1f} m"
        )
    x, y, z = offset.tolist()
    return RecordedCommands(path, course.scene, (x, y, z), recorded.duration)


def _is_rosbag2(path: Path) -> bool:
    if path.is_dir():
        return any(each.suffix in STORAGE_SUFFIXES for each in path.iterdir())
    return path.suffix in STORAGE_SUFFIXES


def main(arguments: list[str]) -> None:
    """Make all flights in a folder, by default where they ship from; each must not be there yet."""
    folder = Path(arguments[0]) if arguments else FLIGHTS
    for name, course in COURSES.items():
        write_flight(course, folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
