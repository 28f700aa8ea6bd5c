# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards of dockings of modules, and how they end.

With the follower's true offset :math:`e = g n + s` from where it is joined (g along the leader's face normal n, s
across it) and the angle :math:`\theta` between both attitudes, the potential is

.. math:: \Phi = w_{along} |g| + w_{aside} |s| + w_{angle} \theta,

whose growth is rewarded (Ng, Harada and Russell, ICML 1999, with a discount of one). Time, changes of the action and a
fast touch cost besides.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import dot, norm, scale, sub, unrotate, vec, vec_at
from iap_description.math.kernels import quat_at as quaternion
from iap_learning.tasks.kinds.module_docking.sight import Latch, offset_and_angles
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, COLLIDED, OUT_OF_BOUNDS, TIME_IS_UP, TOO_FAST


class Weights(NamedTuple):
    """Of a `ModuleDockingReward`; time is that of a step."""

    along: float
    aside: float
    angle: float
    time: float
    change: float
    touch: float
    gentle_touch: float
    success: float
    failure: float

    @classmethod
    def of(cls, task: ModuleDockingTask, step: float) -> Self:
        """The weights of a task with steps of a length [s]."""
        numbers = task.reward.model_dump()
        potential = numbers.pop("potential")
        return cls(**potential, **{**numbers, "time": step * numbers["time"]})


class Bounds(NamedTuple):
    """Where episodes end.

    Attributes:
        closing_speed: largest at the catch [m/s].
        overlap: largest of the faces without a catch [m].
        size: of a module [m].
        away: largest distance from home [m].
        limit: steps.
    """

    closing_speed: float
    overlap: float
    size: float
    away: float
    limit: int


@njit(cache=True)
def look(
    leader: Array,
    follower: Array,
    status: Integers,
    fits: Booleans,
    latch: Latch,
    bounds: Bounds,
    outcome: Integers,
    known: Array,
) -> None:
    """End episodes at an instant of coordination.

    Args:
        leader: (B, 13) true.
        follower: (B, 13) true.
        status: (B,) of the worlds.
        fits: (B,) whether the latch catches.
        latch: thresholds.
        bounds: where episodes end.
        outcome: (B,) written where an episode that runs ends.
        known: (B, 2) closing speed [m/s] and offset across the axis [m] at the end; written there.
    """
    for b in range(len(outcome)):
        if outcome[b] != RUNNING:
            continue
        if status[b] != RUNNING:
            outcome[b] = status[b]
            continue
        offset, _ = offset_and_angles(leader[b], follower[b], latch.home_L)
        n = vec(latch.normal_L)
        gap = dot(offset, n)
        aside = norm(sub(offset, scale(gap, n)))
        v_W = sub(vec_at(follower[b], 7), vec_at(leader[b], 7))
        closing = -dot(unrotate(quaternion(leader[b], 3), v_W), n)
        if fits[b]:
            outcome[b] = ARRIVED if closing <= bounds.closing_speed else TOO_FAST
        elif gap < -bounds.overlap and aside < bounds.size:
            outcome[b] = COLLIDED
        elif norm(offset) > bounds.away:
            outcome[b] = OUT_OF_BOUNDS
        if outcome[b] != RUNNING:
            known[b, 0], known[b, 1] = closing, aside


@njit(cache=True)
def potentials(
    chosen: Integers, leader: Array, follower: Array, latch: Latch, w: Weights, out: Array
) -> None:
    """Write the potentials (B,) of chosen worlds, see the module; what is no number stays out."""
    for b in chosen:
        offset, angles = offset_and_angles(leader[b], follower[b], latch.home_L)
        n = vec(latch.normal_L)
        gap = dot(offset, n)
        aside = norm(sub(offset, scale(gap, n)))
        value = w.along * abs(gap) + w.aside * aside + w.angle * norm(angles)
        out[b] = value if np.isfinite(value) else 0.0


@njit(cache=True)
def reward_step(
    actions: tuple[Array, Array],
    potential: tuple[Array, Array],
    known: Array,
    w: Weights,
    limit: int,
    steps: Integers,
    outcome: Integers,
    reward: Array,
) -> None:
    """Count a step of every world and reward it.

    Args:
        actions: (B, m) of this step, and of the one before.
        potential: (B,) after it, and before.
        known: (B, 2) see `look`.
        w: weights.
        limit: steps of an episode.
        steps: (B,) counted on.
        outcome: (B,) of each; written where time is up.
        reward: (B,) written.
    """
    for b in range(len(steps)):
        steps[b] += 1
        total = 0.0
        for k in range(actions[0].shape[1]):
            total += (actions[0][b, k] - actions[1][b, k]) ** 2
        gain = potential[0][b] - potential[1][b] + w.time + w.change * total / actions[0].shape[1]
        if outcome[b] == RUNNING and steps[b] >= limit:
            outcome[b] = TIME_IS_UP
        if outcome[b] == ARRIVED:
            gain += w.success + w.touch * max(0.0, known[b, 0] - w.gentle_touch)
        elif outcome[b] != RUNNING and outcome[b] != TIME_IS_UP:
            gain = w.failure
        reward[b] = gain
