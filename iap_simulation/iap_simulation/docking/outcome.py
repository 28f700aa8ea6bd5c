# SPDX-License-Identifier: BSD-3-Clause
"""Outcome of a docking: when it has succeeded, when it has failed, and why, compiled for one pair of aircraft.

A docking has succeeded when it was locked in time, the pair has then been calm near its place of reference for a while
without a break, and neither aircraft has borne more than the largest force. `follow` moves what is remembered of a
docking on by one control instant; `outcome` says what has become of it.
"""

import math
from typing import NamedTuple, Self

from iap_description.arrays import Array
from iap_description.math.kernels import add, formula, norm, sub, vec_at
from iap_description.vehicles.latch import PortFrame, approach
from iap_physics.engines.engine import RUNNING
from iap_simulation.scenario.scenario_keys import Success
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    CRASHED,
    NOT_CALM,
    OUT_OF_BOUNDS,
    TIME_IS_UP,
    TOO_FORCEFUL,
)

TIME_TOLERANCE = 1e-9  # of a sum of control periods [s]


class DockingLimits(NamedTuple):
    """Limits of a docking; those that a task may add are infinite without one.

    Attributes:
        calm_time: for which the locked pair is calm in a success, without a break [s].
        settle: time from the lock by which it has been [s].
        distance: of the pair's mean position from its place of reference, while it is calm [m].
        speed: of both aircraft meanwhile, below this [m/s].
        rate: of both aircraft meanwhile, below this [rad/s].
        peak_force: largest force on an aircraft in a success, mean over a control period [N].
        within: time by which a success is locked [s]; without a lock the docking has failed then.
        fatal_force: force beyond which a docking fails at once [N].
        away: distance of an aircraft from its docked position at which it is out of bounds [m].
        seconds: time limit, with or without a lock [s].
        docked_W: (2, 3) docked positions of target and chaser [m].
    """

    calm_time: float
    settle: float
    distance: float
    speed: float
    rate: float
    peak_force: float
    within: float
    fatal_force: float
    away: float
    seconds: float
    docked_W: Array

    @classmethod
    def of(cls, success: Success, docked_W: Array) -> Self:
        """Limits of a scenario's docking, without those of a task."""
        return cls(
            **success.model_dump(),
            fatal_force=math.inf,
            away=math.inf,
            seconds=math.inf,
            docked_W=docked_W,
        )


class DockingInstant(NamedTuple):
    """A docking at a control instant.

    Attributes:
        t: simulation time [s].
        status: ``RUNNING``, or why the flight has ended, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        target: (13,) state row of the socket's aircraft.
        chaser: (13,) state row of the probe's aircraft.
        force: largest on one of them, mean over the last control period [N].
        caught: time at which the latch caught the probe that it holds [s]; NaN while it holds none.
        locked: whether it holds it without play.
    """

    t: float
    status: int
    target: Array
    chaser: Array
    force: float
    caught: float
    locked: bool


class DockingProgress(NamedTuple):
    """Progress of a docking up to an instant.

    Attributes:
        closing: speed of the probe towards the socket at the last instant [m/s]; NaN before the first.
        closing_speed: the same at the instant before the first touch [m/s]; NaN before that touch.
        force_peak: largest force on an aircraft [N].
        lock: time at which the pair was locked that still is [s]; else NaN.
        calm: time from which on it has been calm [s]; NaN while it is not.
        succeeded: whether it has been for long enough.
    """

    closing: float
    closing_speed: float
    force_peak: float
    lock: float
    calm: float
    succeeded: bool


START = DockingProgress(math.nan, math.nan, 0.0, math.nan, math.nan, succeeded=False)


@formula
def follow(
    before: DockingProgress,
    now: DockingInstant,
    ports: tuple[PortFrame, PortFrame],
    limits: DockingLimits,
) -> DockingProgress:
    """Progress of a docking that runs, with one more instant; every instant counts, once and in order.

    Args:
        before: progress up to the instant before.
        now: the instant.
        ports: frames of probe and socket on their aircraft.
        limits: of the docking.
    """
    closing = approach(now.chaser, now.target, ports[0], ports[1]).closing
    closing_speed, lock, calm = before.closing_speed, before.lock, before.calm
    if math.isnan(closing_speed) and now.force > 0.0:
        closing_speed = closing if math.isnan(before.closing) else before.closing
    force_peak = max(before.force_peak, now.force)
    if not now.locked:
        lock = math.nan
    elif math.isnan(lock):
        lock = now.t
    if not (now.locked and _is_calm(now, limits)):
        calm = math.nan
    elif math.isnan(calm):
        calm = now.t
    has_settled = now.t >= calm + limits.calm_time - TIME_TOLERANCE
    is_in_time = lock <= limits.within + TIME_TOLERANCE
    succeeded = has_settled and is_in_time and force_peak <= limits.peak_force
    return DockingProgress(closing, closing_speed, force_peak, lock, calm, succeeded)


@formula
def outcome(now: DockingInstant, progress: DockingProgress, limits: DockingLimits) -> int:
    """Outcome of a docking at an instant up to which its progress is known, see `iap_simulation.tasks.outcomes`."""
    if now.status != RUNNING:
        return now.status
    if progress.succeeded:
        return ARRIVED
    if progress.force_peak > limits.fatal_force:
        return TOO_FORCEFUL
    if now.t >= progress.lock + limits.settle - TIME_TOLERANCE:
        return NOT_CALM
    if _distance(now.target, limits.docked_W[0]) > limits.away:
        return OUT_OF_BOUNDS
    if _distance(now.chaser, limits.docked_W[1]) > limits.away:
        return OUT_OF_BOUNDS
    limit = limits.within if math.isnan(progress.lock) else limits.seconds
    return TIME_IS_UP if now.t >= min(limit, limits.seconds) - TIME_TOLERANCE else RUNNING


@formula
def status_of(status: int, x: Array, ground_clearance: float) -> int:
    """Status of a world with an aircraft of state row (13,): crashed if it is upside down or on the ground.

    Args:
        status: of the world otherwise.
        x: state row.
        ground_clearance: height of the aircraft's origin where it stands [m].
    """
    is_upside_down = x[3] * x[3] + x[4] * x[4] > 0.5
    return CRASHED if status == RUNNING and (is_upside_down or x[2] < ground_clearance) else status


@formula
def _is_calm(now: DockingInstant, limits: DockingLimits) -> bool:
    speed = max(norm(vec_at(now.target, 7)), norm(vec_at(now.chaser, 7)))
    rate = max(norm(vec_at(now.target, 10)), norm(vec_at(now.chaser, 10)))
    off_t = sub(vec_at(now.target, 0), vec_at(limits.docked_W[0], 0))
    off_c = sub(vec_at(now.chaser, 0), vec_at(limits.docked_W[1], 0))
    away = 0.5 * norm(add(off_t, off_c))
    return speed < limits.speed and rate < limits.rate and away < limits.distance


@formula
def _distance(x: Array, p_W: Array) -> float:
    return norm(sub(vec_at(x, 0), vec_at(p_W, 0)))
