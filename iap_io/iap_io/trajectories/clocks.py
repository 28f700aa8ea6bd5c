# SPDX-License-Identifier: BSD-3-Clause
"""The clock that a recording's samples count by: header stamps against times of reception.

With d the delay of each sample, its time of reception less its header stamp:

- Stamps that are not set, that stand still while the body moves, or that run at another unit: the times of reception
  count. Where a file was written at once, from another one, its times of reception are no clock.
- Of two orders of the samples, the one in which the body comes the shorter way is right.
- A level of d that changes at one sample and stays is a step of one clock. The clock whose interval there is further
  from the usual one has stepped; the other one counts. A jump of d that does not stay is a late message.
- d that grows evenly by up to 2 % is a drift: header stamps keep their evenness and get the receiver's rate.
  Faster, it is a simulation or a player at another rate, whose header stamps are the motion's own time.
"""

import math
from dataclasses import replace
from typing import TypeVar

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.trajectories.lone_clocks import (
    check_ahead,
    check_back,
    check_order,
    evened,
    is_shorter,
)
from iap_io.trajectories.pose_reading import MAX_GAP, PoseReading, counted
from iap_io.trajectories.samples import StampedSamples

S = TypeVar("S", bound=StampedSamples)
STEP = 0.01  # smallest change of the delay that counts as a step [s]
NOISE = 6.0  # deviations of the delay within which nothing is a step or a drift
LEVEL = 25  # samples, beside a step, whose median is the level of the delay
FEWEST = 5  # of them, at an end
DRIFT = 0.02  # least growth of the delay over a recording that is a drift [s]
MAX_DRIFT = 0.02  # share of the time by which a clock can be off
RATES = (
    0.02,
    50.0,
)  # of header stamps over times of reception, between a slow simulation and a fast player
PERIODS = (1e-3, 2.0)  # of poses, by which a clock is told from the times of a file's writing [s]
STILL, STILL_PERIODS = 0.02, 1.5  # time [s], and periods, from which on stamps stand still
HOLE = 0.1  # share of a hole in the times of reception that one in sound header stamps is below
RESETS = 10  # of a simulation in one recording, at most
BESIDE = 0.02  # least distance of another body at the same time [m]


def timed(samples: S, reading: PoseReading) -> tuple[S, Integers]:
    """Samples in the order of the clock that can be trusted, one for each stamp, and those stamps [ns].

    Raises:
        BadInput: the clock that is asked for is missing, or a lone clock steps back and stays there.
    """
    samples, stamps = _clock(samples, reading)
    late = int((np.diff(stamps) < 0).sum())
    if late:
        check_order(samples, stamps)
        samples = samples.noted(f"{counted(late, 'stamp')} out of order: the samples were sorted")
    _, first = np.unique(stamps, return_index=True)  # sorted, and the first of equal stamps
    if len(first) < len(stamps):
        samples = _without_repeats(samples, stamps, first)
    samples, stamps = samples.at(first), stamps[first]
    if samples.header_ns is None:
        samples, stamps = evened(samples, stamps)
    samples = check_back(samples, stamps, reading.bridge)
    check_ahead(samples, stamps)
    return samples, stamps


def _without_repeats(samples: S, stamps: Integers, first: Integers) -> S:
    """Note samples that repeat a stamp; refuse those of one stamp at several places.

    Raises:
        BadInput: more than a few of one stamp lie apart, as those of two bodies do.
    """
    index = first[np.searchsorted(stamps[first], stamps)]
    apart = samples.distances(index)
    steps = samples.at(first).distances(np.maximum(np.arange(len(first)) - 1, 0))
    beside = apart > max(
        BESIDE, 1.5 * float(np.median(steps))
    )  # further than a coarse stamp explains
    if beside.sum() < 0.2 * len(stamps):
        beside[:] = False
    off = int((beside | (apart > 0.1)).sum())
    if off > max(3, len(stamps) // 50):
        at = (stamps[apart > 0.1] - stamps.min()) * 1e-9
        if off < len(stamps) // 5 and off > 0.5 * (
            np.ptp(at) / np.median(np.diff(stamps[first])) * 1e9
        ):
            raise BadInput(
                f"{samples.source}: from t = {at.min():.3f} to {at.max():.3f} s there are two samples a time, and one"
                f" elsewhere: was the clock set back? --to {at.min():.3f} ends before, --from {at.max() + 0.001:.3f}"
                " begins after"
            )
        raise BadInput(
            f"{samples.source}: {off} samples lie up to {apart.max():.3g} m from another of the same stamp: are these"
            " two bodies? Poses are told apart by child_frame_id (--body), frame_id (--frame) and topic (--topic)"
        )
    count = len(stamps) - len(first)
    far = np.flatnonzero(apart > max(BESIDE, 1.5 * float(np.median(steps))))
    where = (
        f"; they lie up to {apart.max():.2g} m apart: was the clock set back?"
        if len(far) > 1
        else ""
    )
    return samples.noted(f"{counted(count, 'sample')} of a stamp that others have left out{where}")


