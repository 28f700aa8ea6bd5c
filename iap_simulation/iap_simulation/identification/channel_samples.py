# SPDX-License-Identifier: BSD-3-Clause
r"""Samples of a channel that are none of the vehicle's motion, by the channel itself and by its command.

- A **spike** leaves the channel for up to three samples and comes back: it is off the median of seven samples by more
  than eight deviations of the noise, by three times what nineteen of twenty samples are, and by a share of the range.
- A channel is **frozen** where it repeats one number, while its command moves on, or its noise is gone for two seconds,
  and elsewhere it does not repeat.
- It is **becalmed** where it stays within its noise for two seconds, while its command moves, as does an estimate that
  is lost but still shakes. Channels that hardly ever answer their commands are not.
- It is **held** where it repeats each number about as often as the next: it is measured at a lower rate than the log's.
- Several channels that **leap** at one sample and do not come back are two flights in one file.

The deviation of the noise is that of second differences of the samples, by their median [Hampel, "The influence curve
and its role in robust estimation", 1974].
"""

import numpy as np

from iap_description.arrays import Array, Booleans, Integers

MEDIAN = 7  # samples of the running median: spikes of up to three
TO_DEVIATION = 1.4826  # of a normal distribution, from the median of its sizes
NOISES, USUAL_SIZES, OF_RANGE = 8.0, 3.0, 0.1  # deviations, sizes of 95 %, and share of the range
USUAL = 95.0  # percentile of sizes [%]
FREEZE = 0.5  # shortest stretch that is looked at [s]
REPEATS = 4.0  # longest usual repetition, in whose multiples a stretch is frozen
OF_COMMAND = 0.1  # share of its range that a command moves by meanwhile
SHAKING = 0.3  # share of samples that are turning points, from which on a channel has noise
BECALMED = 2.0  # shortest stretch within the noise that is looked at [s]
ANSWER = 1.0  # within which a channel answers its command [s]
BLOCK = 0.25  # of samples whose mean is compared [s]
WITHIN = 6.0  # deviations of such a mean that a stretch may have from end to end
MOST_BECALMED = 0.5  # share of the samples beyond which the channel is no one's that answers
COMMAND_SPIKE = 4.0  # size of a spike in a command relative to that of its 99 %
AWAY = 2.0  # time of a joint of flights from both ends [s]
LEAP_OF_RANGE = 0.05  # size of a leap relative to the range
QUANTA = 3.5  # steps of a channel's resolution that are no leap
ALIKE_RUNS = 0.7  # least share of runs of a held channel within one sample of the usual one
SHORT_RUNS = 0.05  # most of those that are shorter
FEWEST_RUNS = 20
DOUBLED = 0.05  # least share of rows that repeat the one before, of which a note is made
VALUES, OFTEN, AT_AN_END = (
    100,
    5.0,
    0.02,
)  # numbers, times the usual one, and share of an end of a range
LEAPING = 2  # channels that leap at once where flights are joined


def spikes(x: Array) -> Booleans:
    """Samples (K,) of a measured channel (K,) that are spikes."""
    off = np.abs(x - running_median(x))
    noise = noise_of(x)
    low, high = np.percentile(x, [1.0, 99.0])
    limit = max(
        NOISES * noise,
        USUAL_SIZES * float(np.percentile(off, USUAL)),
        OF_RANGE * float(high - low),
    )
    return np.asarray(off > limit)


def noise_of(x: Array) -> float:
    """Deviation of white noise on samples (K,)."""
    return TO_DEVIATION * float(np.median(np.abs(np.diff(x, 2)))) / float(np.sqrt(6.0))


def held_at_leaps(v: Array, largest_step: float) -> tuple[Array, Booleans]:
    """Samples (K, n) with each that leaps away and back held at the one before, and which these are."""
    v, leaps = v.copy(), np.zeros(v.shape, np.bool_)
    for i in range(v.shape[1]):
        for k in range(1, len(v)):
            if abs(v[k, i] - v[k - 1, i]) > largest_step:
                v[k, i], leaps[k, i] = v[k - 1, i], True
    return v, leaps


