# SPDX-License-Identifier: BSD-3-Clause
"""Times without a sample: short ones are crossed, a lone sample far from all others is left out, others are refused.

A gap of up to half a second is interpolated; up to a second too, with a note. A longer one is refused unless it
is asked to be bridged: a vehicle at 1 m/s would be flown along a guess for longer than its controller needs to
settle, and the score would be that guess's.
"""

from typing import TypeVar

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import PoseReading, counted
from iap_io.trajectories.samples import Samples, StampedSamples

S = TypeVar("S", bound=StampedSamples)
_QUIET_GAP = 0.5  # [s]
STALE = 3  # samples that repeat the one before, at most
LEAP_SHARE = 5.0  # least step behind a hold, over those of the body before and behind it
MIN_LEAP = 0.15  # least distance of samples away from the body [m]
MAX_SPEED = 25.0  # speed of a body [m/s]
MOVING = 0.05  # speed of a body that moves [m/s]
MIN_FROZEN = 0.5  # least time at one place at an end that is looked at [s]
MAX_STOP = 20.0  # acceleration of a body that comes to rest [m/s^2]
_FEWEST = 20  # samples beside which a lone one is left out


def cut(samples: S, stamps: Integers, reading: PoseReading) -> tuple[S, Integers]:
    """The samples between the times that are asked for, counted from the first one.

    Raises:
        BadInput: fewer than two are left.
    """
    if reading.begin is None and reading.end is None:
        return samples, stamps
    t = (stamps - stamps[0]) * 1e-9
    begin = -np.inf if reading.begin is None else reading.begin
    end = np.inf if reading.end is None else reading.end
    inside = (t >= begin) & (t <= end)
    if inside.sum() < 2:
        raise BadInput(
            f"{samples.source}: {inside.sum()} samples from {begin:g} to {end:g} s (--from, --to); it lasts"
            f" {t[-1]:.3f} s"
        )
    parts = f"from {max(begin, 0.0):g} to {min(end, float(t[-1])):g} s"
    samples = samples.noted(f"cut: {parts} of {t[-1]:.3f} s count")
    return samples.at(inside), stamps[inside]


def without_lone_ends(samples: S, stamps: Integers, reading: PoseReading) -> tuple[S, Integers]:
    """The samples less a first or last one that is further away in time than can be bridged."""
    for index, rest, name in ((0, slice(1, None), "first"), (-1, slice(None, -1), "last")):
        gaps = np.diff(stamps) * 1e-9
        if len(stamps) > _FEWEST and gaps[index] > reading.bridge:
            note = f"the {name} sample was left out, {gaps[index]:.4g} s from the others"
            samples, stamps = samples.noted(note).at(rest), stamps[rest]
    return samples, stamps


def without_repeats(samples: Samples, stamps: Integers) -> tuple[Samples, Integers]:
    """The samples less those that are stale: at the very place of the one before, while the body moves.

    Set-points that are held for more than `STALE` samples, and bodies at rest, are what they say.
    """
    same = np.r_[False, (np.diff(samples.p, axis=0) == 0.0).all(axis=1)]
    run = np.cumsum(~same) - 1  # of equal samples, one after the other
    starts = np.flatnonzero(~same)
    lengths = np.diff(np.r_[starts, len(same)])
    t = (stamps - stamps[0]) * 1e-9
    following = np.r_[starts[1:], len(same) - 1]
    distance = np.linalg.norm(samples.p[following] - samples.p[starts], axis=1)
    is_short = (lengths <= STALE + 1) & (starts > 0) & (following < len(same) - 1)
    is_moving = distance > MOVING * (t[following] - t[starts])
    is_stale = same & (is_short & is_moving)[run]
    if not is_stale.any():
        return samples, stamps
    out = counted(int(is_stale.sum()), "sample")
    note = f"{out} at the very place of the one before, while it moves: left out"
    return samples.noted(note).at(~is_stale), stamps[~is_stale]


