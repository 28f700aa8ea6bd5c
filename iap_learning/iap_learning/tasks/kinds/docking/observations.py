# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of a docking pair; target before chaser where both are meant.

| term | numbers | unit | what it is |
|---|---|---|---|
| `position_error` | 6 | m | place less reference, in `map`; the chaser's: docked to a target at its own |
| `velocity` | 6 | m/s | in `map` |
| `attitude` | 18 | 1 | rotation matrices R_WB, row by row |
| `rates` | 6 | rad/s | body rates |
| `chaser_attitude` | 9 | 1 | that of the chaser alone |
| `chaser_rates` | 3 | rad/s | the same |
| `wrench` | 6 | N, N m | of contact and latch on the chaser over the last control period, about its CoM, in `map` |
| `latched` | 1 | 1 | whether the latch holds the probe |
| `tip` | 3 | m | from the socket's mouth to the probe's end, in the target's axes |
| `tip_velocity` | 3 | m/s | of the probe's end as the socket sees it, in the target's axes |
| `estimated_error` | 6 | m | `position_error` by the observers of `iap_control.docking.vehicle_control` |
| `estimated_velocity` | 6 | m/s | `velocity` by the observers |
| `estimated_tip` | 3 | m | `tip` with places by the observers |
| `estimated_tip_velocity` | 3 | m/s | `tip_velocity` with velocities by the observers |
| `disturbance` | 6 | m/s^2 | accelerations that thrust and weight do not explain, by the observers |
| `action` | as the action has | 1 | the last action |
| `actions_before` | three times as many | 1 | the three actions before the last, newest first |

Places, velocities, attitudes and rates are measured ones, with their noise; no term is the truth.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.docking.vehicle_control import DISTURBANCE, POSITION, VELOCITY, PairParameters
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import (
    Vec,
    add,
    cross,
    put_at,
    quat_at,
    rotate,
    sub,
    unrotate,
    vec_at,
)
from iap_description.states import REF_FIXED
from iap_learning.tasks.terms import PER_ACTION, Term, TermTable, array_term
from iap_learning.tasks.user_inputs import TermInputs, resting

ACTIONS_BEFORE = 3  # the last that are observed
NO_ROTORS = np.zeros((0, 4))  # their speeds are not measured


def rest_of(actions: int) -> TermInputs:
    """Target and chaser at rest where they are docked, as functions of the user's own get them."""
    return TermInputs(resting(2), resting(2, REF_FIXED), NO_ROTORS, np.zeros(actions))


class PairInputs(NamedTuple):
    """Inputs of the terms, of B pairs.

    Attributes:
        measured: (B, 2, 13) state rows of target and chaser as they are measured, predicted over the assumed delay.
        wrench: (B, 6) see the module.
        latched: (B,) whether the latch holds.
        action: (B, n) the last ones, in [-1, 1].
        actions_before: (B, 3 n) those before them, newest first.
        observers: (B, 2, n) memory of the observers.
        references: (2, 3) of target and chaser [m].
        pair: what is known of the vehicles.
    """

    measured: Array
    wrench: Array
    latched: Booleans
    action: Array
    actions_before: Array
    observers: Array
    references: Array
    pair: PairParameters


def _columns(rows: Array, first: int) -> Array:
    """Three columns (B, 6) of rows (B, 2, 13), of target and chaser."""
    return rows[:, :, first : first + 3].reshape(-1, 6)


def _errors(rows: Array, first: int, references: Array) -> Array:
    """Positions (B, 6) less the references."""
    return (rows[:, :, first : first + 3] - references).reshape(-1, 6)


@njit(cache=True)
def _put_attitude(x: Array, out: Array) -> None:
    """Write R_WB of a state row (13,) into (9,), row by row."""
    q, axes = quat_at(x, 3), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for column, axis in enumerate(axes):
        turned = rotate(q, axis)
        for row in range(3):
            out[3 * row + column] = turned[row]


@njit(cache=True)
def _put_rates(x: Array, out: Array) -> None:
    """Write the body rates of a state row (13,) into (3,)."""
    put_at(out, 0, unrotate(quat_at(x, 3), vec_at(x, 10)))


