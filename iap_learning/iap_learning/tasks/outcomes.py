# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of episodes, by their numbers and words."""

from iap_physics.engines.engine import DIVERGED, FAR, INVALID_COMMAND, RUNNING, UPSIDE_DOWN

# Outcomes of episodes; the first of them are the statuses of worlds.
OUT_OF_BOUNDS = 5
ARRIVED = 6
TIME_IS_UP = 7
COLLIDED = 8
CRASHED = 9  # on the ground or upside down, of a docking
TOO_FORCEFUL = 10
NOT_CALM = 11  # docked, and too fast or tilted at the end of the coupled flight
TOO_FAST = 12  # caught, at too high a closing speed, of modules
OUTCOMES = {
    RUNNING: "running",
    DIVERGED: "diverged",
    INVALID_COMMAND: "invalid_command",
    UPSIDE_DOWN: "upside_down",
    FAR: "far",
    OUT_OF_BOUNDS: "out_of_bounds",
    ARRIVED: "arrived",
    TIME_IS_UP: "time",
    COLLIDED: "collided",
    CRASHED: "crashed",
    TOO_FORCEFUL: "too_forceful",
    NOT_CALM: "not_calm",
    TOO_FAST: "too_fast",
}
