# SPDX-License-Identifier: BSD-3-Clause
r"""Offsets of a measured channel against its free run: a bias, a step that lasts, or a drift.

Means of a residual over blocks of two seconds tell a level from what a model misses of the motion. One level, two
levels with the step between them where they explain most, and a line are compared. The simplest counts whose size is
beyond its interval and worth a word; steady wind gives the same picture, and is not told apart.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_simulation.identification.channel_samples import TO_DEVIATION

BLOCK = 2.0  # over which a residual is averaged [s]
FEWEST = 6  # blocks in which a level is looked for
MIN_BLOCKS = 2  # blocks on each side of a step
SURE = 5.0  # standard errors
EXPLAINS = 0.6  # share of the blocks' variance that a step or a line explains
BETTER = 0.7  # a step's rest relative to that of a line


class ChannelOffset(NamedTuple):
    """An offset of a channel.

    Attributes:
        profile: (K,) of each sample.
        text: its kind, place and size.
    """

    profile: Array
    text: str


def offset_of(
    t: Array, off: Array, sound: Booleans, unit: str, smallest: float
) -> ChannelOffset | None:
    """The offset of a channel; None without one.

    Args:
        t: (K,) times [s].
        off: (K,) what was measured minus the free run.
        sound: (K,) samples that count.
        unit: of the channel.
        smallest: size that counts.
    """
    means, middle = _block_means(t, off, sound)
    if len(means) < FEWEST:
        return None
    scatter = float(np.median(np.abs(np.diff(means)))) * TO_DEVIATION / np.sqrt(2.0)
    least = max(smallest, SURE * scatter / np.sqrt(len(means)))
    total = float(np.sum((means - means.mean()) ** 2))
    k, before, after, rest = _step(means)
    line = np.polyfit(middle, means, 1)
    rest_of_line = float(np.sum((means - np.polyval(line, middle)) ** 2))
    is_step = abs(after - before) > least and rest < (1.0 - EXPLAINS) * total
    if is_step and rest < BETTER * rest_of_line:
        at = _edge(t, off, sound, middle[k - 1], middle[k])
        text = f"steps by {after - before:.3g} {unit} at t = {at:.4g} s"
        levels = f"from {before:.2g} to {after:.2g} off its free run"
        return ChannelOffset(np.where(t < at, before, after), f"{text}, {levels}")
    rise = float(line[0] * (t[-1] - t[0]))
    if abs(rise) > 2.0 * least and rest_of_line < (1.0 - EXPLAINS) * total:
        text = f"drifts by {rise:.3g} {unit} over {t[-1] - t[0]:.3g} s against its free run"
        return ChannelOffset(np.asarray(np.polyval(line, t), np.float64), text)
    level = float(np.median(means))
    if abs(level) > least:
        return ChannelOffset(
            np.full(len(t), level), f"lies {level:.3g} {unit} off its free run all along"
        )
    return None


def _block_means(t: Array, off: Array, sound: Booleans) -> tuple[Array, Array]:
    """Means of the blocks in which most samples count, and the times of their middles [s]."""
    block = ((t - t[0]) / BLOCK).astype(int)
    count = np.bincount(block, minlength=1)
    kept = np.bincount(block, sound)
    sums, times = np.bincount(block, off * sound), np.bincount(block, t)
    full = (kept > 0.5 * count) & (count > 0.5 * np.median(count[count > 0]))
    return sums[full] / kept[full], times[full] / count[full]


def _step(means: Array) -> tuple[int, float, float, float]:
    """The block from which on a second level begins, both levels, and the sum of squares that they leave."""
    candidates = []
    for k in range(MIN_BLOCKS, len(means) - MIN_BLOCKS + 1):
        a, b = float(means[:k].mean()), float(means[k:].mean())
        rest = float(np.sum((means[:k] - a) ** 2) + np.sum((means[k:] - b) ** 2))
        candidates.append((rest, k, a, b))
    rest, k, a, b = min(candidates)
    return k, a, b, rest


def _edge(t: Array, off: Array, sound: Booleans, first: float, last: float) -> float:
    """The time of a step between the middles of two blocks [s], by the samples around."""
    rows = np.flatnonzero((t >= first - BLOCK) & (t <= last + BLOCK) & sound)
    x = off[rows]
    sums, count = np.cumsum(x), np.arange(1, len(x) + 1)
    before, after = sums[:-1] / count[:-1], (sums[-1] - sums[:-1]) / (len(x) - count[:-1])
    gain = count[:-1] * (len(x) - count[:-1]) * (after - before) ** 2
    return float(t[rows[int(np.argmax(gain)) + 1]])