def _clock(samples: S, reading: PoseReading) -> tuple[S, Integers]:
    """The samples without the clock that does not count, and the stamps to go by."""
    header, bag = samples.header_ns, samples.bag_ns
    if header is None or bag is None:
        stamps = bag if header is None else header
        if stamps is None:
            raise ValueError(f"{samples.source}: samples without any stamps")
        if reading.clock == "header" and header is None:
            raise BadInput(f"{samples.source}: --clock header: its messages have no headers")
        return _by(samples, "bag" if header is None else "file"), stamps
    if reading.clock == "bag":
        return _by(samples, "bag"), bag
    if reading.clock == "header":
        return _without_drift(_by(samples, "header"), header, bag)
    return _compared(samples, header, bag)


def _by(samples: S, clock: str) -> S:
    """The samples by one clock."""
    about = replace(samples.about, clock=clock)
    header = None if clock == "bag" else samples.header_ns
    return replace(samples, about=about, header_ns=header)


def _compared(samples: S, header: Integers, bag: Integers) -> tuple[S, Integers]:
    """Header stamps where they are sound or can be mended, else the times of reception."""
    fault = _fault(samples, header, bag)
    if fault is None:
        delay = ((bag - header) - (bag[0] - header[0])) * 1e-9
        step = _header_step(delay.astype(np.float64), 1e-9 * np.diff(header))
        fault = _fault_of_rate(header, bag) if step is None else _step_text(bag, *step)
        if fault is None:
            return _without_drift(_by(samples, "header"), header, bag)
        mended = header if step is None else _without_step(samples, header, *step)
        better = _fault_of_reception(samples, mended, bag)
        if better is not None:
            how = "" if mended is header else f" ({fault}: taken out)"
            note = f"{better}; the header stamps are used{how}"
            return replace(_by(samples.noted(note), "header"), header_ns=mended), mended
    return _by(samples.noted(f"{fault}; the times of reception are used"), "bag"), bag


def _step_text(bag: Integers, sample: int, size: float) -> str:
    """A step of header stamps [s] at a sample, in words."""
    at, way = (bag[sample] - bag[0]) * 1e-9, "back" if size < 0.0 else "ahead"
    return f"header stamps jump {way} by {abs(size):.3f} s at t = {at:.3f} s and stay there"


def _without_step(samples: StampedSamples, header: Integers, sample: int, size: float) -> Integers:
    """Header stamps less their step [s] at a sample, but where the body comes a longer way without it."""
    mended = header.copy()
    mended[sample:] -= round(size * 1e9)
    return header if is_shorter(samples, header, mended) and not _is_set_back(header) else mended


def _fault_of_rate(header: Integers, bag: Integers) -> str | None:
    """Another rate of header stamps than of the times of reception, in words; None without."""
    rate = _rate(header, bag)
    if rate is None or RATES[0] < rate < RATES[1]:
        return None
    periods = [1e-9 * float(np.median(np.abs(np.diff(x)))) for x in (header, bag)]
    if PERIODS[0] <= periods[0] <= PERIODS[1] and periods[1] < PERIODS[0]:
        return None  # the bag was written at once
    return f"header stamps run {rate:.3g} times as fast as the times of reception"


def _fault_of_reception(samples: StampedSamples, header: Integers, bag: Integers) -> str | None:
    """Fault of the times of reception, where header stamps are sound."""
    if is_shorter(samples, header, bag) and not _is_set_back(header):
        return "times of reception are out of order"
    holes = [1e-9 * float(np.diff(np.sort(x)).max(initial=0.0)) for x in (header, bag)]
    if holes[0] < MAX_GAP < HOLE * holes[1]:
        return f"times of reception jump by {holes[1]:.3f} s"
    return None


def _is_set_back(header: Integers) -> bool:
    """True if header stamps begin anew, as of a simulation that was reset: what was before is covered twice.

    A part that arrives late fills a hole of the others instead. A body that flies one way twice comes by half of it
    where both are woven into each other, which is no reason to trust them.
    """
    backs = np.flatnonzero(np.diff(header) < 0) + 1
    period = max(float(np.median(np.abs(np.diff(header)))), 1.0)
    for before, after in (np.split(header, [k]) for k in backs[: RESETS + 1]):
        low, high = max(before.min(), after.min()), min(before.max(), after.max())
        counts = [int(((part >= low) & (part <= high)).sum()) for part in (before, after)]
        if len(backs) <= RESETS and min(counts) > max(FEWEST, 0.5 * (high - low) / period):
            return True
    return False