def running_median(x: Array) -> Array:
    """Medians (K,) of `MEDIAN` samples (K,) around each."""
    padded = np.pad(x, MEDIAN // 2, mode="reflect", reflect_type="odd")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, MEDIAN), axis=1))


def command_spikes(u: Array) -> Booleans:
    """Samples (K,) of a command (K,) that stand alone, far beyond all others: pulses of its own size are none."""
    size = np.abs(u)
    alone = np.zeros(len(u), np.bool_)
    usual = float(np.percentile(size, 99.0))
    beside = np.maximum(size[:-2], size[2:])
    alone[1:-1] = (usual > 0.0) & (size[1:-1] > COMMAND_SPIKE * np.maximum(usual, beside))
    return alone


def repetitions(x: Array) -> tuple[Integers, float]:
    """Begins of runs of one number in samples (K,), with K behind the last, and the number of samples of usual ones."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(x)) + 1, [len(x)]])
    return edges, max(float(np.percentile(np.diff(edges), USUAL)), 1.0)


def fresh_of_held(x: Array) -> Booleans | None:
    """Samples (K,) at which a channel (K,) that is held in between was measured; None of one that is not held.

    A channel is still where its vehicle is: its longest runs do not count. Those of a coarse resolution are as short
    as they come.
    """
    edges, usual = repetitions(x)
    runs = np.diff(edges)[1:-1]
    runs = runs[runs <= REPEATS * usual]
    if len(runs) < FEWEST_RUNS:
        return None
    middle = float(np.median(runs))
    is_regular = np.mean(np.abs(runs - middle) <= 1.0) > ALIKE_RUNS
    if middle < 2.0 or not is_regular or np.mean(runs < 0.6 * middle) > SHORT_RUNS:
        return None
    fresh = np.zeros(len(x), np.bool_)
    fresh[edges[:-1]] = True
    return fresh


def doubled(rows: Array) -> Booleans:
    """Samples (K,) all of whose numbers (K, n) are those of the one before, in runs as short as no rest has."""
    same = np.concatenate([[False], (np.diff(rows, axis=0) == 0.0).all(axis=1)])
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop - start > MEDIAN // 2:
            same[start:stop] = False
    return same


def frozen(t: Array, u: Array, x: Array) -> list[tuple[int, int]]:
    """Stretches of samples, first and behind the last, through which a channel is frozen.

    Args:
        t: (K,) times [s].
        u: (K,) its command.
        x: (K,) as it was measured.
    """
    edges, usual = repetitions(x)
    span = float(np.ptp(u))
    shakes = (
        float(np.mean(np.diff(x)[:-1] * np.diff(x)[1:] < 0.0)) > SHAKING if len(x) > 2 else False
    )
    spans = []
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        duration = t[stop - 1] - t[start]
        if duration < FREEZE or stop - start <= REPEATS * usual:
            continue
        commands = u[start:stop][t[start:stop] <= t[stop - 1] - 0.5 * FREEZE]
        is_moved = span > 0.0 and float(np.ptp(commands)) > OF_COMMAND * span
        if is_moved or (shakes and duration >= BECALMED):
            spans.append((start, stop))
    return spans


def saturated(x: Array) -> Booleans:
    """Samples (K,) at the least or greatest number, where that comes far more often than others do; zero is rest."""
    numbers, counts = np.unique(x, return_counts=True)
    ends: Booleans = np.zeros(len(x), np.bool_)
    if len(numbers) < VALUES:
        return ends
    least = max(OFTEN * float(counts[1:-1].mean()), AT_AN_END * len(x))
    for k in (0, -1):
        if counts[k] > least and numbers[k] != 0.0:
            ends |= x == numbers[k]
    return ends


def end_in_words(x: Array, ends: Booleans) -> str:
    """A note on samples (n,) at an end of a range, which are some of all (K,)."""
    size = float(np.abs(x).max())
    return f"stops at {size:.3g} in {ends.mean():.0%} of its samples: saturated, left out"


def becalmed(t: Array, u: Array, x: Array) -> list[tuple[int, int]]:
    """Stretches, as of `frozen`, through which a channel stays within its noise while its command moves."""
    size = max(1, round(BLOCK / float(np.median(np.diff(t))))) if len(t) > 1 else 1
    count, noise, span = len(x) // size, noise_of(x), float(np.ptp(u))
    if noise == 0.0 or span == 0.0 or count < 2:
        return []
    means = x[: count * size].reshape(count, size).mean(axis=1)
    most = WITHIN * noise / np.sqrt(size)
    spans, start = list[tuple[int, int]](), 0
    for block in range(1, count + 1):
        if block < count and np.ptp(means[start : block + 1]) <= most:
            continue
        first, stop = start * size, block * size
        start = block
        answered = (np.arange(len(t)) >= first) & (t <= t[stop - 1] - ANSWER)
        if t[stop - 1] - t[first] < BECALMED or np.ptp(u[answered]) <= OF_COMMAND * span:
            continue
        spans.append((first, stop))
    total = sum(stop - first for first, stop in spans)
    return spans if total < MOST_BECALMED * len(x) else []


def joints_of_flights(t: Array, v: Array) -> Integers:
    """Samples at which several channels (K, n) at times (K,) leap and do not come back."""
    inside = (t[1:] - t[0] > AWAY) & (t[-1] - t[1:] > AWAY)
    low, high = np.percentile(v, [1.0, 99.0], axis=0)
    steps = np.diff(v, axis=0)
    sizes = np.abs(steps)
    quanta = np.where(sizes > 0.0, sizes, np.inf).min(axis=0, initial=np.inf)
    large = (sizes > LEAP_OF_RANGE * (high - low)) & (high > low) & inside[:, None]
    large &= sizes > QUANTA * quanta
    leaps = large & np.stack([spikes(column) for column in steps.T], axis=1)
    return np.asarray(np.flatnonzero(leaps.sum(axis=1) >= LEAPING) + 1)
