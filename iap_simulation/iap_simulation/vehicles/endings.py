# SPDX-License-Identifier: BSD-3-Clause
"""Endings of flights: the distance from its reference at which one has failed, and statuses of worlds in words."""

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


def too_far(name: str) -> str:
    """The sentence on a vehicle whose flight ends for that."""
    return f"{name} is more than {MAX_DISTANCE:.0f} m from its reference"


def failure_of(status: int, name: str, steps: int, dt: float) -> FlightFailed | None:
    """Failure that a world's status says; None while it runs.

    Args:
        status: of the world.
        name: of its vehicle.
        steps: physics steps that it has flown.
        dt: of one of them [s].
    """
    why = {
        DIVERGED: ("diverged", f"the state of '{name}' is not finite"),
        INVALID_COMMAND: ("invalid_command", "the controller's command is not finite"),
        UPSIDE_DOWN: (CRASHED, UPSIDE_DOWN_TEXT.format(name)),
        TOO_FAR: ("diverged", too_far(name)),
        HIT_GROUND: (CRASHED, f"{name} hit the ground"),
        HIT_OBSTACLE: (CRASHED, f"{name} hit an obstacle"),
        AIRCRAFT_HIT: (CRASHED, f"an aircraft of {name} hit an object"),
        FOLDED: (CRASHED, f"bodies of {name} have collided"),
        CONTACT_LOST: ("contact_lost", f"{name} lost its contact"),
    }
    if status == RUNNING:
        return None
    outcome, sentence = why[status]
    survived = steps + (status == DIVERGED)  # and the one that it did not survive
    return FlightFailed(outcome, survived * dt, sentence)
