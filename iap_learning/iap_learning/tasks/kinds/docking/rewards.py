# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards of dockings.

With depth, radius and angle of `iap_description.vehicles.latch`, at the true states, the potential of a state is

.. math::
    \Phi = w_{along} |d_{latch} - depth| + w_{aside}\, radius + w_{angle}\, angle + w_{latched} [latched],

and its growth over a step is rewarded: over an episode this adds up to the difference of its end and its start,
whatever is flown between (Ng, Harada and Russell, ICML 1999, with a discount of one). Time, forces, changes of the
action and a hard first touch cost besides.
"""

import math
from typing import NamedTuple, Self

from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import norm, vec_at
from iap_description.vehicles.latch import PortFrame, approach
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.task import reward_weights
from iap_physics.docking.pairs import Pairs
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_simulation.docking.batch_outcome import (
    DockingRecords,
    instant_of,
    is_held,
    progress_of,
)
from iap_simulation.docking.outcome import DockingLimits, outcome
from iap_simulation.tasks.outcomes import ARRIVED, TIME_IS_UP


class DockingWeights(NamedTuple):
    """Weights of a `DockingReward`; those of the potential come first."""

    along: float
    aside: float
    angle: float
    latched: float
    time: float
    force: float
    gentle_force: float
    change: float
    touch: float
    gentle_touch: float
    success: float
    failure: float

    @classmethod
    def of(cls, task: DockingTask, step: float) -> Self:
        """The weights of a task with steps of a length [s]; that of time is of a step."""
        return cls(**reward_weights(task.reward, step))


class DockingRules(NamedTuple):
    """Numbers by which the dockings of a task are rewarded and ended.

    Attributes:
        ports: of probe and socket.
        limits: of the task.
        weights: of the reward.
        depth: of the probe's end in the latch [m].
    """

    ports: tuple[PortFrame, PortFrame]
    limits: DockingLimits
    weights: DockingWeights
    depth: float


@njit(cache=True)
def potential(x: Array, is_held: bool, rules: DockingRules) -> float:
    """The potential of one pair (2, 13), see the module."""
    ports, w = rules.ports, rules.weights
    pose = approach(x[1], x[0], ports[0], ports[1])
    latched = w.latched if is_held else 0.0
    off = w.along * abs(rules.depth - pose.depth) + w.aside * pose.radius
    return off + w.angle * pose.angle + latched


@njit(cache=True)
def potentials(pairs: Pairs, worlds: Integers, rules: DockingRules, out: Array) -> None:
    """Write the potentials (B,) of some worlds."""
    for b in worlds:
        out[b] = potential(pairs.x[b], is_held(pairs, b), rules)


@njit(cache=True)
def note_forces(pairs: Pairs, peak: Array) -> None:
    """Keep the largest force (B,) [N] of the control periods so far."""
    for b in range(len(peak)):
        peak[b] = max(peak[b], norm(vec_at(pairs.contact[b], 0)))


@njit(cache=True)
def reward_step(
    pairs: Pairs,
    records: DockingRecords,
    times: Array,
    rules: DockingRules,
    actions: tuple[Array, Array],
    last: tuple[Array, Array, Booleans],
    counts: tuple[Integers, Integers],
    reward: Array,
) -> None:
    """Count a step of every world, reward it, and write the outcome of its episode.

    Args:
        pairs: the worlds.
        records: of their dockings.
        times: (B,) simulation times [s].
        rules: of the task.
        actions: (B, n) of this step, and of the one before.
        last: (B,) largest force in this step [N]; and potentials at its beginning and whether there has been a touch,
            which move on.
        counts: (B,) steps of the episodes so far, counted on, and outcomes, see
            `iap_simulation.tasks.outcomes.OUTCOMES`, written.
        reward: (B,) written.
    """
    (peak, before, touched), (steps, outcomes), w = last, counts, rules.weights
    for b in range(len(steps)):
        steps[b] += 1
        instant = instant_of(pairs, records, b, times[b])
        outcomes[b] = outcome(instant, progress_of(records, b), rules.limits)
        if pairs.status[b] == DIVERGED:  # its state is no number
            reward[b] = w.failure
            continue
        now = potential(pairs.x[b], is_held(pairs, b), rules)
        gain = now - before[b] + w.time + w.force * max(0.0, peak[b] - w.gentle_force)
        before[b] = now
        gain += w.change * _mean_square_change(actions[0][b], actions[1][b])
        closing = records.closing_speed[b]
        if not touched[b] and not math.isnan(closing):
            touched[b] = True
            gain += w.touch * max(0.0, closing - w.gentle_touch)
        if outcomes[b] == ARRIVED:
            gain += w.success
        elif outcomes[b] != RUNNING and outcomes[b] != TIME_IS_UP:
            gain += w.failure
        reward[b] = gain


@njit(cache=True)
def _mean_square_change(action: Array, before: Array) -> float:
    total = 0.0
    for k in range(len(action)):
        total += (action[k] - before[k]) ** 2
    return total / len(action)


def limits_of(task: DockingTask, limits: DockingLimits, seconds: float) -> DockingLimits:
    """Limits of a task's dockings, with those of its scenario.

    Args:
        task: that is flown.
        limits: of the scenario.
        seconds: length of an episode [s].
    """
    return limits._replace(fatal_force=task.force, away=task.fails_beyond, seconds=seconds)
