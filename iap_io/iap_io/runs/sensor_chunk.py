# SPDX-License-Identifier: BSD-3-Clause
"""Readings of all sensors as the bytes of a bag's chunk, in the order in which they came."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_io.bags.bag_writer import BagWriter, Buffer
from iap_io.bags.mcap_format import Index, message_head, total
from iap_io.bags.png import Pixels
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.wire.message_views import stamp_of_time

JOINED = 1 << 14  # bytes; shorter buffers are copied together, others written from where they are


class SensorChunk:
    """Makes chunks of readings.

    Args:
        bag: gets the sensors' topics.
        sensors: all whose readings come.
        compression: of images, see `iap_io.runs.run_meta`.
        png: compresses an image.
    """

    def __init__(
        self,
        bag: BagWriter,
        sensors: Sequence[SensorInfo],
        *,
        compression: str,
        png: Callable[[Pixels], Buffer],
    ) -> None:
        self._encoders = {
            meta.topic: encoder(meta, compression=compression, png=png) for meta in sensors
        }
        self._channels = {
            name: bag.add_topic(name, msgtype)
            for each in self._encoders.values()
            for name, msgtype in each.topics.items()
        }

    def fill(self, readings: Iterable[Reading], start: int) -> tuple[list[Buffer], Index]:
        """Bytes and index of readings.

        Args:
            readings: of the sensors.
            start: position in the chunk at which they begin.
        """
        done, short, at = list[Buffer](), bytearray(), start
        places: dict[int, list[tuple[int, int]]] = {}
        for reading in readings:
            stamp = stamp_of_time(reading.t)
            for name, message in self._encoders[reading.source.topic](reading):
                channel, size = self._channels[name], total(message)
                head = message_head(channel, stamp, size)
                for part in (head, *message):
                    if len(part) < JOINED:
                        short += part
                    else:
                        done += [bytes(short), part]
                        short.clear()
                places.setdefault(channel, []).append((stamp, at))
                at += len(head) + size
        columns = {c: np.array(rows, np.int64).T for c, rows in places.items()}
        done.append(bytes(short))
        return done, {c: (stamps, offsets) for c, (stamps, offsets) in columns.items()}
