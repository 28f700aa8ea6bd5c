# SPDX-License-Identifier: BSD-3-Clause
"""Endings of flights: the distance from its reference at which one has failed, and statuses of worlds in words."""

from collections.abc import Mapping
from typing import NamedTuple

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_physics.engines.engine import (
    AIRCRAFT_HIT,
    CONTACT_LOST,
    DIVERGED,
    FOLDED,
    HIT_GROUND,
    HIT_OBSTACLE,
    INVALID_COMMAND,
    RUNNING,
    TOO_FAR,
    UPSIDE_DOWN,
)
from iap_physics.session.flight_monitor import CRASHED
from iap_physics.session.flight_monitor import UPSIDE_DOWN as UPSIDE_DOWN_TEXT

MAX_DISTANCE = 10.0  # from the reference, along an axis [m]


def is_far(row: Array, reference: Array) -> bool:
    """True if a body's row (3+) is further than `MAX_DISTANCE` from a reference row (3+) along an axis."""
    x, y, z = row[:3].tolist()  # plain numbers: numpy's own cost more than what is done with them
    a, b, c = reference[:3].tolist()
    return max(abs(x - a), abs(y - b), abs(z - c)) > MAX_DISTANCE


class FlightEnding(NamedTuple):
    """A status of worlds in words.

    Attributes:
        cause: one word in outcomes of tasks.
        outcome: of the flight in metrics.json.
        sentence: on it, with a place for the vehicle's name.
    """

    cause: str
    outcome: str
    sentence: str


FLIGHT_ENDINGS: Mapping[int, FlightEnding] = {  # by the statuses of worlds that run no more
    DIVERGED: FlightEnding("diverged", "diverged", "the state of '{}' is not finite"),
    INVALID_COMMAND: FlightEnding(
        "invalid_command", "invalid_command", "the controller's command is not finite"
    ),
    UPSIDE_DOWN: FlightEnding("upside_down", CRASHED, UPSIDE_DOWN_TEXT),
    TOO_FAR: FlightEnding(
        "far", "diverged", f"{{}} is more than {MAX_DISTANCE:.0f} m from its reference"
    ),
    HIT_GROUND: FlightEnding("hit_ground", CRASHED, "{} hit the ground"),
    HIT_OBSTACLE: FlightEnding("hit_obstacle", CRASHED, "{} hit an obstacle"),
    AIRCRAFT_HIT: FlightEnding("aircraft_hit", CRASHED, "an aircraft of {} hit an object"),
    FOLDED: FlightEnding("folded", CRASHED, "bodies of {} have collided"),
    CONTACT_LOST: FlightEnding("contact_lost", "contact_lost", "{} lost its contact"),
}


def too_far(name: str) -> str:
    """The sentence on a vehicle whose flight ends for that."""
    return FLIGHT_ENDINGS[TOO_FAR].sentence.format(name)


def failure_of(status: int, name: str, steps: int, dt: float) -> FlightFailed | None:
    """Failure that a world's status says; None while it runs.

    Args:
        status: of the world.
        name: of its vehicle.
        steps: physics steps that it has flown.
        dt: of one of them [s].
    """
    if status == RUNNING:
        return None
    ending = FLIGHT_ENDINGS[status]
    survived = steps + (status == DIVERGED)  # and the one that it did not survive
    return FlightFailed(ending.outcome, survived * dt, ending.sentence.format(name))
