# SPDX-License-Identifier: BSD-3-Clause
r"""Actions of a policy on a docking pair, as thrust and body rates of both aircraft at every control instant.

| kind | numbers of an aircraft | what is commanded |
|---|---|---|
| `acceleration` | 3 | acceleration in `map` [m/s^2]; an attitude loop (`vehicle_control`) turns the thrust there |
| `thrust_rates` | 4 | thrust over weight less one, and body rates [rad/s] |
| `printed` | 6 | the paper's: acceleration in `map` [m/s^2], and angular acceleration in the body's axes [rad/s^2] |

An aircraft accelerates along its thrust alone. Of a `printed` acceleration the thrust takes the part along the body's
z axis, :math:`T = m (\dot v + g e_3) \cdot R e_3`, and the angular acceleration turns the rest there: the rate
:math:`w + \dot w / k_w` is commanded, of which the autopilot's rate loop of gain k_w makes that acceleration.
"""

from typing import NamedTuple

from numba import njit

from iap_control.docking.coupled_flight import PairLaws
from iap_control.docking.guidance import hold_acceleration
from iap_control.docking.missed_approach import MissedApproach
from iap_control.docking.vehicle_control import (
    DISTURBANCE,
    PairParameters,
    attitude_command,
    body_rates,
    note_command,
    thrust_command,
)
from iap_description.arrays import Array
from iap_description.math.kernels import dot, put_at, quat_at, rotate, scale, sub, unrotate, vec_at

ACCELERATION, THRUST_RATES, PRINTED = range(3)


class ActionKind(NamedTuple):
    """A kind of actions: its number, and numbers of an action for each aircraft."""

    number: int
    size: int


KINDS = {
    "acceleration": ActionKind(ACCELERATION, 3),
    "thrust_rates": ActionKind(THRUST_RATES, 4),
    "printed": ActionKind(PRINTED, 6),
}


class ActionControl(NamedTuple):
    """Conversion of actions to thrust and body rates.

    Attributes:
        kind: number of the kind.
        size: numbers of an action for each aircraft.
        compensated: whether the estimated disturbance is taken from accelerations.
        rate: (3,) gains of the autopilots' rate loops [1/s].
        laws: of the pair.
        missed: when both vehicles back off.
        first: aircraft from which on actions command: 0 both, 1 the chaser alone, while the target holds its place.
    """

    kind: int
    size: int
    compensated: bool
    rate: Array
    laws: PairLaws
    missed: MissedApproach
    first: int


@njit(cache=True)
def action_of(values: Array, i: int, control: ActionControl) -> Array:
    """The part of an action that commands aircraft i."""
    first = (i - control.first) * control.size
    return values[first : first + control.size]


@njit(cache=True)
def command(
    values: Array, measured: Array, control: ActionControl, memory: Array, out: Array
) -> None:
    """Write what one pair is asked for at one control instant.

    Args:
        values: the action in SI units, of the aircraft that it commands one after the other.
        measured: (2, 13) their state rows, measured and predicted to the instant at which the commands act.
        control: how.
        memory: (2, n) of their observers, which keep what is commanded.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s], written.
    """
    script, pair = control.laws.script, control.laws.pair
    for i in range(control.first):
        a = sub(hold_acceleration(script, memory[i]), vec_at(memory[i], DISTURBANCE))
        attitude_command(measured[i], a, script, pair, memory[i], out[i])
    for i in range(control.first, 2):
        action = action_of(values, i, control)
        if control.kind == ACCELERATION:
            a = vec_at(action, 0)
            if control.compensated:
                a = sub(a, vec_at(memory[i], DISTURBANCE))
            attitude_command(measured[i], a, script, pair, memory[i], out[i])
            continue
        if control.kind == THRUST_RATES:
            _thrust_and_rates(action, pair, out[i])
        else:
            _accelerate(action, measured[i], control, out[i])
        note_command(out[i], script, pair, memory[i])


@njit(cache=True)
def _thrust_and_rates(action: Array, pair: PairParameters, out: Array) -> None:
    out[0] = max(0.0, pair.mass * pair.gravity * (1.0 + action[0]))
    out[1], out[2], out[3] = action[1], action[2], action[3]


@njit(cache=True)
def _accelerate(action: Array, x: Array, control: ActionControl, out: Array) -> None:
    q_WB = quat_at(x, 3)
    pair = control.laws.pair
    f_W = (action[0], action[1], action[2] + pair.gravity)
    out[0] = max(0.0, pair.mass * dot(f_W, rotate(q_WB, (0.0, 0.0, 1.0))))
    w_B = unrotate(q_WB, vec_at(x, 10))
    for k in range(3):
        out[1 + k] = w_B[k] + action[3 + k] / control.rate[k]


@njit(cache=True)
def values_of(
    accelerations: Array, measured: Array, control: ActionControl, turn_rate: float, out: Array
) -> None:
    """Write the action in SI units that gives one pair accelerations, as well as its kind can.

    Args:
        accelerations: (2, 3) of target and chaser, any disturbance taken off [m/s^2].
        measured: (2, 13) their measured state rows.
        control: what an action means.
        turn_rate: gain with which body rates are followed by angular accelerations [1/s].
        out: (n,) written.
    """
    for i in range(control.first, 2):
        x, action = measured[i], action_of(out, i, control)
        a, q_WB = vec_at(accelerations[i], 0), quat_at(x, 3)
        if control.kind == ACCELERATION:
            put_at(action, 0, a)
            continue
        s, pair = control.laws.script, control.laws.pair
        thrust, q = thrust_command(a, q_WB, pair.mass, pair.gravity)
        w_B = unrotate(q_WB, vec_at(x, 10))
        rates = body_rates(q_WB, w_B, q, s.turn_gain, s.turn_change)
        if control.kind == THRUST_RATES:
            action[0] = thrust / (pair.mass * pair.gravity) - 1.0
            put_at(action, 1, rates)
        else:
            put_at(action, 0, a)
            put_at(action, 3, scale(turn_rate, sub(rates, w_B)))
