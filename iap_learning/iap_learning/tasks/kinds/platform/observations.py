# SPDX-License-Identifier: BSD-3-Clause
"""Observations, written by one compiled loop over blocks of worlds; `term_table` says what their terms are."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.math.elementary import turn_vector
from iap_description.math.kernels import (
    formula,
    least,
    most,
    qconj,
    qmul,
    quat_at,
    rotate,
    sub,
    unrotate,
)
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get3,
    get4,
    set1,
    set3,
    world_at,
)
from iap_learning.tasks.kinds.platform.block import (
    GOAL,
    MEASURES,
    STATE,
    THREE,
    all_lanes,
    put_world,
)
from iap_learning.tasks.kinds.platform.term_table import (
    ACTION,
    AIRCRAFT_UP,
    ATTITUDE,
    ATTITUDE_ERROR,
    GOAL_ACCELERATION,
    GYRO,
    POSITION_ERROR,
    POSITION_ERROR_P,
    RATES,
    ROTATION_COLUMNS,
    RPM,
    UPWARDS,
    VELOCITY,
    VELOCITY_ERROR,
    VELOCITY_P,
)
from iap_learning.tasks.terms import BOUND
from iap_learning.tasks.user_inputs import WorldArrays

UP = (0.0, 0.0, 1.0)
NO_SAMPLES = np.zeros((0, 6))


@formula
def _write_three(term: int, factor: float, block: Array, lanes: Lanes) -> None:
    """Write a term of three numbers, as a policy sees them, into rows `THREE`."""
    if term == ATTITUDE_ERROR:
        for lane in range(lanes[0], lanes[1]):
            q_WP, q_goal = get4(block, STATE, 3, lane), get4(block, GOAL, 3, lane)
            set3(block, THREE, 0, lane, turn_vector(qmul(qconj(q_WP), q_goal)))
    else:
        _write_in_map(term, block, lanes)
    if term in (POSITION_ERROR_P, UPWARDS, VELOCITY_P, RATES):
        for lane in range(lanes[0], lanes[1]):
            v_W = get3(block, THREE, 0, lane)
            set3(block, THREE, 0, lane, unrotate(get4(block, STATE, 3, lane), v_W))
    for lane in range(lanes[0], lanes[1]):
        for k in range(3):
            set1(block, THREE, k, lane, bounded(get(block, THREE, k, lane), factor))


@formula
def _write_in_map(term: int, block: Array, lanes: Lanes) -> None:
    """Write the vector that a term is made of, in `map`, into rows `THREE`."""
    if term in (POSITION_ERROR, POSITION_ERROR_P):
        _write_difference(block, 0, lanes)
    elif term == VELOCITY_ERROR:
        _write_difference(block, 7, lanes)
    elif term == GOAL_ACCELERATION:
        _write_copy(block, GOAL, 13, lanes)
    elif term == RATES:
        _write_copy(block, STATE, 10, lanes)
    elif term in (VELOCITY, VELOCITY_P):
        _write_copy(block, STATE, 7, lanes)
    else:
        for lane in range(lanes[0], lanes[1]):
            set3(block, THREE, 0, lane, UP)


@formula
def _write_difference(block: Array, k: int, lanes: Lanes) -> None:
    """Write numbers of goals from k on less those of states."""
    for lane in range(lanes[0], lanes[1]):
        difference = sub(get3(block, GOAL, k, lane), get3(block, STATE, k, lane))
        set3(block, THREE, 0, lane, difference)


@formula
def _write_copy(block: Array, row: Index, k: int, lanes: Lanes) -> None:
    for lane in range(lanes[0], lanes[1]):
        set3(block, THREE, 0, lane, get3(block, row, k, lane))


@formula
def bounded(number: float, factor: float) -> float:
    """A number as a policy sees it."""
    return least(most(number * factor, -BOUND), BOUND)


class ObservationInputs(NamedTuple):
    """States, goals, rotor speeds and actions, of which observations of B worlds are made.

    Attributes:
        x: (B, bodies, 13) states.
        goals: (K, 19+) reference rows.
        at: (B,) row of each world's goal.
        rpm: (B, N, 4) rotor speeds [rpm].
        action: (B, m) the last ones.
        imu: (B, 6) means of the central body's inertial unit over the last control period: angular velocity and
            specific force; none where no term needs them.
    """

    x: Array
    goals: Array
    at: Integers
    rpm: Array
    action: Array
    imu: Array = NO_SAMPLES

    @property
    def arrays(self) -> WorldArrays:
        """The same for terms of the user's own."""
        return WorldArrays(*self[:5])