def _stands_still(samples: StampedSamples, header: Integers, bag: Integers) -> float:
    """Longest time of reception in which the stamps are one, and the body moves [s]; 0 without any that counts."""
    starts = np.flatnonzero(np.r_[True, np.diff(header) != 0])
    lengths = np.diff(np.r_[starts, len(header)])
    since = np.repeat(starts, lengths)
    span = (bag - bag[since]) * 1e-9
    longest = float(span[samples.distances(since) > 0.0].max(initial=0.0))
    period = float(np.median(np.abs(np.diff(bag)))) * 1e-9
    return longest if longest > max(STILL, STILL_PERIODS * period) else 0.0


def _fault(samples: StampedSamples, header: Integers, bag: Integers) -> str | None:
    """The reason why header stamps cannot be trusted at all, if so."""
    if (header[1:] <= 0).any() or header[0] < 0:
        return "header stamps are not set"
    if header.max() == header.min():
        return "header stamps are all the same"
    still = _stands_still(samples, header, bag)
    if still:
        return f"header stamps stand still for up to {still:.2f} s while the body moves"
    return None


def _rate(header: Integers, bag: Integers) -> float | None:
    """Seconds of header stamps in a second of reception; None for a recording that is too short."""
    if len(header) < 4 * FEWEST:
        return None
    edge = len(header) // 10 + 1
    spans = [float(np.median(x[-edge:]) - np.median(x[:edge])) for x in (header, bag)]
    return spans[0] / spans[1] if min(map(abs, spans)) > 0.0 else None


def _header_step(delay: Array, by_header: Array) -> tuple[int, float] | None:
    """Sample and size [s] of the largest step of the header's clock that stays; None without any.

    It is where an interval of the header stamps is off by as much as the level of the delay changes there. A hole in
    the recording leaves that level, and so does a late message.

    Args:
        delay: (K,) of reception [s].
        by_header: (K - 1,) intervals of the header stamps [s].
    """
    if len(delay) < 2 * LEVEL:
        drift = 0.0
    else:
        drift = float(np.median(delay[LEVEL:] - delay[:-LEVEL])) / LEVEL
    delay = delay - drift * np.arange(len(delay))  # which is no step
    excess = by_header - np.median(by_header)
    least = max(STEP, NOISE * 1.4826 * float(np.median(np.abs(excess))))
    steps = []
    for k in np.flatnonzero(np.abs(excess) > least):
        before, after = delay[max(0, k + 1 - LEVEL) : k + 1], delay[k + 1 : k + 1 + LEVEL]
        if min(len(before), len(after)) < FEWEST:
            continue
        size = float(np.median(before) - np.median(after))
        noise = NOISE * max(map(_deviation_of_median, (before, after)))
        if abs(size) > max(STEP, noise) and abs(size - excess[k]) < 0.5 * abs(size):
            steps.append((int(k) + 1, size))
    return max(steps, key=lambda step: abs(step[1])) if steps else None


def _deviation_of_median(x: Array) -> float:
    """Standard deviation of the median of values, by how far they are from it."""
    return 1.2533 * 1.4826 * float(np.median(np.abs(x - np.median(x)))) / math.sqrt(len(x))


def _without_drift(samples: S, header: Integers, bag: Integers) -> tuple[S, Integers]:
    """Header stamps at the rate of the times of reception, where the two drift apart."""
    rate = _rate(header, bag)
    if rate is None:
        return samples, header
    change = np.diff((bag - header) * 1e-9)
    noise = NOISE * 1.4826 * float(np.median(np.abs(change - np.median(change))))
    growth = abs(1.0 / rate - 1.0) * float(bag[-1] - bag[0]) * 1e-9
    level = (bag - bag[0]) * 1e-9 - (header - header[0]) * 1e-9 / rate
    scatter = float(np.ptp(np.quantile(level, [0.05, 0.95])))  # as of bursts
    if growth < max(DRIFT, noise, scatter):
        return samples, header
    if abs(rate - 1.0) > MAX_DRIFT:
        text = "a simulation's or a player's; the header stamps are used"
        return samples.noted(
            f"header stamps run at {rate:.3g} of the times of reception: {text}"
        ), header
    share, way = 100.0 * abs(rate - 1.0), "fast" if rate > 1.0 else "slow"
    note = f"header stamps run {share:.2g} % {way} against the times of reception;"
    stamps = header[0] + np.round((header - header[0]) / rate).astype(np.int64)
    samples = replace(samples, header_ns=stamps)
    return samples.noted(f"{note} they were brought to the receiver's rate"), stamps


def delay_of(samples: StampedSamples) -> int | None:
    """Usual delay of reception behind the header stamps [ns]; None where one of them is missing."""
    if samples.header_ns is None or samples.bag_ns is None:
        return None
    delays = samples.bag_ns - samples.header_ns
    return int(delays[0]) + int(np.median(delays - delays[0]))  # too large for the median's floats
