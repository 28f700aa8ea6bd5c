# SPDX-License-Identifier: BSD-3-Clause
"""Shipped flights by hand, and how they are made: `python -m iap_bringup.experiments.hand_flights`.

A scripted pilot (`hand_pilot`) moves a gamepad's sticks; the joystick's own path makes the
reference of them (`teleop`), at every state of the loop as the node does, and some of the
references are recorded. Each is made from nothing but its seed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_bringup import DATA
from iap_bringup.experiments.hand_pilot import HandPilot, Room
from iap_bringup.teleop.mappings import JoystickMapping, load_mapping
from iap_bringup.teleop.stick_reference import Hand, joystick_demand
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_P, Level
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.bags.bag_writer import BagWriter
from iap_io.wire.cdr import message_types
from iap_io.wire.message_views import ReferenceMessage
from iap_physics.engines.joints import joined_rows
from iap_simulation.scenario.scenario import Options, Scenario, resolve_replay

Array = NDArray[np.float64]

FLIGHTS = DATA / "flights"
MAPPING = FLIGHTS / "gamepad.yaml"
PLATFORM, ANCHORS = "three_star", "paper_manual"
DURATION = 60.0  # [s]
WAITING = 1.0, 2.5  # [s] before the sticks are touched, and after they are let go
STATES, JOY, KEPT = 200, 50, 25  # [Hz] of states, of the joystick, and of what is recorded
TOPIC = "/iap/reference"
DIGITS = 6  # that are recorded, so that rounding in the last place of a machine does not show


@dataclass(frozen=True)
class Course:
    """A flight by hand.

    Attributes:
        scene: where, and the flight's name.
        seed: of the pilot.
        start: (3,) [m].
        room: of its goals.
        volume: that it does not leave; free of obstacles with room for the platform.
    """

    scene: str
    seed: int
    start: tuple[float, float, float]
    room: Room
    volume: Room


COURSES = {
    each.scene: each
    for each in (
        Course(
            "narrow_station",
            1,
            (0.0, 0.0, 1.5),
            Room((-9.0, -4.0, 1.2), (9.0, 4.0, 3.6)),
            Room((-11.0, -6.5, 0.8), (11.0, 6.5, 4.2)),
        ),
        Course(
            "broad_station",
            7,
            (0.0, 0.0, 1.5),
            Room((-7.0, -5.0, 1.2), (7.0, 5.0, 3.6)),
            Room((-9.0, -6.5, 0.8), (9.0, 6.5, 4.2)),
        ),
        Course(
            "bright_arena",
            8,
            (0.0, 0.0, 1.5),
            Room((-8.0, -5.5, 1.2), (8.0, 5.5, 3.6)),
            Room((-10.0, -7.0, 0.8), (10.0, 7.0, 4.2)),
        ),
    )
}


def flown_by_hand(course: Course) -> Array:
    """Reference rows (K, 19 + N) of a flight at `STATES`, from its first to its last instant."""
    mapping = load_mapping(JoystickMapping, str(MAPPING))
    base = np.zeros(13)
    base[:3], base[6] = course.start, 1.0
    hand = Hand.at(joined_rows(Assembly.of(load_platform(PLATFORM)), base))
    every = STATES // JOY
    pilot = HandPilot(course.room, mapping, np.random.default_rng(course.seed), 1.0 / JOY)
    rows, demand = [hand.row], joystick_demand([0.0] * 8, [0] * 12, mapping)
    for k in range(1, round(DURATION * STATES) + 1):
        t = k / STATES
        if t > WAITING[0] and k % every == 0:
            axes, buttons = pilot.sticks(t, hand.row, is_done=t > DURATION - WAITING[1])
            demand = joystick_demand(axes.tolist(), buttons, mapping)
        hand = hand.moved(demand, 1.0 / STATES, limits=mapping.limits, p_WP_W=hand.row[REF_P])
        rows.append(hand.row)
    return np.array(rows)


def write_flight(course: Course, folder: Path) -> None:
    """Record the references of a flight as a rosbag2 folder; the same bytes every time.

    Raises:
        RecordingFailed: the folder is there already, or cannot be written.
    """
    every = STATES // KEPT
    rows = np.round(flown_by_hand(course)[::every], DIGITS) + 0.0  # no negative zeros
    message = ReferenceMessage.of(rows.shape[1] - REF_FIXED)
    writer = BagWriter(
        folder, message_types(), {"made_by": "iap_bringup.experiments.hand_flights"}
    )
    channel = writer.add_topic(TOPIC, ReferenceMessage.TYPE)
    for k, row in enumerate(rows):
        stamp = k * (1_000_000_000 // KEPT)
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
        raise BadInput(f"no flight by hand '{name}': choose {', '.join(COURSES)}")
    return FLIGHTS / name


def resolve_hand_flight(name: str, options: Options) -> tuple[Scenario, dict[str, Any]]:
    """A flight that ships with the suite, in its scene, which `options` may replace, among the anchors of TABLE XI.

    Raises:
        BadInput: no such flight, or anything else unknown or impossible.
    """
    return resolve_recording(flight_folder(name), name, options)


def resolve_recording(path: Path, scene: str, options: Options) -> tuple[Scenario, dict[str, Any]]:
    """Any recorded command, flown by the three-star in a scene among the anchors of TABLE XI, if it has a tag."""
    given = options.model_copy(update={"scene": options.scene or scene})
    command = {"path": str(path), "topic": None, "actual_topic": None, "convention": None}
    scenario, _ = resolve_replay(command, given)
    has_tag = scenario.vehicles[0].sensors.uwb is not None
    anchors = (f"sensors.uwb.anchors={ANCHORS}",) if has_tag else ()
    return resolve_replay(
        command, given.model_copy(update={"assignments": (*anchors, *given.assignments)})
    )


def main(arguments: list[str]) -> None:
    """Make all flights in a folder, by default where they ship from; each must not be there yet."""
    folder = Path(arguments[0]) if arguments else FLIGHTS
    for name, course in COURSES.items():
        write_flight(course, folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
