# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of tasks: their numbers in compiled loops, and their names.

Each kind of task has one scalar function ``outcome`` that returns such a number: of dockings in
`iap_simulation.docking.outcome`, of dockings of modules in `iap_simulation.modules.outcome`, of others where they are
defined. Batches of worlds, the closed loop, nodes and evaluations call the same function.
"""

from iap_physics.engines.engine import RUNNING
from iap_simulation.vehicles.endings import FLIGHT_ENDINGS

# Statuses of worlds are outcomes, too: 0 to 4, and those of contact from 18 on.
OUT_OF_BOUNDS = 5
ARRIVED = 6
TIME_IS_UP = 7
COLLIDED = 8
CRASHED = 9  # on the ground or upside down, of a docking; given up, of modules
TOO_FORCEFUL = 10
NOT_CALM = 11  # docked, and too fast, far off, late or forceful afterwards
TOO_FAST = 12  # caught, at too high a closing speed, of modules
INVALID_TERM = 13  # a term of the user's gave no number
BOUNCED = 14  # contact was lost too often, of a push
SLIPPED = 15  # along what it pushes
NEVER_TOUCHED = 16
FORCE_OFF = 17  # the desired force was not kept
JAMMED = 23  # in the bore, not as deep as it should be
MISSED = 24  # the bore, or what was to be taken
NOT_TURNED = 25  # what has a hinge was pushed, and did not turn
SLIPPED_OFF = 26  # it is no longer touched, and not where it should be
STUCK = 27  # it does not slide as far as it should
OFF_PATH = 28
TOPPLED = 29  # what was pushed
LOST = 30  # what was pushed has fallen off
OVERSHOT = 31  # it was pushed beyond its goal
LATCH_HELD = 32  # its latch holds what is pushed to the end
HANDLE_SLIPPED = 33  # its latch holds, and nothing touches it any more
SLID = 34  # along the wall where it touched
FELL = 35  # off the wall that held it
DROPPED = 36  # what was held has left the gripper in the air
MISPLACED = 37  # what was held has been set down elsewhere
DRAGGED = 38  # it is at its goal, and was not raised on the way
REBOUNDED = 39  # what has a hinge was turned far enough, and came back
OUTCOMES = {
    RUNNING: "running",
    **{status: ending.cause for status, ending in FLIGHT_ENDINGS.items()},
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
    JAMMED: "jammed",
    MISSED: "missed",
    NOT_TURNED: "not_turned",
    SLIPPED_OFF: "slipped_off",
    STUCK: "stuck",
    OFF_PATH: "off_path",
    TOPPLED: "toppled",
    LOST: "lost",
    OVERSHOT: "overshot",
    LATCH_HELD: "latch_held",
    HANDLE_SLIPPED: "handle_slipped",
    SLID: "slid",
    FELL: "fell",
    DROPPED: "dropped",
    MISPLACED: "misplaced",
    DRAGGED: "dragged",
    REBOUNDED: "rebounded",
}