class Parts(NamedTuple):
    """Terms of an observation as compiled loops take them.

    Attributes:
        terms: numbers in `NAMES`.
        columns: the first one of each.
        factors: that multiplies the numbers of each.
    """

    terms: Integers
    columns: NDArray[np.uint64]
    factors: Array


NO_PARTS = Parts(np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0))


@njit(cache=True, nogil=True, error_model="numpy")
def observe(
    which: Integers, inputs: ObservationInputs, parts: Parts, out: NDArray[np.float32]
) -> None:
    """Write observations of some worlds.

    Args:
        which: (n,) the worlds.
        inputs: what they are made of.
        parts: of an observation.
        out: (n, numbers).
    """
    x, goals, at = inputs.x, inputs.goals, inputs.at
    block = np.empty(int(MEASURES) * LANES)
    for first in range(0, len(which), LANES):
        for lane in range(np.uint64(LANES)):
            b = np.uint64(which[world_at(first, lane, len(which))])
            put_world(block, lane, x[b, 0], goals[at[b]])
        observe_block(block, which[first : first + LANES], inputs, parts, out[first:])


@formula
def observe_block(
    block: Array,
    which: Integers,
    inputs: ObservationInputs,
    parts: Parts,
    out: NDArray[np.float32],
) -> None:
    """Write observations of a block's worlds (n,), of which it has states and goals, into `out` (n, numbers)."""
    for t in range(len(parts.terms)):
        term, column, factor = parts.terms[t], parts.columns[t], parts.factors[t]
        if term in (ATTITUDE, AIRCRAFT_UP, RPM, ACTION) or term >= ROTATION_COLUMNS:
            _write_many(term, which, inputs, column, factor, out)
            continue
        _write_three(term, factor, block, all_lanes())
        for lane in range(np.uint64(len(which))):
            for k in range(3):
                out[lane, column + np.uint64(k)] = get(block, THREE, k, lane)


@formula
def _write_many(
    term: int,
    which: Integers,
    inputs: ObservationInputs,
    column: Index,
    factor: float,
    out: NDArray[np.float32],
) -> None:
    """Write a term of another number of numbers than three."""
    if term == AIRCRAFT_UP:
        _write_aircraft_up(which, inputs, column, factor, out)
        return
    if term >= ROTATION_COLUMNS:
        _write_measured(term, which, inputs, column, factor, out)
        return
    action, x, rpm, four = inputs.action, inputs.x, inputs.rpm, np.uint64(4)
    for i in range(np.uint64(len(which))):
        b = np.uint64(which[i])
        if term == ACTION:
            for k in range(np.uint64(action.shape[1])):
                out[i, column + k] = bounded(action[b, k], factor)
        elif term == ATTITUDE:
            for k in range(four):
                out[i, column + k] = bounded(x[b, 0, np.uint64(3) + k], factor)
        else:
            for k in range(np.uint64(rpm.shape[1]) * four):
                out[i, column + k] = bounded(rpm[b, k // four, k % four], factor)


@formula
def _write_aircraft_up(
    which: Integers,
    inputs: ObservationInputs,
    column: Index,
    factor: float,
    out: NDArray[np.float32],
) -> None:
    x, count = inputs.x, inputs.rpm.shape[1]
    first = x.shape[1] - count  # an aircraft alone is the central body
    for i in range(np.uint64(len(which))):
        b = np.uint64(which[i])
        for n in range(count):
            up_P = unrotate(quat_at(x[b, 0], 3), rotate(quat_at(x[b, first + n], 3), UP))
            for k in range(3):
                out[i, column + np.uint64(3 * n + k)] = bounded(up_P[k], factor)


@formula
def _write_measured(
    term: int,
    which: Integers,
    inputs: ObservationInputs,
    column: Index,
    factor: float,
    out: NDArray[np.float32],
) -> None:
    """Write columns of rotation matrices, or what inertial units have measured."""
    for i in range(np.uint64(len(which))):
        b = np.uint64(which[i])
        if term == ROTATION_COLUMNS:
            q_WP = quat_at(inputs.x[b, 0], 3)
            x_P, y_P = rotate(q_WP, (1.0, 0.0, 0.0)), rotate(q_WP, (0.0, 1.0, 0.0))
            for k in range(3):
                out[i, column + np.uint64(k)] = bounded(x_P[k], factor)
                out[i, column + np.uint64(3 + k)] = bounded(y_P[k], factor)
        else:
            first = np.uint64(3 * (term - GYRO))
            for k in range(np.uint64(3)):
                out[i, column + k] = bounded(inputs.imu[b, first + k], factor)
