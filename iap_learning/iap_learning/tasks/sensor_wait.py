# SPDX-License-Identifier: BSD-3-Clause
"""Answers between messages that wait, where a policy acts on readings of sensors, for those of the same period."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from iap_description.sensors.readings import Reading
from iap_io.ros.synchronizer import Instant, TimeSynchronizer
from iap_sensors.mounted.sensor_suite import SensorInput

Answer = TypeVar("Answer")


class SensingPilot(Protocol):
    """A pilot as far as it looks at sensors."""

    @property
    def inputs(self) -> Sequence[SensorInput]:
        """Receivers of the readings that it acts on."""

    def lacks(self, stamp: int, k: int) -> Sequence[str]:
        """Topics of the sensors that instant k of a stamp [ns] needs a reading of, and has none yet."""


def lacking(inputs: Sequence[SensorInput], stamp: int, k: int) -> tuple[str, ...]:
    """Topics of those inputs that have not what an action at instant k of a stamp [ns] needs."""
    return tuple(each.topic for each in inputs if not each.is_ready(stamp, k))


class SensorWait(ABC, Generic[Answer]):
    """An instant that waits for readings.

    Attributes:
        stamp: of the newest answer [ns]; -1 before the first.
        awaited: topics of the sensors that the newest instant waits for.
    """

    stamp: int
    _parts: TimeSynchronizer

    @abstractmethod
    def _pilot(self) -> SensingPilot:
        """Pilot of the present flight."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a flight."""

    @abstractmethod
    def _try(self, instant: Instant) -> Answer | None:
        """Answer an instant, unless it waits for a reading."""

    def _begin_readings(self) -> None:
        """Begin a flight of which no reading has come."""
        self._waiting: Instant | None = None
        self.awaited: Sequence[str] = ()
        self._seen: dict[str, int] = {}  # stamp of each sensor's newest reading [ns]

    @property
    def missing(self) -> Sequence[int]:
        """Sources of the newest instant that have not come; none where it waits for readings, or is answered."""
        return self._parts.missing

    @property
    def _newest(self) -> int:
        """Stamp of the newest instant, answered or not [ns]."""
        return self.stamp if self._waiting is None else self._waiting.stamp

    def _waits(self, instant: Instant, k: int) -> bool:
        """True if instant k has to wait for a reading, and does from now on."""
        self.awaited = self._pilot().lacks(instant.stamp, k)
        self._waiting = instant if self.awaited else None
        return bool(self.awaited)

    def take_reading(self, reading: Reading) -> Answer | None:
        """Take a reading of a sensor; returns the answer that waited for it."""
        topic = reading.source.topic
        if reading.stamp < self._seen.get(topic, -1):  # simulation time began anew
            self._begin()
        for each in self._pilot().inputs:
            each.receive(reading)
        self._seen[topic] = reading.stamp
        return None if self._waiting is None else self._try(self._waiting)
