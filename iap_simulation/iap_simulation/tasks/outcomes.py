# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of tasks: their numbers in compiled loops, and their names.

Each kind of task has one scalar function ``outcome`` that returns such a number: of dockings in
`iap_simulation.docking.outcome`, of dockings of modules in `iap_simulation.modules.outcome`, of others where they are
defined. Batches of worlds, the closed loop, nodes and evaluations call the same function.
"""

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

# The first outcomes are the statuses of worlds; those of contact have numbers of their own.
OUT_OF_BOUNDS = 5
ARRIVED = 6
TIME_IS_UP = 7
COLLIDED = 8
CRASHED = 9  # on the ground or upside down, of a docking; given up, of modules
TOO_FORCEFUL = 10
NOT_CALM = 11  # docked, and too fast, far off, late or forceful afterwards
TOO_FAST = 12  # caught, at too high a closing speed, of modules
INVALID_TERM = 13  # a term of the user's own gave no number
BOUNCED = 14  # contact was lost too often, of a push
SLIPPED = 15  # along what it pushes
NEVER_TOUCHED = 16
FORCE_OFF = 17  # the wanted force was not held
OUTCOMES = {
    RUNNING: "running",
    DIVERGED: "diverged",
    INVALID_COMMAND: "invalid_command",
    UPSIDE_DOWN: "upside_down",
    TOO_FAR: "far",
    OUT_OF_BOUNDS: "out_of_bounds",
    ARRIVED: "arrived",
    TIME_IS_UP: "time",
    COLLIDED: "collided",
    CRASHED: "crashed",
    TOO_FORCEFUL: "too_forceful",
    NOT_CALM: "not_calm",
    TOO_FAST: "too_fast",
    INVALID_TERM: "invalid_term",
    BOUNCED: "bounced",
    SLIPPED: "slipped",
    NEVER_TOUCHED: "never_touched",
    FORCE_OFF: "force_off",
    HIT_GROUND: "hit_ground",
    HIT_OBSTACLE: "hit_obstacle",
    AIRCRAFT_HIT: "aircraft_hit",
    FOLDED: "folded",
    CONTACT_LOST: "contact_lost",
}
