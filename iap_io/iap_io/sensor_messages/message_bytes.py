# SPDX-License-Identifier: BSD-3-Clause
"""Serialised messages of sensors, of which only some numbers change."""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.sensor_info import SensorInfo
from iap_io.bags.bag_writer import Buffer
from iap_io.wire.cdr import HEADER_SIZE, Layout, message, message_types
from iap_io.wire.message_views import SECOND

Message = list[Buffer]  # that follow each other, so that an image's pixels are never copied
Encoded = Iterator[tuple[str, Message]]  # topics and their messages


class Fixed:
    """A message of fixed layout that is filled again and again."""

    def __init__(self, sample: object) -> None:
        self._record = Layout.of(message_types(), sample).blank(1)
        self._bytes = self._record.view(np.uint8).data

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A field, to be filled."""
        field: NDArray[Any] = self._record[name][0, ...]
        return field

    def dump(self, stamp: int) -> bytes:
        """The message with a stamp [ns]."""
        put_stamp(self._bytes, stamp)
        return self._bytes.tobytes()


def offset(record: np.dtype[Any], name: str) -> int:
    """Position of a field."""
    if record.fields is None:
        raise ValueError(f"no field '{name}'")
    return int(record.fields[name][1])


def put_stamp(data: bytearray | memoryview, stamp: int) -> None:
    """Set the stamp [ns] of a message that begins with a std_msgs/Header."""
    struct.pack_into("<iI", data, HEADER_SIZE, *divmod(stamp, SECOND))


def sensor_message(msgtype: str, meta: SensorInfo, **fields: object) -> object:
    """A message in a sensor's frame."""
    return in_frame(msgtype, meta.frame, **fields)


def in_frame(msgtype: str, frame: str, **fields: object) -> object:
    """A message with its header's frame."""
    store = message_types()
    header = message(store, "std_msgs/msg/Header", frame_id=frame)
    return message(store, msgtype, header=header, **fields)


def serialised(sample: object) -> bytes:
    """A message in CDR."""
    return bytes(message_types().serialize_cdr(sample, sample.__msgtype__))  # type: ignore[attr-defined]
