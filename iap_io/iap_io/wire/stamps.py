# SPDX-License-Identifier: BSD-3-Clause
"""Stamps of messages: simulation time in nanoseconds, and where a std_msgs/Header holds it."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_io.wire.cdr import HEADER_SIZE

SECOND = 1_000_000_000  # [ns]


def stamp_of_time(t: float) -> int:
    """Simulation time [s] as a stamp [ns]."""
    return round(t * SECOND)


def stamp_of(data: bytes) -> int:
    """Stamp [ns] of one serialised message that begins with a std_msgs/Header."""
    seconds, nanoseconds = stamp_parts(data)
    return seconds * SECOND + nanoseconds


def stamp_parts(data: bytes) -> tuple[int, int]:
    """Seconds and nanoseconds of one serialised message that begins with a std_msgs/Header."""
    seconds, nanoseconds = struct.unpack_from("<iI", data, HEADER_SIZE)
    return seconds, nanoseconds


def put_stamp(data: bytearray | memoryview, stamp: int) -> None:
    """Set the stamp [ns] of one serialised message that begins with a std_msgs/Header."""
    struct.pack_into("<iI", data, HEADER_SIZE, *divmod(stamp, SECOND))


def set_stamps(header: NDArray[Any], stamps: Integers) -> None:
    """Write stamps [ns] into the ``header`` records of messages."""
    header["stamp"]["sec"], header["stamp"]["nanosec"] = np.divmod(stamps, SECOND)


def stamps_of(header: NDArray[Any]) -> Integers:
    """Stamps [ns] of ``header`` records."""
    return header["stamp"]["sec"].astype(np.int64) * SECOND + header["stamp"]["nanosec"]
