# SPDX-License-Identifier: BSD-3-Clause
"""Readings out of the messages of sensors' topics: each once, however often it comes."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import ImuInfo, SensorInfo
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.cdr import decoded
from iap_io.wire.number_check import check_stamp
from iap_io.wire.stamps import SECOND, stamp_of


class SensorMessage(NamedTuple):
    """One serialised message and its stamp [ns]."""

    stamp: int
    data: bytes


class SensorLog:
    """Takes serialised messages and hands over readings.

    Args:
        infos: the sensors.
        take: gets the readings; those of one sensor come in the order of their stamps.

    Attributes:
        topics: names and types of all that is taken.
    """

    def __init__(self, infos: Iterable[SensorInfo], take: Callable[[Reading], None]) -> None:
        self._infos, self._take = tuple(infos), take
        self.topics: dict[str, str] = {}
        self._parts: dict[str, set[str]] = {}  # topics that make up one reading
        self._owners: dict[str, SensorInfo] = {}
        for meta in self._infos:
            kinds = {
                n: k for n, k in encoder(meta).topics.items() if not n.endswith("camera_info")
            }
            is_pair = getattr(meta, "has_bias", False)
            self.topics |= kinds
            for name in kinds:
                self._owners[name], self._parts[name] = meta, set(kinds) if is_pair else {name}
        # Each message by itself, before it waits for others.
        self._check = Decoder(
            each.model_copy(update={"has_bias": False}) if isinstance(each, ImuInfo) else each
            for each in self._infos
        )
        self._first: dict[str, int] = {}  # stamp by topic
        self._newest: dict[str, int] = {}
        self._stale: dict[str, int] = {}  # topics whose messages are still of before the reset
        self._early: list[tuple[str, bytes]] = []  # messages of after the next reset
        self._forget()

    def _forget(self) -> None:
        self._decode = Decoder(self._infos)
        self._waiting: dict[str, dict[int, dict[str, bytes]]] = {}  # first topic, stamp, topic

    def reset(self) -> None:
        """Time began anew: what still comes of the time before counts no more."""
        early, ahead = self._early, {topic for topic, _ in self._early}
        self._stale |= {t: stamp for t, stamp in self._newest.items() if t not in ahead}
        self._newest, self._early = {}, []
        self._forget()
        for topic, data in early:
            self.put(topic, data)

    @property
    def missing(self) -> set[str]:
        """Topics of which nothing has come."""
        return self.topics.keys() - self._newest.keys()

    def has_all(self, stamp: int) -> bool:
        """True once every topic has come up to a stamp [ns], but for less than its period."""
        return all(
            self._newest.get(name, -1) > stamp - round(SECOND / meta.rate)
            for name, meta in self._owners.items()
        )

    def longest_step(self, topic: str) -> int:
        """Time between a topic's messages [ns] that needs no second message to be believed."""
        return SECOND + round(2 * SECOND / self._owners[topic].rate)

    def read(self, topic: str, data: bytes) -> SensorMessage:
        """One message of a topic.

        Raises:
            BadInput: it is none, or a field holds what cannot be meant.
        """
        if topic in self._check.types:
            self._check(topic, data)
        else:
            stamp = decoded(data, self.topics[topic]).header.stamp
            check_stamp(stamp.sec, stamp.nanosec)
        return SensorMessage(stamp_of(data), data)

    def put(self, topic: str, data: bytes) -> None:
        """Take one message of a topic."""
        stamp = stamp_of(data)
        if stamp >= self._stale.get(topic, stamp + 1) and stamp != self._first[topic]:
            return  # the last ones come again and again while time stands
        self._stale.pop(topic, None)
        newest = self._newest.get(topic, -1)
        if stamp < newest or any(name == topic for name, _ in self._early):
            self._early.append((topic, data))
        elif stamp > newest:
            self._first.setdefault(topic, stamp)
            self._newest[topic] = stamp
            self._gather(topic, stamp, data)

    def _gather(self, topic: str, stamp: int, data: bytes) -> None:
        """Read a message once all that belong to its reading are there; older ones are dropped."""
        whole = min(self._parts[topic])
        waiting = self._waiting.setdefault(whole, {})
        parts = waiting.setdefault(stamp, {})
        parts[topic] = data
        if len(parts) < len(self._parts[topic]):
            return
        self._waiting[whole] = {s: rest for s, rest in waiting.items() if s > stamp}
        for name in sorted(parts):
            reading = self._decode(name, parts[name])
            if reading is not None:
                self._take(reading)
