# SPDX-License-Identifier: BSD-3-Clause
"""Law of a missed approach: where the probe rests before the latch has caught it, or has passed beside the socket.

A probe that enters slowly or aside rests on the rim: its shoulder meets the rim across from where its axis is off.
Pushing tilts both vehicles against each other and jams it. A probe that slides on beside the socket hooks its flange
behind it. So the target stops, and the chaser backs off along the socket's axis as the script does, see
`iap_control.docking.guidance`. Whoever flew before flies the next approach.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.docking.approach import RETREATS, STATE_SIZE, start_approach, stop_together
from iap_control.docking.coupled_flight import PairLaws
from iap_control.docking.guidance import script_accelerations
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import DISTURBANCE, attitude_command
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Real
from iap_description.math.kernels import sub, vec_at
from iap_description.vehicles.latch import approach

# Indices of the law's memory; the state of the script stands behind them.
BACKS_OFF, SLOW, SCRIPT = 0, 1, 2
MISSED_SIZE = SCRIPT + STATE_SIZE


class MissedApproachSettings(Record):
    """Criterion of a missed approach, and the retreat."""

    depth: Real  # of the probe's end beyond the mouth, from which on it may be missed [m]
    speed: NonNegative  # of closing, below which it rests [m/s]
    time: Positive  # for which it rests [s]
    retreat: Positive  # distance before the mouth from which the next approach begins [m]


class MissedApproach(NamedTuple):
    """`MissedApproachSettings` as compiled loops take them.

    Attributes:
        depth: [m].
        speed: [m/s].
        time: [s]; infinite where nothing backs off.
        script: whose gate is at the end of the retreat, and whose `way_off` is beside the socket.
    """

    depth: float
    speed: float
    time: float
    script: ScriptParameters

    @classmethod
    def of(cls, settings: MissedApproachSettings | None, script: ScriptParameters) -> Self:
        """The law by its settings; None never backs off."""
        if settings is None:
            return cls(0.0, 0.0, np.inf, script)
        back = script._replace(gate=settings.retreat)
        return cls(settings.depth, settings.speed, settings.time, back)


@njit(cache=True)
def back_off(
    predicted: tuple[Array, Array],
    caught: bool,
    missed: MissedApproach,
    laws: PairLaws,
    observers: tuple[Array, Array],
    memory: Array,
    out: Array,
) -> bool:
    """Write the commands of a pair that backs off; returns False, and writes nothing, where none does.

    Args:
        predicted: state rows (13,) of target and chaser at the instant at which the commands act.
        caught: whether the latch holds the probe.
        missed: criterion and retreat.
        laws: of the pair.
        observers: memories of both vehicles.
        memory: (MISSED_SIZE,) zero at the start; advanced in place.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    pair, state = laws.pair, memory[SCRIPT:]
    if caught:
        memory[BACKS_OFF] = memory[SLOW] = 0.0
        return False
    if memory[BACKS_OFF] == 0.0:
        if not _is_missed(predicted, missed, laws, memory):
            return False
        memory[BACKS_OFF], memory[SLOW] = 1.0, 0.0
        state[:] = 0.0
        start_approach(predicted[0], predicted[1], pair, state)
        stop_together(observers[0], observers[1])
        state[RETREATS] = 1.0
    both = script_accelerations(
        predicted[0], predicted[1], caught, missed.script, pair, observers, state
    )
    for i in range(2):
        a = sub(both[i], vec_at(observers[i], DISTURBANCE))
        attitude_command(predicted[i], a, missed.script, pair, observers[i], out[i])
    memory[BACKS_OFF] = state[RETREATS]
    return True


@njit(cache=True)
def _is_missed(
    predicted: tuple[Array, Array], missed: MissedApproach, laws: PairLaws, memory: Array
) -> bool:
    """True once the probe has rested at the socket, or been beside it, for long enough; an instant does not matter."""
    pair = laws.pair
    now = approach(predicted[1], predicted[0], pair.probe, pair.socket)
    rests = now.depth > missed.depth and now.closing < missed.speed
    is_beside = now.depth > 0.0 and now.radius > missed.script.way_off
    memory[SLOW] = max(0.0, memory[SLOW] + (pair.dt if rests or is_beside else -pair.dt))
    return bool(memory[SLOW] >= missed.time)
