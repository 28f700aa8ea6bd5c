# SPDX-License-Identifier: BSD-3-Clause
"""Endings of flights of the compiled loops, in the words of a single run's loop."""

from iap_description.errors import FlightFailed
from iap_physics.engines.engine import DIVERGED, INVALID_COMMAND, RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_physics.session.flight_monitor import CRASHED
from iap_physics.session.flight_monitor import UPSIDE_DOWN as UPSIDE_DOWN_TEXT
from iap_simulation.vehicles.distances import too_far


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
    }
    if status == RUNNING:
        return None
    outcome, sentence = why[status]
    survived = steps + (status == DIVERGED)  # and the one that it did not survive
    return FlightFailed(outcome, survived * dt, sentence)
