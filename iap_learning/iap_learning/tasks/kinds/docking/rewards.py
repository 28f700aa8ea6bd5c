# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards of dockings, and how they end.

With depth, radius and angle of `iap_description.vehicles.latch`, at the true states, the potential of a state is

.. math::
    \Phi = w_{along} |d_{latch} - depth| + w_{aside}\, radius + w_{angle}\, angle + w_{latched} [latched],

and its growth over a step is rewarded: over an episode this adds up to the difference of its end and its start,
whatever is flown between (Ng, Harada and Russell, ICML 1999, with a discount of one). Time, forces, changes of the
action and a hard first touch cost besides.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import norm, sub, vec_at
from iap_description.vehicles.latch import PortFrame, approach
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_physics.docking.pairs import Pairs
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_simulation.scenario.docking_spec import DockingSpec
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    CRASHED,
    NOT_CALM,
    OUT_OF_BOUNDS,
    TIME_IS_UP,
    TOO_FORCEFUL,
)


class Weights(NamedTuple):
    """Of a `DockingReward`; those of the potential come first."""

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
        numbers = task.reward.model_dump()
        potential = numbers.pop("potential")
        return cls(**potential, **{**numbers, "time": step * numbers["time"]})


class Bounds(NamedTuple):
    """Where episodes end.

    Attributes:
        force: [N].
        away: distance from the references [m].
        limit: steps.
        depth: of the probe's end in the latch [m].
    """

    force: float
    away: float
    limit: int
    depth: float


@njit(cache=True)
def potential(
    x: Array, is_held: bool, ports: tuple[PortFrame, PortFrame], w: Weights, depth: float
) -> float:
    """The potential of one pair (2, 13), see the module."""
    found = approach(x[1], x[0], ports[0], ports[1])
    latched = w.latched if is_held else 0.0
    off = w.along * abs(depth - found.depth) + w.aside * found.radius
    return off + w.angle * found.angle + latched


@njit(cache=True)
def potentials(
    pairs: Pairs,
    chosen: Integers,
    ports: tuple[PortFrame, PortFrame],
    w: Weights,
    depth: float,
    out: Array,
) -> None:
    """Write the potentials (B,) of chosen worlds."""
    for b in chosen:
        out[b] = potential(pairs.x[b], _is_held(pairs, b), ports, w, depth)


@njit(cache=True)
def _is_held(pairs: Pairs, b: int) -> bool:
    return pairs.phase[b] == CAUGHT or pairs.phase[b] == LOCKED


@njit(cache=True)
def note_forces(pairs: Pairs, peak: Array) -> None:
    """Keep the largest force (B,) [N] of the control periods so far."""
    for b in range(len(peak)):
        peak[b] = max(peak[b], norm(vec_at(pairs.contact[b], 0)))


@njit(cache=True)
def judge_step(
    pairs: Pairs,
    judged: tuple[Booleans, Booleans, Array, Array, Array, Array],
    ports: tuple[PortFrame, PortFrame],
    references: Array,
    w: Weights,
    bounds: Bounds,
    actions: tuple[Array, Array],
    peak: Array,
    last: tuple[Array, Booleans],
    steps: Integers,
    reward: Array,
    outcome: Integers,
) -> None:
    """Count a step of every world, reward it, and say what becomes of its episode.

    Args:
        pairs: the worlds.
        judged: `iap_simulation.docking.judged.Judged.parts`.
        ports: of probe and socket.
        references: (2, 3) places of target and chaser [m].
        w: weights.
        bounds: where episodes end.
        actions: (B, n) of this step, and of the one before.
        peak: (B,) largest force in this step [N].
        last: (B,) potentials at the beginning of this step, and whether there has been a touch; moved on.
        steps: (B,) of the episodes so far; counted on.
        reward: (B,) written.
        outcome: (B,) see `iap_simulation.tasks.outcomes.OUTCOMES`; written.
    """
    before, touched = last
    for b in range(len(steps)):
        steps[b] += 1
        outcome[b] = _outcome(b, pairs, judged, references, bounds, steps[b])
        if pairs.status[b] == DIVERGED:  # its state is no number
            reward[b] = w.failure
            continue
        now = potential(pairs.x[b], _is_held(pairs, b), ports, w, bounds.depth)
        gain = now - before[b] + w.time + w.force * max(0.0, peak[b] - w.gentle_force)
        before[b] = now
        gain += w.change * _mean_square_change(actions[0][b], actions[1][b])
        closing = judged[3][b]
        if not touched[b] and not math.isnan(closing):
            touched[b] = True
            gain += w.touch * max(0.0, closing - w.gentle_touch)
        if outcome[b] == ARRIVED:
            gain += w.success
        elif outcome[b] != RUNNING and outcome[b] != TIME_IS_UP:
            gain += w.failure
        reward[b] = gain


@njit(cache=True)
def _mean_square_change(action: Array, before: Array) -> float:
    total = 0.0
    for k in range(len(action)):
        total += (action[k] - before[k]) ** 2
    return total / len(action)


@njit(cache=True)
def _outcome(
    b: int,
    pairs: Pairs,
    judged: tuple[Booleans, Booleans, Array, Array, Array, Array],
    references: Array,
    bounds: Bounds,
    steps: int,
) -> int:
    is_over, succeeded, force_peak, _, end, _ = judged
    if pairs.status[b] != RUNNING:
        return int(pairs.status[b])
    if succeeded[b]:
        return ARRIVED
    if force_peak[b] > bounds.force:
        return TOO_FORCEFUL
    if is_over[b] and not np.isnan(end[b]):
        return NOT_CALM
    if is_over[b] and steps < bounds.limit:
        return CRASHED
    for i in range(2):
        if norm(sub(vec_at(pairs.x[b, i], 0), vec_at(references[i], 0))) > bounds.away:
            return OUT_OF_BOUNDS
    return TIME_IS_UP if steps >= bounds.limit else RUNNING


def bounds_of(task: DockingTask, spec: DockingSpec, depth: float, step: float) -> Bounds:
    """Where episodes of a task end, with steps of a length [s] and a latch of a depth [m]."""
    seconds = min(task.seconds, spec.success.within)
    limit = max(1, round(seconds / step))
    return Bounds(task.force, task.fails_beyond, limit, depth)
