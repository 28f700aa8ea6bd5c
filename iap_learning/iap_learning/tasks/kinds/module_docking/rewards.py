# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards of dockings of modules, and ends of their episodes.

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
from iap_description.math.kernels import norm
from iap_learning.tasks.kinds.module_docking.latch import LatchThresholds, offset_and_angles
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.task import reward_weights
from iap_physics.engines.engine import RUNNING
from iap_simulation.modules.outcome import (
    ModuleDockingInstant,
    ModuleDockingLimits,
    module_approach,
    outcome,
)
from iap_simulation.tasks.outcomes import ARRIVED, TIME_IS_UP


class ModuleDockingWeights(NamedTuple):
    """Weights of a `ModuleDockingReward`; time is that of a step."""

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
        return cls(**reward_weights(task.reward, step))


@njit(cache=True)
def end_episodes(
    truth: tuple[Array, Array],
    times: Array,
    status: Integers,
    fits: Booleans,
    latch: LatchThresholds,
    limits: ModuleDockingLimits,
    outcomes: Integers,
    known: Array,
) -> None:
    """End episodes at an instant of coordination; what the latch catches counts as joined.

    Args:
        truth: (B, 13) states of leaders and followers.
        times: (B,) simulation times [s].
        status: (B,) of the worlds.
        fits: (B,) whether the latch catches.
        latch: thresholds.
        limits: of the task.
        outcomes: (B,) written where an episode that runs ends.
        known: (B, 2) closing speed [m/s] and offset across the axis [m] at the end; written there, but where time or
            the world itself has ended it.
    """
    leader, follower = truth
    for b in range(len(outcomes)):
        if outcomes[b] != RUNNING:
            continue
        approach = module_approach(leader[b], follower[b], latch.home_L, latch.normal_L)
        now = ModuleDockingInstant(times[b], status[b], approach, fits[b], fits[b], False)
        outcomes[b] = outcome(now, limits)
        if status[b] == RUNNING and outcomes[b] not in (RUNNING, TIME_IS_UP):
            known[b, 0], known[b, 1] = approach.closing, approach.aside


@njit(cache=True)
def potentials(
    worlds: Integers,
    leader: Array,
    follower: Array,
    latch: LatchThresholds,
    w: ModuleDockingWeights,
    out: Array,
) -> None:
    """Write the potentials (B,) of some worlds, see the module; what is no number stays out."""
    for b in worlds:
        approach = module_approach(leader[b], follower[b], latch.home_L, latch.normal_L)
        _, angles = offset_and_angles(leader[b], follower[b], latch.home_L)
        value = w.along * abs(approach.gap) + w.aside * approach.aside + w.angle * norm(angles)
        out[b] = value if np.isfinite(value) else 0.0


@njit(cache=True)
def reward_step(
    actions: tuple[Array, Array],
    potential: tuple[Array, Array],
    known: Array,
    w: ModuleDockingWeights,
    steps: Integers,
    outcomes: Integers,
    reward: Array,
) -> None:
    """Count a step of every world and reward it.

    Args:
        actions: (B, m) of this step, and of the one before.
        potential: (B,) after it, and before.
        known: (B, 2) see `end_episodes`.
        w: weights.
        steps: (B,) counted on.
        outcomes: (B,) of each.
        reward: (B,) written.
    """
    for b in range(len(steps)):
        steps[b] += 1
        total = 0.0
        for k in range(actions[0].shape[1]):
            total += (actions[0][b, k] - actions[1][b, k]) ** 2
        gain = potential[0][b] - potential[1][b] + w.time + w.change * total / actions[0].shape[1]
        if outcomes[b] == ARRIVED:
            gain += w.success + w.touch * max(0.0, known[b, 0] - w.gentle_touch)
        elif outcomes[b] != RUNNING and outcomes[b] != TIME_IS_UP:
            gain = w.failure
        reward[b] = gain
