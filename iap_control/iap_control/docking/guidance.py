# SPDX-License-Identifier: BSD-3-Clause
r"""Guidance of a scripted docking: the target holds its position, the chaser brings its probe into the target's socket.

Each is asked for the acceleration :math:`k_p (p_r - \hat p) + k_d (v_r - \hat v) + a_r`, by the estimates of
`iap_control.docking.vehicle_control`. The chaser's reference goes along the socket's axis, see
`iap_control.docking.approach`. Once the latch has caught, both stop where they are; once it has locked, both fly as one
body, see `iap_control.docking.coupled_flight`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.docking.approach import (
    LATCHED,
    STARTED,
    STATE_SIZE,
    approach_reference,
    smooth_arms,
    start_approach,
    stop_together,
)
from iap_control.docking.coupled_flight import BEGUN, COUPLED_SIZE, PairLaws, coupled_command
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import (
    AIM,
    DISTURBANCE,
    POSITION,
    SENT,
    VEHICLE_SIZE,
    VELOCITY,
    PairParameters,
    attitude_command,
    clipped3,
    initialise_observer,
    predict,
    take_observed,
    update_observer,
)
from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import (
    Vec,
    add,
    put_at,
    scale,
    sub,
    vec_at,
)

ROW = 13  # of a state
# Behind it in the script's memory stand the coupled flight's, predicted rows and the observers of target and chaser.
PREDICTED = STATE_SIZE + COUPLED_SIZE
OBSERVERS = PREDICTED + 2 * ROW
SIZE = OBSERVERS + 2 * VEHICLE_SIZE  # at most, see `memory_size`


class PairLinks(NamedTuple):
    """Links between target and chaser at a control instant.

    Attributes:
        touches: whether they are in contact.
        caught: whether the latch holds the probe.
        locked: whether it holds it without play.
    """

    touches: bool
    caught: bool
    locked: bool


@njit(cache=True)
def script_command(
    measured: tuple[Array, Array],
    links: PairLinks,
    laws: PairLaws,
    memory: Array,
    out: Array,
) -> None:
    """Write the commands of a pair at one control instant.

    Args:
        measured: state rows (13,) of target and chaser.
        links: between them.
        laws: of the pair.
        memory: (`memory_size` or more,) zero at the start; advanced in place.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    script, pair = laws.script, laws.pair
    observers, state = split_memory(memory, pair.ahead)
    coupled = memory[STATE_SIZE:PREDICTED]
    predicted = measured
    if pair.ahead > 0:
        predicted = memory[PREDICTED : PREDICTED + ROW], memory[PREDICTED + ROW : OBSERVERS]
    if state[STARTED] == 0.0:
        start_script(measured[0], measured[1], pair, observers, state)
    rate_gain = pair.coupled_rate_gain if links.locked else pair.rate_gain
    for i in range(2):
        update_observer(measured[i], links.touches or links.caught, script, pair, observers[i])
        if pair.ahead > 0:
            predict(measured[i], rate_gain, script, pair, observers[i], predicted[i])
        else:  # a call with all constants would take longer than this
            take_observed(observers[i])
    if links.locked:
        coupled_command(measured, predicted, laws, observers, coupled, out)
        return
    coupled[BEGUN] = 0.0
    both = script_accelerations(
        predicted[0], predicted[1], links.caught, script, pair, observers, state
    )
    for i in range(2):
        a = sub(both[i], vec_at(observers[i], DISTURBANCE))
        attitude_command(predicted[i], a, script, pair, observers[i], out[i])


@njit(cache=True)
def split_memory(memory: Array, ahead: int) -> tuple[tuple[Array, Array], Array]:
    """Observers of target and chaser with so many commands on their way, and the state of the script."""
    second = OBSERVERS + SENT + 4 * ahead
    both = memory[OBSERVERS:second], memory[second : second + SENT + 4 * ahead]
    return both, memory[:STATE_SIZE]


