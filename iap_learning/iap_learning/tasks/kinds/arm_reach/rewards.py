# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards of reaching a target, and outcomes of episodes.

.. math:: r = w_{closer} (d_{k-1} - d_k) + w_{time} \Delta t + w_{change} |a_k - a_{k-1}|^2 / 7 + w_{cut} n_{cut}

d is the distance of the end effector from its target, so that the first term adds up to the potential of an episode's
end less that of its start (Ng, Harada and Russell, ICML 1999, with a discount of one).
"""

from typing import NamedTuple, Self

from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import formula, norm, vec
from iap_learning.tasks.kinds.arm_reach.observations import Tips
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.task import reward_weights
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, OUT_OF_BOUNDS, TIME_IS_UP


class ArmReachWeights(NamedTuple):
    """Weights of an `ArmReachReward`; time is that of a step."""

    closer: float
    time: float
    change: float
    cut: float
    success: float
    failure: float

    @classmethod
    def of(cls, task: ArmReachTask, step: float) -> Self:
        """The weights of a task with steps of a length [s]."""
        return cls(**reward_weights(task.reward, step))


class Ends(NamedTuple):
    """Conditions on which episodes end.

    Attributes:
        distance: below which the end effector is at its target [m].
        speed: below which it rests [m/s].
        lasting: steps for which both must last.
        away: largest distance [m].
        limit: steps.
    """

    distance: float
    speed: float
    lasting: int
    away: float
    limit: int

    @classmethod
    def of(cls, task: ArmReachTask, step: float) -> Self:
        """The ends of a task with steps of a length [s]."""
        reached = task.success
        lasting = max(1, round(reached.lasting / step))
        limit = max(1, round(task.seconds / step))
        return cls(reached.distance, reached.speed, lasting, task.fails_beyond, limit)


@njit(cache=True)
def measure(worlds: Integers, tips: Tips, distance: Array) -> None:
    """Write the distances (B,) of some worlds from their targets [m]."""
    for b in worlds:
        distance[b] = norm(vec(tips.error_H[b]))


class ReachInstant(NamedTuple):
    """An episode at the end of a step.

    Attributes:
        status: ``RUNNING``, or why the flight has ended, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        distance: of the end effector from its target [m].
        kept: steps for which it has been at rest there.
        steps: of the episode.
    """

    status: int
    distance: float
    kept: int
    steps: int


@formula
def outcome(now: ReachInstant, ends: Ends) -> int:
    """Outcome of an episode at the end of a step, see `iap_simulation.tasks.outcomes`."""
    if now.status != RUNNING:
        return now.status
    if now.distance > ends.away:
        return OUT_OF_BOUNDS
    if now.kept >= ends.lasting:
        return ARRIVED
    return TIME_IS_UP if now.steps >= ends.limit else RUNNING


@njit(cache=True)
def reward_step(
    actions: tuple[Array, Array],
    tips: Tips,
    distance: Array,
    cut: Booleans,
    rules: tuple[ArmReachWeights, Ends],
    status: Integers,
    counts: tuple[Integers, Integers, Integers],
    reward: Array,
) -> None:
    """Count a step of every world, reward it, and write the outcome of its episode.

    Args:
        actions: (B, m) of this step, and of the one before.
        tips: at its end.
        distance: (B,) from the targets before it [m]; those after it are written.
        cut: (B, joints) whether commands were cut in it.
        rules: weights, and conditions on which episodes end.
        status: (B,) of the worlds.
        counts: (B,) steps, and steps for which the end effector has been at rest at its target, both counted on; and
            outcomes, see `iap_simulation.tasks.outcomes.OUTCOMES`, written.
        reward: (B,) written.
    """
    (w, ends), (steps, kept, outcomes) = rules, counts
    for b in range(len(steps)):
        steps[b] += 1
        change, now = 0.0, norm(vec(tips.error_H[b]))
        for k in range(actions[0].shape[1]):
            change += (actions[0][b, k] - actions[1][b, k]) ** 2
        gain = w.closer * (distance[b] - now) + w.time + w.change * change / actions[0].shape[1]
        for k in range(cut.shape[1]):
            gain += w.cut * cut[b, k]
        distance[b] = now
        is_there = now <= ends.distance and norm(vec(tips.v_WE_H[b])) <= ends.speed
        kept[b] = kept[b] + 1 if is_there else 0
        outcomes[b] = outcome(ReachInstant(status[b], now, kept[b], steps[b]), ends)
        if outcomes[b] == ARRIVED:
            gain += w.success
        elif outcomes[b] not in (RUNNING, TIME_IS_UP):
            gain = w.failure
        reward[b] = gain
