# SPDX-License-Identifier: BSD-3-Clause
"""The clocks of a bag's sensors: header stamps of each topic beside the times at which its messages came.

With d the usual delay of a topic, its times of reception less its header stamps, and d0 that of the inertial unit:
a topic whose d is far from d0 was stamped by another clock. Nothing comes before it is measured, so that d < d0 -
``EARLY`` is one, and so is d > d0 + ``LATE``; in between it may have been on its way, which nothing here tells.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iap_description.arrays import Integers
from iap_io.bags.bag_reading import parsing
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.recorded import RecordedTrajectory

SPAN_NS = 20_000_000_000  # of the bag that is looked at
EARLY, LATE = 0.3, 5.0  # [s]
TRUTH_APART = 0.1  # of the truth's delay from the inertial unit's [s]
UNSET = 0.01  # share of stamps that are 0

StampOf = Callable[[Any], int]


@dataclass(frozen=True)
class BagClocks:
    """Map from stamps of a bag's messages to times of one clock, the inertial unit's.

    Attributes:
        delay_ns: usual delay of the inertial unit's messages.
        shifts_ns: by topic, what is added to its header stamps.
        is_by_reception: whether times of reception count, since stamps are not set.
        late_s: by how much the stamps of a topic may be behind, or its messages late [s]; None where they are not.
        notes: what was found.
    """

    delay_ns: int = 0
    shifts_ns: Mapping[str, int] = field(default_factory=dict)
    is_by_reception: bool = False
    late_s: float | None = None
    notes: tuple[str, ...] = ()

    def ticks(self, topic: str, stamp_ns: int, received_ns: int) -> int:
        """The time of a message [ns]."""
        return received_ns if self.is_by_reception else stamp_ns + self.shifts_ns.get(topic, 0)

    def start_of(self, recorded: RecordedTrajectory, topic: str) -> tuple[int, tuple[str, ...]]:
        """The time of a truth's first sample [ns], and a note where its clock is another."""
        if recorded.delay_ns is None:
            return recorded.start_ns, ()
        received = recorded.start_ns + recorded.delay_ns
        if self.is_by_reception:
            return received, ()
        apart = (recorded.delay_ns - self.delay_ns) * 1e-9
        if recorded.clock == "bag" or abs(apart) > TRUTH_APART:
            return received - self.delay_ns, (
                _sentence(topic, apart, "its times of reception count"),
            )
        return recorded.start_ns, ()


def compare_clocks(
    bag: Bag, imu: str, others: Iterable[str], stamps: Mapping[str, StampOf] | None = None
) -> BagClocks:
    """The clocks of topics beside that of the inertial unit.

    Args:
        bag: that is open.
        imu: topic of the inertial unit.
        others: topics of images or ranges.
        stamps: by topic, the stamp of a message [ns] that is not in its header.
    """
    of = {topic: _stamps(bag, topic, (stamps or {}).get(topic)) for topic in (imu, *others)}
    unset = [topic for topic, (header, _) in of.items() if _is_unset(header)]
    if unset:
        note = f"stamps of {' and '.join(unset)} are not set: the bag's times of reception count for all"
        return BagClocks(is_by_reception=True, notes=(note,))
    delays = {topic: _delay(*each) for topic, each in of.items()}
    shifts, notes, late = {}, [], None
    for topic in of:
        apart = (delays[topic] - delays[imu]) * 1e-9
        if not -EARLY <= apart <= LATE:
            shifts[topic] = delays[topic] - delays[imu]
            notes.append(_sentence(topic, apart, "taken out"))
        elif apart > EARLY:
            late = apart
    return BagClocks(delays[imu], shifts, late_s=late, notes=tuple(notes))


def late_sentence(topic: str, late: float) -> str:
    """Messages that come late by their stamps [s]."""
    return f"{topic} comes {late:.2f} s later than the inertial unit by their stamps: on its way, or by another clock"


def _sentence(topic: str, apart: float, what: str) -> str:
    way = "behind" if apart > 0.0 else "ahead of"
    return f"stamps of {topic} are {abs(apart):.3f} s {way} the inertial unit's at the same times of reception: {what}"


def _is_unset(header: Integers) -> bool:
    """True if stamps are zeros or all the same; simulated time may begin at 0."""
    return len(header) > 1 and (
        float(np.mean(header[1:] <= 0)) > UNSET or header.min() == header.max()
    )


def _delay(header: Integers, received: Integers) -> int:
    """The usual delay [ns]."""
    if not len(header):
        return 0
    delays = received - header
    return int(delays[0]) + int(np.median(delays - delays[0]))


def _stamps(bag: Bag, topic: str, stamp_of: StampOf | None) -> tuple[Integers, Integers]:
    """Stamps and times of reception of a topic's messages in the first part of a bag [ns]."""
    rows = []
    for raw in bag.raw((topic,), stop=bag.start_ns + SPAN_NS):
        if stamp_of is None:
            rows.append((_header_ns(bag, raw[2]), raw[1]))
        else:
            _, message, received = bag.decoded(*raw)
            rows.append((stamp_of(message), received))
    of_headers, receptions = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return of_headers, receptions


def _header_ns(bag: Bag, raw: bytes) -> int:
    """The stamp of a message that begins with a header, without unpacking the rest."""
    with parsing(bag.path):
        if bag.is_ros1:
            seconds, rest = struct.unpack_from("<II", raw, 4)
        else:
            seconds, rest = struct.unpack_from("<iI" if raw[1] & 1 else ">iI", raw, 4)
    return int(seconds) * 1_000_000_000 + int(rest)
