# SPDX-License-Identifier: BSD-3-Clause
"""What a policy sees of a docking pair, by terms; target before chaser where both are meant.

| term | numbers | unit | what it is |
|---|---|---|---|
| `position_error` | 6 | m | place less reference, in `map`; the chaser's: docked to a target at its own |
| `velocity` | 6 | m/s | in `map` |
| `attitude` | 18 | 1 | rotation matrices R_WB, row by row |
| `rates` | 6 | rad/s | body rates |
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

Places, velocities, attitudes and rates are measured ones, with their noise; no term is the truth.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_control.docking.vehicle_control import DISTURBANCE, POSITION, VELOCITY, PairParameters
from iap_description.arrays import Array, Integers
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
from iap_learning.tasks.terms import LARGEST, Layout

(
    POSITION_ERROR,
    VELOCITIES,
    ATTITUDE,
    RATES,
    WRENCH,
    LATCHED,
    TIP,
    TIP_VELOCITY,
    ESTIMATED_ERROR,
    ESTIMATED_VELOCITY,
    ESTIMATED_TIP,
    ESTIMATED_TIP_VELOCITY,
    DISTURBANCES,
    ACTION,
) = range(14)
TERMS = {  # numbers of each; of the last, the action's
    "position_error": 6,
    "velocity": 6,
    "attitude": 18,
    "rates": 6,
    "wrench": 6,
    "latched": 1,
    "tip": 3,
    "tip_velocity": 3,
    "estimated_error": 6,
    "estimated_velocity": 6,
    "estimated_tip": 3,
    "estimated_tip_velocity": 3,
    "disturbance": 6,
    "action": 0,
}
SIZES = np.array(list(TERMS.values()))


class View(NamedTuple):
    """An observation's terms as compiled loops take them.

    Attributes:
        terms: (n,) numbers of the terms, see the module.
        at: (n,) where each stands.
        factors: (size,) one over the scales.
        references: (2, 3) of target and chaser [m].
        pair: what is known of the vehicles.
    """

    terms: Integers
    at: Integers
    factors: Array
    references: Array
    pair: PairParameters

    @classmethod
    def of(cls, layout: Layout, references: Array, pair: PairParameters) -> Self:
        """The view of a layout."""
        names, sizes = list(TERMS), [size for _, size, _ in layout]
        return cls(
            np.array([names.index(name) for name, _, _ in layout]),
            np.cumsum([0, *sizes[:-1]]),
            np.concatenate([np.full(size, 1.0 / scale) for _, size, scale in layout]),
            references,
            pair,
        )


def layout_of(scales: Mapping[str, float], actions: int) -> Layout:
    """Terms, their sizes and scales, where actions have so many numbers."""
    sizes = {**TERMS, "action": actions}
    return tuple((name, sizes[name], scale) for name, scale in scales.items())


@njit(cache=True)
def observe(
    measured: Array,
    wrench: Array,
    latched: bool,
    action: Array,
    memory: Array,
    view: View,
    raw: Array,
    out: NDArray[np.float32],
) -> None:
    """Write what is seen of one pair.

    Args:
        measured: (2, 13) state rows of target and chaser as they are measured.
        wrench: (6,) see the module.
        latched: whether the latch holds.
        action: (n,) the last one, in [-1, 1].
        memory: (2, 13) of the observers.
        view: what is to be seen.
        raw: (size,) room.
        out: (size,) written.
    """
    for k in range(len(view.terms)):
        term, i = view.terms[k], view.at[k]
        if term <= RATES or ESTIMATED_ERROR <= term <= ESTIMATED_VELOCITY or term == DISTURBANCES:
            _write_each(term, measured, memory, view, raw, i)
        elif term == WRENCH:
            raw[i : i + 6] = wrench
        elif term == LATCHED:
            raw[i] = 1.0 if latched else 0.0
        elif term == ACTION:
            raw[i : i + len(action)] = action
        else:
            put_at(raw, i, _tip_term(term, measured, memory, view.pair))
    for k in range(len(out)):
        out[k] = min(max(raw[k] * view.factors[k], -LARGEST), LARGEST)


@njit(cache=True)
def _write_each(
    term: int, measured: Array, memory: Array, view: View, raw: Array, at: int
) -> None:
    """Write a term of both aircraft."""
    for j in range(2):
        x, own, reference = measured[j], memory[j], vec_at(view.references[j], 0)
        i = at + j * (9 if term == ATTITUDE else 3)
        if term == POSITION_ERROR:
            put_at(raw, i, sub(vec_at(x, 0), reference))
        elif term == VELOCITIES:
            put_at(raw, i, vec_at(x, 7))
        elif term == ATTITUDE:
            _write_matrix(x, raw, i)
        elif term == RATES:
            put_at(raw, i, unrotate(quat_at(x, 3), vec_at(x, 10)))
        elif term == ESTIMATED_ERROR:
            put_at(raw, i, sub(vec_at(own, POSITION), reference))
        elif term == ESTIMATED_VELOCITY:
            put_at(raw, i, vec_at(own, VELOCITY))
        else:
            put_at(raw, i, vec_at(own, DISTURBANCE))


@njit(cache=True)
def _write_matrix(x: Array, raw: Array, at: int) -> None:
    """Write R_WB of a state row, row by row."""
    q = quat_at(x, 3)
    for column, e in enumerate(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))):
        turned = rotate(q, e)
        for row in range(3):
            raw[at + 3 * row + column] = turned[row]


@njit(cache=True)
def _tip_term(term: int, measured: Array, memory: Array, pair: PairParameters) -> Vec:
    """The probe's end in the target's axes, or its velocity there; see the module."""
    x_t, x_c = measured[0], measured[1]
    places = vec_at(x_t, 0), vec_at(x_c, 0)
    velocities = vec_at(x_t, 7), vec_at(x_c, 7)
    if term == ESTIMATED_TIP or term == ESTIMATED_TIP_VELOCITY:
        places = vec_at(memory[0], POSITION), vec_at(memory[1], POSITION)
        velocities = vec_at(memory[0], VELOCITY), vec_at(memory[1], VELOCITY)
    q_t = quat_at(x_t, 3)
    arm_W = rotate(quat_at(x_c, 3), vec_at(pair.probe.position, 0))
    away_W = sub(add(places[1], arm_W), places[0])  # from the target's CoM to the probe's end
    if term == TIP or term == ESTIMATED_TIP:
        return sub(unrotate(q_t, away_W), vec_at(pair.socket.position, 0))
    end_W = add(velocities[1], cross(vec_at(x_c, 10), arm_W))
    seat_W = add(velocities[0], cross(vec_at(x_t, 10), away_W))
    return unrotate(q_t, sub(end_W, seat_W))
