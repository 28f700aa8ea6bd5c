# SPDX-License-Identifier: BSD-3-Clause
"""MAVLink 2 [https://mavlink.io/en/guide/serialization.html]: the few messages that a flight in the loop needs.

A frame is a head of ten bytes, a payload without the zeros at its end, and a checksum (CRC-16/MCRF4XX) over all but the
first byte and over a byte that belongs to the kind of message.
"""

import struct
from binascii import crc_hqx
from collections.abc import Iterator
from typing import Any, NamedTuple

BEGIN, HEAD, CHECK = 0xFD, 10, 2
SYSTEM, COMPONENT = 255, 190  # of this side, as ground stations have them
_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class MessageKind(NamedTuple):
    """A kind of message.

    Attributes:
        number: of it.
        extra: byte of its own in the checksum.
        fields: of its payload.
    """

    number: int
    extra: int
    fields: struct.Struct


HEARTBEAT = MessageKind(0, 50, struct.Struct("<IBBBBB"))
COMMAND_LONG = MessageKind(76, 152, struct.Struct("<7fHBBB"))
COMMAND_ACK = MessageKind(77, 143, struct.Struct("<HB"))
SET_ATTITUDE_TARGET = MessageKind(82, 49, struct.Struct("<I4f4fBBB"))
HIL_ACTUATOR_CONTROLS = MessageKind(93, 47, struct.Struct("<2Q16fB"))
HIL_SENSOR = MessageKind(107, 108, struct.Struct("<Q13fIB"))
HIL_GPS = MessageKind(113, 124, struct.Struct("<Q3i3H3hH3BH"))
STATUSTEXT = MessageKind(253, 83, struct.Struct("<B50s"))
EXTRAS = {
    each.number: each.extra
    for each in (
        HEARTBEAT,
        COMMAND_LONG,
        COMMAND_ACK,
        SET_ATTITUDE_TARGET,
        HIL_ACTUATOR_CONTROLS,
        HIL_SENSOR,
        HIL_GPS,
        STATUSTEXT,
    )
}


def checksum(data: bytes, extra: int) -> bytes:
    """Checksum of a frame's bytes behind the first one.

    It is the CRC of the polynomial 0x1021 on mirrored bytes, which Python computes at the speed of C.
    """
    high = crc_hqx((data + bytes((extra,))).translate(_MIRROR), 0xFFFF)
    return bytes((_MIRROR[high >> 8], _MIRROR[high & 0xFF]))


class Sender:
    """Makes frames with consecutive numbers.

    Args:
        system: number of the sender.
        component: of it.
    """

    def __init__(self, system: int = SYSTEM, component: int = COMPONENT) -> None:
        self._from, self._count = (system, component), 0

    def frame(self, kind: MessageKind, *values: object) -> bytes:
        """The frame of a message."""
        payload = kind.fields.pack(*values).rstrip(b"\0") or b"\0"
        self._count = (self._count + 1) & 0xFF
        number = kind.number.to_bytes(3, "little")
        body = bytes((len(payload), 0, 0, self._count, *self._from)) + number + payload
        return bytes((BEGIN,)) + body + checksum(body, kind.extra)


class MavlinkMessage(NamedTuple):
    """A message: its number, and its payload without the zeros at its end."""

    number: int
    payload: bytes

    def values(self, kind: MessageKind) -> tuple[Any, ...]:
        """Its fields, numbers and bytes."""
        size = kind.fields.size
        return kind.fields.unpack(self.payload[:size].ljust(size, b"\0"))


class MavlinkParser:
    """Takes a stream of bytes apart into messages; what is damaged or unknown is left out."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, data: bytes) -> Iterator[MavlinkMessage]:
        """The messages that are whole with more bytes."""
        self._bytes += data
        while True:
            begin = self._bytes.find(BEGIN)
            self._bytes = self._bytes[begin:] if begin >= 0 else b""
            if len(self._bytes) < HEAD + CHECK:
                return
            end = HEAD + self._bytes[1] + CHECK + 13 * (self._bytes[2] & 1)  # some are signed
            if len(self._bytes) < end:
                return
            frame, length = self._bytes[:end], HEAD + self._bytes[1]
            number = int.from_bytes(frame[7:10], "little")
            extra = EXTRAS.get(number)
            is_sound = (
                extra is not None
                and checksum(frame[1:length], extra) == frame[length : length + CHECK]
            )
            # An unknown kind is passed over as a whole, a damaged frame only by its first byte.
            self._bytes = self._bytes[end if is_sound or extra is None else 1 :]
            if is_sound:
                yield MavlinkMessage(number, frame[HEAD:length])
