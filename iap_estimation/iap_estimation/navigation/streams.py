# SPDX-License-Identifier: BSD-3-Clause
"""Order of measurements: increasing stamps, image pairs, order among sensors, end of a data set."""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from iap_description.errors import BadInput
from iap_estimation.navigation.measurements import SENSOR_GAP, Event, Images, Tally
from iap_estimation.virpo.messages import ImuSample, Ranges

Image = TypeVar("Image")
STAMP_TOLERANCE = 3e-3  # between stamps of a pair [s]
MAX_WAITING = 20  # images that wait for their partners at most


class Clock:
    """Watches the stamps of one sensor.

    Args:
        source: file and sensor, to name in errors.
        tally: takes note of what is odd.
    """

    def __init__(self, source: str, tally: Tally) -> None:
        self._source, self._tally = source, tally
        self._last: float | None = None

    def goes_on(self, t: float) -> bool:
        """True if a stamp [s] is a new one.

        Raises:
            BadInput: it is before the last one.
        """
        last = self._last
        if last is not None and t <= last:
            if t < last:
                raise BadInput(
                    f"{self._source}: stamps go backwards: {t:.6f} s after {last:.6f} s"
                )
            self._tally.repeated += 1
            return False
        if last is not None and t - last >= SENSOR_GAP:
            self._tally.gaps.append(f"{self._source}: nothing from {last:.3f} s to {t:.3f} s")
        self._last = t
        return True


class Pairing(Generic[Image]):
    """Finds the left and the right image of one time; of each side they come in order of time."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._waiting: tuple[deque[tuple[float, Image]], ...] = (deque(), deque())

    def add(self, side: int, t: float, image: Image) -> tuple[float, Image, Image] | None:
        """Take an image of the left (0) or right (1) camera; the time of a pair that is complete, and the pair."""
        queue, others = self._waiting[side], self._waiting[1 - side]
        while others and others[0][0] < t - STAMP_TOLERANCE:
            self._drop(others)
        if others and others[0][0] <= t + STAMP_TOLERANCE:
            t_other, other = others.popleft()
            return (t, image, other) if side == 0 else (t_other, other, image)
        queue.append((t, image))
        if len(queue) > MAX_WAITING:
            self._drop(queue)
        return None

    def end(self) -> None:
        """No more images will come."""
        for waiting in self._waiting:
            while waiting:
                self._drop(waiting)

    def _drop(self, waiting: deque[tuple[float, Image]]) -> None:
        waiting.popleft()
        self._tally.unpaired += 1


def while_sighted(events: Iterable[Event], tally: Tally) -> Iterator[Event]:
    """Events, but no more than `SENSOR_GAP` of inertial samples at the end, after the last image or range.

    They would lead an estimator astray until it fails, and again after every beginning.
    """
    blind: list[Event] = []
    last = float("inf")  # time of the newest image or range [s]
    for event in events:
        measured = event[1]
        if isinstance(measured, (Images, Ranges)):
            yield from blind
            blind.clear()
            last = measured.t
        if measured.t > last + SENSOR_GAP:
            blind.append(event)
        else:
            yield event
    if blind:
        tally.blind = blind[-1][1].t - last


def in_order(events: Iterable[Event], horizon: float) -> Iterator[Event]:
    """Events sorted by time, as far as they come within `horizon` [s] of their place; inertial samples before images.

    What comes later still is passed on when it comes.
    """
    heap: list[tuple[float, int, int, Event]] = []
    newest = float("-inf")
    for number, event in enumerate(events):
        measured = event[1]
        rank = 0 if isinstance(measured, ImuSample) else 2 if isinstance(measured, Images) else 1
        heapq.heappush(heap, (measured.t, rank, number, event))
        newest = max(newest, measured.t)
        while heap[0][0] < newest - horizon:
            yield heapq.heappop(heap)[-1]
    while heap:
        yield heapq.heappop(heap)[-1]
