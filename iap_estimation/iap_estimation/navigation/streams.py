# SPDX-License-Identifier: BSD-3-Clause
"""Order of measurements: increasing stamps, image pairs, order among sensors, end of a data set."""

import heapq
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median
from typing import Generic, TypeVar

from iap_description.errors import BadInput
from iap_estimation.navigation.measurements import SENSOR_GAP, Event, Images, Tally
from iap_estimation.virpo.messages import ImuSample, Ranges

Image = TypeVar("Image")
Item = TypeVar("Item")
STAMP_TOLERANCE = 3e-3  # between stamps of a pair [s]
MAX_WAITING = 20  # images that wait for their partners at most
LATEST = 0.25  # by how much messages of a recording may be later than younger ones [s]
RECENT = 400  # stamps among which a late one is looked for
FEWEST_STAMPS = 5  # that show a sensor's period
HOLE = 1.5  # periods between two stamps, below which none is missing between them
MOST_MISPLACED, MOST_AGAIN = 2, 5  # late messages in a row whose place was not empty


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


class Sorter(Generic[Item]):
    """Sorts the messages of one sensor by their stamps, as far as they come within a horizon of their place.

    A message that comes after younger ones fills the hole that they left, and is put there. One whose place is
    not empty has a wrong stamp, and is left out; several in a row are a clock that was set back.

    Args:
        source: file and sensor, to name in errors.
        tally: takes note of what is odd.
        horizon: by how much messages may be late [s].
    """

    def __init__(self, source: str, tally: Tally, horizon: float) -> None:
        self._source, self._tally, self._horizon = source, tally, horizon
        self._clock = Clock(source, tally)
        self._waiting: list[tuple[float, int, Item]] = []
        self._stamps: deque[float] = deque(maxlen=RECENT)  # the newest, sorted
        self._number = self._misplaced = self._again = 0
        self._back = 0.0  # by which the first of late messages in a row goes back [s]

    def add(self, t: float, item: Item) -> Iterator[tuple[float, Item]]:
        """Take a message; those whose place is sure now.

        Raises:
            BadInput: the clock was set back, or a message is later than the horizon.
        """
        if self._stamps and t < self._stamps[-1]:
            if not self._fits(t):
                return
        else:
            self._stamps.append(t)
            self._misplaced = self._again = 0
        self._number += 1
        heapq.heappush(self._waiting, (t, self._number, item))
        while self._waiting[0][0] < self._stamps[-1] - self._horizon:
            yield from self._release()

    def end(self) -> Iterator[tuple[float, Item]]:
        """No more messages will come: those that waited."""
        while self._waiting:
            yield from self._release()

    def _release(self) -> Iterator[tuple[float, Item]]:
        t, _, item = heapq.heappop(self._waiting)
        if self._clock.goes_on(t):
            yield t, item

    def _fits(self, t: float) -> bool:
        """True if a late message fills a hole."""
        stamps = list(self._stamps)
        at = bisect_left(stamps, t)
        if not (self._misplaced or self._again):
            self._back = stamps[-1] + _period(stamps) - t
        if stamps[at] == t:
            self._tally.repeated += 1
            self._again += 1
        elif at and stamps[at] - stamps[at - 1] < HOLE * _period(stamps):
            self._tally.misplaced += 1
            self._misplaced += 1
        else:
            self._tally.late += 1
            self._stamps = deque(sorted([*stamps, t])[-RECENT:], maxlen=RECENT)
            return True
        if self._misplaced >= MOST_MISPLACED or self._again >= MOST_AGAIN:
            raise BadInput(
                f"{self._source}: its clock was set back, by about {self._back:.3f} s, after {stamps[-1]:.3f} s:"
                " cut the recording there"
            )
        return False


def _period(stamps: list[float]) -> float:
    """Median time between stamps [s]; zero where they are too few to tell."""
    if len(stamps) < FEWEST_STAMPS:
        return 0.0
    return median(b - a for a, b in pairwise(stamps))


def by_stamp(
    messages: Iterable[tuple[float, Item]], source: str, tally: Tally, horizon: float
) -> Iterator[tuple[float, Item]]:
    """Messages of one sensor, sorted by their stamps; see `Sorter`."""
    sorter: Sorter[Item] = Sorter(source, tally, horizon)
    for t, item in messages:
        yield from sorter.add(t, item)
    yield from sorter.end()


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