@njit(cache=True)
def script_accelerations(
    target: Array,
    chaser: Array,
    caught: bool,
    script: ScriptParameters,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> tuple[Vec, Vec]:
    """Accelerations [m/s^2] of target and chaser, by their observers; the script's state is advanced."""
    smooth_arms(target, chaser, pair, state)
    if caught and state[LATCHED] == 0.0:
        stop_together(observers[0], observers[1])
    state[LATCHED] = 1.0 if caught else 0.0
    hold = hold_acceleration(script, observers[0])
    if caught:
        return hold, hold_acceleration(script, observers[1])
    position, velocity, feed_forward = approach_reference(script, pair, observers, state)
    return hold, _pd(position, velocity, feed_forward, script, observers[1])


@njit(cache=True)
def hold_acceleration(script: ScriptParameters, memory: Array) -> Vec:
    """Acceleration [m/s^2] of a vehicle that holds the place at which its observer aims."""
    zero = (0.0, 0.0, 0.0)
    return _pd(vec_at(memory, AIM), zero, zero, script, memory)


@njit(cache=True)
def _pd(p_r: Vec, v_r: Vec, a_r: Vec, script: ScriptParameters, memory: Array) -> Vec:
    """Acceleration [m/s^2] towards a reference."""
    p, v = vec_at(memory, POSITION), vec_at(memory, VELOCITY)
    pull = add(scale(script.stiffness, sub(p_r, p)), scale(script.damping, sub(v_r, v)))
    return add(clipped3(pull, script.limit), a_r)


@njit(cache=True)
def start_script(
    target: Array,
    chaser: Array,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> None:
    """Initialise both observers with the first measurements; the target holds its position."""
    initialise_observer(target, pair, observers[0])
    initialise_observer(chaser, pair, observers[1])
    start_approach(target, chaser, pair, state)


def memory_size(ahead: int) -> int:
    """Size of the script's memory with an assumed delay of so many control periods: a short one is sooner at hand."""
    return OBSERVERS + 2 * (SENT + 4 * ahead)


def empty_memory() -> Array:
    """Memory (SIZE,) at the start of a flight."""
    return np.zeros(SIZE)


@njit(cache=True)
def guide_by_script(
    measured: Array,
    latched: Booleans,
    observed: Array,
    script: ScriptParameters,
    pair: PairParameters,
    memory: Array,
    out: Array,
) -> None:
    """Write the accelerations (B, 2, 3) [m/s^2] of the script in B worlds.

    Args:
        measured: (B, 2, 13) measured state rows of target and chaser.
        latched: (B,) whether the latch holds.
        observed: (B, 2, 13) observers of both.
        script: gains and distances of the approach.
        pair: constants of both vehicles; its period is that of decisions.
        memory: (B, `memory_size` or more) zero at the start; advanced in place.
        out: written.
    """
    for b in range(len(out)):
        observers, state = split_memory(memory[b], pair.ahead)
        x_t, x_c = measured[b, 0], measured[b, 1]
        if state[STARTED] == 0.0:
            start_script(x_t, x_c, pair, observers, state)
        for i in range(2):
            observers[i][:AIM] = observed[b, i, :AIM]
        both = script_accelerations(x_t, x_c, latched[b], script, pair, observers, state)
        put_at(out[b, 0], 0, both[0])
        put_at(out[b, 1], 0, both[1])


@njit(cache=True)
def command_by_script(
    measured: Array,
    links: tuple[Booleans, Booleans, Booleans],
    laws: PairLaws,
    memory: Array,
    out: Array,
) -> None:
    """Write the commands (B, 2, 4) of the script in B worlds.

    Args:
        measured: (B, 2, 13) measured state rows of target and chaser.
        links: (B,) each: whether the two touch, the latch holds, and holds without play, see `PairLinks`.
        laws: of both vehicles.
        memory: (B, `memory_size`) zero at the start; advanced in place.
        out: written: thrust [N] and body rate [rad/s] of each.
    """
    touches, caught, locked = links
    for b in range(len(measured)):
        now = PairLinks(touches[b], caught[b], locked[b])
        script_command((measured[b, 0], measured[b, 1]), now, laws, memory[b], out[b])