def without_holds(samples: Samples, stamps: Integers, bridge: float) -> tuple[Samples, Integers]:
    """The samples less those of a tracker that holds its last pose until it sees the body again.

    The body moves before and behind them, and leaps from the last one. Set-points that step stand before and behind.

    Raises:
        BadInput: such a hold is longer than `bridge` [s].
    """
    if len(stamps) < _FEWEST:
        return samples, stamps
    t = (stamps - stamps[0]) * 1e-9
    steps = np.linalg.norm(np.diff(samples.p, axis=0), axis=1)
    starts = np.flatnonzero(np.r_[True, steps > 0.0])
    lengths = np.diff(np.r_[starts, len(t)])
    held = np.zeros(len(t), np.bool_)
    lone = (lengths[:-3] == 1) & (lengths[2:-1] == 1)
    for run in 1 + np.flatnonzero(lone & (lengths[1:-2] > STALE + 1)):
        start, after = starts[run], starts[run + 1]
        around = max(steps[start - 1], steps[after])
        leap, lasted = steps[after - 1], t[after] - t[start]
        is_away = _is_away(samples.p, t, start, after)
        if not is_away and (leap < LEAP_SHARE * around or leap < MOVING * lasted):
            continue
        where = f"{lasted:.2f} s from t = {t[start]:.3f} s at one place, and a leap of {leap:.2f} m from there"
        start -= is_away
        if lasted > bridge:
            raise BadInput(
                f"{samples.source}: {where}, as of a tracker that holds its last pose: --bridge"
                f" {np.ceil(10.0 * lasted) / 10.0:g} crosses it in a straight line, --to {t[start]:.3f} or --from"
                f" {t[after]:.3f} cuts it off"
            )
        held[start + 1 : after] = True
        samples = samples.noted(f"{where}: a tracker that holds its last pose; left out")
    return samples.at(~held), stamps[~held]


def without_frozen_ends(samples: Samples, stamps: Integers) -> tuple[Samples, Integers]:
    """The samples less those of a tracker that has not seen the body yet at first, or no longer at the end.

    They lie at one place, and beside them the body moves and turns faster than it could stop within a sample.
    Set-points may stop at once; what is left out of them is at rest.
    """
    for way, name, beside in ((1, "first", "goes on"), (-1, "last", "stops")):
        t, p, q = (x[::way] for x in ((stamps - stamps[0]) * 1e-9, samples.p, samples.q))
        steps = np.linalg.norm(np.diff(p, axis=0), axis=1)
        moves = np.flatnonzero(steps > 0.0)
        if not len(moves):
            return samples, stamps
        at = int(moves[0])
        lasted = float(abs(t[at] - t[0]))
        near = slice(at, at + STALE)
        dt = np.abs(np.diff(t[near.start : near.stop + 1]))
        if lasted < MIN_FROZEN or len(dt) < STALE:
            continue
        speeds = steps[near] / dt
        turns = np.abs(np.diff(q[near.start : near.stop + 1], axis=0)).max(axis=1)
        is_smooth = speeds.max() < 2.0 * speeds.min()
        if not (is_smooth and turns.min() > 0.0 and speeds[0] > MAX_STOP * dt[0]):
            continue
        note = (
            f"the {name} {lasted:.2f} s lie at one place, where it {beside} at {speeds[0]:.2f} m/s: a tracker or"
            " estimate that stood still; left out"
        )
        kept = slice(at, None) if way == 1 else slice(None, len(t) - at)
        samples, stamps = samples.noted(note).at(kept), stamps[kept]
    return samples, stamps


def _is_away(p: Array, t: Array, start: int, after: int) -> bool:
    """True if samples from one to another leap away from the body and back, as zeros do where nothing was seen."""
    if start < 2:
        return False
    before, behind, around = p[start - 1], p[after], p[[start - 2, after + 1]]
    usual = float(np.linalg.norm(around - [before, behind], axis=1).max())
    leaps = np.linalg.norm(p[start] - [before, behind], axis=1)
    way, lasted = float(np.linalg.norm(behind - before)), t[after] - t[start - 1]
    is_far = leaps.min() > max(MIN_LEAP, LEAP_SHARE * usual)
    return bool(is_far and leaps.min() > way and way < MAX_SPEED * lasted)


def check_gaps(
    source: str, t: Array, bridge: float, notes: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Notes of a long time without a sample.

    Raises:
        BadInput: it is longer than `bridge` [s]; earlier notes, such as of samples left out, are its cause.
    """
    gaps = np.diff(t)
    worst = int(gaps.argmax())
    where = f"no sample for {gaps[worst]:.2f} s after t = {t[worst]:.3f} s"
    if gaps[worst] > bridge:
        before = f" (noted before: {'; '.join(notes)})" if notes else ""
        raise BadInput(
            f"{source}: {where} (at most {bridge:g} s can be bridged): --bridge"
            f" {np.ceil(10.0 * gaps[worst]) / 10.0:g} crosses"
            f" it in a straight line, --to {t[worst]:.3f} or --from {t[worst + 1]:.3f} cuts it off"
            f"{before}"
        )
    if gaps[worst] > _QUIET_GAP:
        return (f"{where}; the command is interpolated there",)
    return ()
