# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of a follower that docks onto its leader.

| term | numbers | unit | what it is |
|---|---|---|---|
| `offset` | 3 | m | the follower's CoM from where it is joined, in the leader's axes |
| `angles` | 3 | rad | rotation vector from the leader's attitude to the follower's |
| `filtered_offset` | 3 | m | `offset` behind the low-pass by which the latch goes |
| `filtered_angles` | 3 | rad | `angles` behind it |
| `closing` | 3 | m/s | velocity of the follower less the leader's, in the leader's axes |
| `velocity` | 3 | m/s | of the follower, in its own axes |
| `rates` | 3 | rad/s | of the follower, in its own axes |
| `up` | 3 | 1 | the vertical in the follower's axes |
| `action` | as the action has | 1 | the last action |

All are of measured states with their noise; biases of own estimates are taken off, as one motion capture for both does.
"""

from typing import NamedTuple

from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import put_at, quat_at, sub, unrotate, vec_at
from iap_learning.tasks.kinds.module_docking.latch import offset_and_angles
from iap_learning.tasks.terms import PER_ACTION, Term, TermTable, array_term
from iap_learning.tasks.user_inputs import TermInputs, resting


class FollowerInputs(NamedTuple):
    """Inputs of the terms, of B worlds.

    Attributes:
        leader: (B, 13) as measured.
        follower: (B, 13) as measured.
        filtered: (B, 6) behind the latch's low-pass.
        action: (B, m) the last ones, in [-1, 1].
        home_L: (3,) see `LatchThresholds`.
    """

    leader: Array
    follower: Array
    filtered: Array
    action: Array
    home_L: Array


@njit(cache=True)
def _fill_offset(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    leader, follower = inputs.leader, inputs.follower
    for n, b in enumerate(indices):
        put_at(out[n], 0, offset_and_angles(leader[b], follower[b], inputs.home_L)[0])


@njit(cache=True)
def _fill_angles(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    leader, follower = inputs.leader, inputs.follower
    for n, b in enumerate(indices):
        put_at(out[n], 0, offset_and_angles(leader[b], follower[b], inputs.home_L)[1])


@njit(cache=True)
def _fill_closing(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    for n, b in enumerate(indices):
        v_W = sub(vec_at(inputs.follower[b], 7), vec_at(inputs.leader[b], 7))
        put_at(out[n], 0, unrotate(quat_at(inputs.leader[b], 3), v_W))


@njit(cache=True)
def _fill_velocity(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    for n, b in enumerate(indices):
        x = inputs.follower[b]
        put_at(out[n], 0, unrotate(quat_at(x, 3), vec_at(x, 7)))


@njit(cache=True)
def _fill_rates(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    for n, b in enumerate(indices):
        x = inputs.follower[b]
        put_at(out[n], 0, unrotate(quat_at(x, 3), vec_at(x, 10)))


@njit(cache=True)
def _fill_up(inputs: FollowerInputs, indices: Integers, out: Array) -> None:
    for n, b in enumerate(indices):
        put_at(out[n], 0, unrotate(quat_at(inputs.follower[b], 3), (0.0, 0.0, 1.0)))


def rest_of(aircraft: int, actions: int) -> TermInputs:
    """Two modules of N aircraft at rest, leader before follower, as functions of the user's own get them."""
    return TermInputs.at_rest(aircraft, actions)._replace(x=resting(2))


TERMS = TermTable.of(
    Term("offset", 3, _fill_offset),
    Term("angles", 3, _fill_angles),
    array_term("filtered_offset", 3, lambda each: each.filtered[:, :3]),
    array_term("filtered_angles", 3, lambda each: each.filtered[:, 3:]),
    Term("closing", 3, _fill_closing),
    Term("velocity", 3, _fill_velocity),
    Term("rates", 3, _fill_rates),
    Term("up", 3, _fill_up),
    array_term("action", PER_ACTION, lambda each: each.action),
)
