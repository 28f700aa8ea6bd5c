# SPDX-License-Identifier: BSD-3-Clause
"""Parts of one instant from several sources, put together by their stamps."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Instant(NamedTuple):
    """One instant of all sources.

    Attributes:
        stamp: simulation time [ns].
        k: number of the instant.
        parts: of every source, in order.
    """

    stamp: int
    k: int
    parts: tuple[Any, ...]


class TimeSynchronizer:
    """Returns an instant once all sources gave their part; older ones that lack a source are dropped.

    Args:
        sources: how many there are.
    """

    def __init__(self, sources: int) -> None:
        self._newest = [-1] * sources
        self._waiting: dict[int, dict[int, Any]] = {}  # stamp -> source -> part

    def take(self, source: int, stamp: int, k: int, part: object) -> Instant | None:
        """Keep a source's part of an instant; returns the instant that is complete with it.

        A part that comes again completes its instant again; an earlier stamp than a source's last one starts anew.
        """
        if stamp < self._newest[source]:
            for parts in self._waiting.values():
                parts.pop(source, None)
            self._waiting = {s: parts for s, parts in self._waiting.items() if parts}
        self._newest[source] = stamp
        parts = self._waiting.setdefault(stamp, {})
        parts[source] = part
        if len(parts) < len(self._newest):
            return None
        self._waiting = {s: others for s, others in self._waiting.items() if s > stamp}
        return Instant(stamp, k, tuple(parts[i] for i in range(len(parts))))

    @property
    def missing(self) -> tuple[int, ...]:
        """Sources whose part of the newest instant has not come; none where it is complete, or before the first."""
        parts = self._waiting.get(max(self._newest))
        return () if parts is None else tuple(set(range(len(self._newest))) - set(parts))


class RateSchedule:
    """The sensors that are due, where instants may be missing: each once in every period of its own.

    Args:
        every: instants in a period of each sensor.
    """

    def __init__(self, every: Sequence[int]) -> None:
        self._every = tuple(every)
        self.reset()

    def reset(self) -> None:
        """All are due."""
        self._last = [-1] * len(self._every)

    def due(self, k: int) -> list[int]:
        """The sensors whose period has begun by instant k, in order; they count as served."""
        rounds = [k // every for every in self._every]
        due = [i for i, now in enumerate(rounds) if now > self._last[i]]
        self._last = rounds
        return due
