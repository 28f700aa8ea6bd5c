# SPDX-License-Identifier: BSD-3-Clause
"""What a follower sees of its leader, and whether the latch between them catches.

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

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_control.modules.settings import FACES, ModuleJointSpec, ModulesSpec
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import (
    Vec,
    put_at,
    qconj,
    qlog,
    qmul,
    quat_at,
    sub,
    unrotate,
    vec,
    vec_at,
)
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.terms import BOUND

TERMS = {  # numbers of each; of the last, the action's
    "offset": 3,
    "angles": 3,
    "filtered_offset": 3,
    "filtered_angles": 3,
    "closing": 3,
    "velocity": 3,
    "rates": 3,
    "up": 3,
    "action": 0,
}
NAMES = list(TERMS)
ACTION = NAMES.index("action")
FILTERED = 6  # columns of what the latch goes by: offset and angles


class Latch(NamedTuple):
    """When the latch catches, by the low-passed pose of the follower.

    Attributes:
        home_L: (3,) place of its CoM in the leader's frame once joined [m].
        normal_L: (3,) out of the leader's face.
        share: of a new pose in the low-pass.
        gap: between the faces [m].
        offset: across their axis, along every axis [m].
        angle: about every axis [rad].
    """

    home_L: Array
    normal_L: Array
    share: float
    gap: float
    offset: float
    angle: float


def latch_of(spec: ModulesSpec, joint: ModuleJointSpec) -> Latch:
    """The latch of a joint, by the thresholds of its machine."""
    normal_L, machine = np.array(FACES[joint.face]), spec.machine
    share = float(-np.expm1(-1.0 / (spec.rate * machine.alignment.filter_time)))
    limits = (machine.approach.gap, machine.approach.offset, machine.approach.angle)
    return Latch(spec.size * normal_L, normal_L, share, *limits)


class Sight(NamedTuple):
    """What is seen, and when the latch catches, of any number of worlds.

    Attributes:
        layout: terms of an observation with their sizes and scales.
        terms: their numbers in `NAMES`.
        factors: (size,) one over the scales.
        latch: thresholds.
    """

    layout: TermLayout
    terms: Integers
    factors: Array
    latch: Latch

    @classmethod
    def of(cls, scales: Mapping[str, float], actions: int, latch: Latch) -> Self:
        """The sight of an observation's terms with these scales, where actions have so many numbers."""
        sizes = {**TERMS, "action": actions}
        layout = tuple((name, sizes[name], scale) for name, scale in scales.items())
        terms = np.array([NAMES.index(name) for name in scales])
        factors = np.concatenate([np.full(size, 1.0 / scale) for _, size, scale in layout])
        return cls(layout, terms, factors, latch)

    def follow(
        self,
        chosen: Integers,
        rows: tuple[Array, Array],
        filtered: Array,
        fits: Booleans,
        *,
        starts: bool,
    ) -> None:
        """Move low-passed poses (B, 6) on by rows (B, 13) of leader and follower, see `follow_latch`."""
        follow_latch(chosen, *rows, starts, self.latch, filtered, fits)

    def __call__(
        self, chosen: Integers, rows: tuple[Array, Array], filtered: Array, action: Array
    ) -> NDArray[np.float32]:
        """Observations (n, size) of chosen worlds, see `observe`."""
        out = np.empty((len(chosen), len(self.factors)), np.float32)
        own = (self.latch.home_L, self.terms, self.factors, out)
        observe(chosen, *rows, filtered, action, *own)
        return out


@njit(cache=True)
def offset_and_angles(leader: Array, follower: Array, home_L: Array) -> tuple[Vec, Vec]:
    """Offset [m] and rotation vector [rad] of a follower's row (13,) to a leader's, see the module."""
    q_L = quat_at(leader, 3)
    p_LF_L = unrotate(q_L, sub(vec_at(follower, 0), vec_at(leader, 0)))
    turn = qlog(qmul(qconj(q_L), quat_at(follower, 3)))
    return sub(p_LF_L, vec(home_L)), turn


@njit(cache=True)
def follow_latch(
    chosen: Integers,
    leader: Array,
    follower: Array,
    starts: bool,
    latch: Latch,
    filtered: Array,
    fits: Booleans,
) -> None:
    """Move the low-passed poses (B, 6) of chosen worlds on by one period, and say where the latch catches.

    Args:
        chosen: worlds.
        leader: (B, 13) as measured.
        follower: (B, 13) as measured.
        starts: whether this is the first pose.
        latch: thresholds.
        filtered: (B, 6) moved on.
        fits: (B,) whether it catches; written.
    """
    for b in chosen:
        offset, angles = offset_and_angles(leader[b], follower[b], latch.home_L)
        for k in range(3):
            for column, value in ((k, offset[k]), (3 + k, angles[k])):
                if starts:
                    filtered[b, column] = value
                else:
                    filtered[b, column] += latch.share * (value - filtered[b, column])
        fits[b] = _catches(filtered[b], latch)


@njit(cache=True)
def _catches(pose: Array, latch: Latch) -> bool:
    gap = 0.0
    for k in range(3):
        gap += pose[k] * latch.normal_L[k]
    for k in range(3):
        if abs(pose[k] - gap * latch.normal_L[k]) >= latch.offset:
            return False
        if abs(pose[3 + k]) >= latch.angle:
            return False
    return gap < latch.gap


@njit(cache=True)
def observe(
    chosen: Integers,
    leader: Array,
    follower: Array,
    filtered: Array,
    action: Array,
    home_L: Array,
    terms: Integers,
    factors: Array,
    out: NDArray[np.float32],
) -> None:
    """Write what is seen in chosen worlds.

    Args:
        chosen: (n,) worlds.
        leader: (B, 13) as measured.
        follower: (B, 13) as measured.
        filtered: (B, 6) behind the latch's low-pass.
        action: (B, m) the last ones, in [-1, 1].
        home_L: (3,) see `Latch`.
        terms: numbers of the terms in `NAMES`.
        factors: (size,) one over the scales.
        out: (n, size) written.
    """
    raw = np.empty(len(factors))
    for n in range(len(chosen)):
        b = chosen[n]
        at = 0
        for term in terms:
            if term == ACTION:
                for k in range(action.shape[1]):
                    raw[at + k] = action[b, k]
                continue
            put_at(raw, at, _term(term, leader[b], follower[b], filtered[b], home_L))
            at += 3
        for k in range(len(factors)):
            out[n, k] = min(max(raw[k] * factors[k], -BOUND), BOUND)


@njit(cache=True)
def _term(term: int, leader: Array, follower: Array, filtered: Array, home_L: Array) -> Vec:
    q_L, q_F = quat_at(leader, 3), quat_at(follower, 3)
    if term == 0 or term == 1:
        offset, angles = offset_and_angles(leader, follower, home_L)
        return offset if term == 0 else angles
    if term == 2:
        return vec_at(filtered, 0)
    if term == 3:
        return vec_at(filtered, 3)
    if term == 4:
        return unrotate(q_L, sub(vec_at(follower, 7), vec_at(leader, 7)))
    if term == 5:
        return unrotate(q_F, vec_at(follower, 7))
    if term == 6:
        return unrotate(q_F, vec_at(follower, 10))
    return unrotate(q_F, (0.0, 0.0, 1.0))