@njit(cache=True)
def _fill_attitudes(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        for j in range(2):
            _put_attitude(inputs.measured[indices[n], j], out[n, 9 * j :])


@njit(cache=True)
def _fill_rates(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        for j in range(2):
            _put_rates(inputs.measured[indices[n], j], out[n, 3 * j :])


@njit(cache=True)
def _fill_chaser_attitude(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        _put_attitude(inputs.measured[indices[n], 1], out[n])


@njit(cache=True)
def _fill_chaser_rates(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        _put_rates(inputs.measured[indices[n], 1], out[n])


@njit(cache=True)
def _fill_tip(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        rows = inputs.measured[indices[n]]
        put_at(out[n], 0, _tip(rows, rows, 0, inputs.pair))


@njit(cache=True)
def _fill_estimated_tip(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        b = indices[n]
        tip = _tip(inputs.measured[b], inputs.observers[b], POSITION, inputs.pair)
        put_at(out[n], 0, tip)


@njit(cache=True)
def _fill_tip_velocity(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        rows = inputs.measured[indices[n]]
        put_at(out[n], 0, _tip_velocity(rows, rows, 0, 7, inputs.pair))


@njit(cache=True)
def _fill_estimated_tip_velocity(inputs: PairInputs, indices: Integers, out: Array) -> None:
    for n in range(len(indices)):
        rows, observers = inputs.measured[indices[n]], inputs.observers[indices[n]]
        velocity = _tip_velocity(rows, observers, POSITION, VELOCITY, inputs.pair)
        put_at(out[n], 0, velocity)


@njit(cache=True)
def _to_tip(measured: Array, rows: Array, position: int, pair: PairParameters) -> tuple[Vec, Vec]:
    """From the CoM of the chaser, and of the target, to the probe's end, in `map`; positions stand in rows (2, n)."""
    arm_W = rotate(quat_at(measured[1], 3), vec_at(pair.probe.position, 0))
    end_W = add(vec_at(rows[1], position), arm_W)
    return arm_W, sub(end_W, vec_at(rows[0], position))


@njit(cache=True)
def _tip(measured: Array, rows: Array, position: int, pair: PairParameters) -> Vec:
    """The probe's end in the target's axes."""
    _, away_W = _to_tip(measured, rows, position, pair)
    q_t = quat_at(measured[0], 3)
    return sub(unrotate(q_t, away_W), vec_at(pair.socket.position, 0))


@njit(cache=True)
def _tip_velocity(
    measured: Array, rows: Array, position: int, velocity: int, pair: PairParameters
) -> Vec:
    """Velocity of the probe's end relative to the socket, in the target's axes."""
    arm_W, away_W = _to_tip(measured, rows, position, pair)
    end_W = add(vec_at(rows[1], velocity), cross(vec_at(measured[1], 10), arm_W))
    socket_W = add(vec_at(rows[0], velocity), cross(vec_at(measured[0], 10), away_W))
    return unrotate(quat_at(measured[0], 3), sub(end_W, socket_W))


TERMS = TermTable.of(
    array_term("position_error", 6, lambda each: _errors(each.measured, 0, each.references)),
    array_term("velocity", 6, lambda each: _columns(each.measured, 7)),
    Term("attitude", 18, _fill_attitudes),
    Term("rates", 6, _fill_rates),
    Term("chaser_attitude", 9, _fill_chaser_attitude),
    Term("chaser_rates", 3, _fill_chaser_rates),
    array_term("wrench", 6, lambda each: each.wrench),
    array_term("latched", 1, lambda each: each.latched[:, None]),
    Term("tip", 3, _fill_tip),
    Term("tip_velocity", 3, _fill_tip_velocity),
    array_term(
        "estimated_error", 6, lambda each: _errors(each.observers, POSITION, each.references)
    ),
    array_term("estimated_velocity", 6, lambda each: _columns(each.observers, VELOCITY)),
    Term("estimated_tip", 3, _fill_estimated_tip),
    Term("estimated_tip_velocity", 3, _fill_estimated_tip_velocity),
    array_term("disturbance", 6, lambda each: _columns(each.observers, DISTURBANCE)),
    array_term("action", PER_ACTION, lambda each: each.action),
    array_term("actions_before", PER_ACTION, lambda each: each.actions_before, ACTIONS_BEFORE),
)
