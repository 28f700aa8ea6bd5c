# SPDX-License-Identifier: BSD-3-Clause
"""Outcome of a docking: when it has succeeded, when it has failed, and why, compiled for one pair of aircraft.

A docking has succeeded when the latch has held the probe over the coupled flight, and both aircraft are then slow and
level, in time, and have borne no more than the largest force. `follow` moves what is remembered of a docking on by one
control instant; `outcome` says what has become of it.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import formula, norm, sub, vec_at
from iap_description.vehicles.latch import PortFrame, approach
from iap_physics.engines.engine import RUNNING
from iap_simulation.scenario.scenario import Success
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
        hover: coupled flight after the catch [s].
        end_speed: of both aircraft at its end, below this [m/s].
        end_cosine: of both aircraft's tilt at its end, above this.
        peak_force: largest force on an aircraft in a success, mean over a control period [N].
        within: time by which a success has ended [s]; without a catch the docking has failed then.
        fatal_force: force beyond which a docking fails at once [N].
        away: distance of an aircraft from its docked position at which it is out of bounds [m].
        seconds: time limit, with or without a catch [s].
        docked_W: (2, 3) docked positions of target and chaser [m].
    """

    hover: float
    end_speed: float
    end_cosine: float
    peak_force: float
    within: float
    fatal_force: float
    away: float
    seconds: float
    docked_W: Array

    @classmethod
    def of(cls, success: Success) -> Self:
        """Limits of a scenario's docking, without those of a task."""
        return cls(
            success.hover,
            success.end_speed,
            math.cos(math.radians(success.end_tilt_deg)),
            success.peak_force,
            success.within,
            fatal_force=math.inf,
            away=math.inf,
            seconds=math.inf,
            docked_W=np.zeros((2, 3)),
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
    """

    t: float
    status: int
    target: Array
    chaser: Array
    force: float
    caught: float


class DockingProgress(NamedTuple):
    """Progress of a docking up to an instant.

    Attributes:
        closing: speed of the probe towards the socket at the last instant [m/s]; NaN before the first.
        closing_speed: the same at the instant before the first touch [m/s]; NaN before that touch.
        force_peak: largest force on an aircraft [N].
        end: time at which the coupled flight ended [s]; NaN before it.
        succeeded: whether it ended in a success.
    """

    closing: float
    closing_speed: float
    force_peak: float
    end: float
    succeeded: bool


START = DockingProgress(math.nan, math.nan, 0.0, math.nan, succeeded=False)


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
    closing_speed, end, succeeded = before.closing_speed, before.end, before.succeeded
    if math.isnan(closing_speed) and now.force > 0.0:
        closing_speed = closing if math.isnan(before.closing) else before.closing
    force_peak = max(before.force_peak, now.force)
    if math.isnan(end) and now.t >= now.caught + limits.hover - TIME_TOLERANCE:
        end = now.t
        is_calm = _is_calm(now.target, limits) and _is_calm(now.chaser, limits)
        is_in_time = now.t <= limits.within + TIME_TOLERANCE
        succeeded = is_calm and is_in_time and force_peak <= limits.peak_force
    return DockingProgress(closing, closing_speed, force_peak, end, succeeded)


@formula
def outcome(now: DockingInstant, progress: DockingProgress, limits: DockingLimits) -> int:
    """Outcome of a docking at an instant up to which its progress is known, see `iap_simulation.tasks.outcomes`."""
    if now.status != RUNNING:
        return now.status
    if progress.succeeded:
        return ARRIVED
    if progress.force_peak > limits.fatal_force:
        return TOO_FORCEFUL
    if not math.isnan(progress.end):
        return NOT_CALM
    if _distance(now.target, limits.docked_W[0]) > limits.away:
        return OUT_OF_BOUNDS
    if _distance(now.chaser, limits.docked_W[1]) > limits.away:
        return OUT_OF_BOUNDS
    limit = limits.within if math.isnan(now.caught) else limits.seconds
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
def _is_calm(x: Array, limits: DockingLimits) -> bool:
    cosine = 1.0 - 2.0 * (x[3] * x[3] + x[4] * x[4])
    return norm(vec_at(x, 7)) < limits.end_speed and cosine > limits.end_cosine


@formula
def _distance(x: Array, p_W: Array) -> float:
    return norm(sub(vec_at(x, 0), vec_at(p_W, 0)))
