# SPDX-License-Identifier: BSD-3-Clause
"""Serialised messages of sensors, of which only some numbers change."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_io.bags.bag_writer import Buffer
from iap_io.wire.cdr import Layout, put_stamp

Message = list[Buffer]  # that follow each other, so that an image's pixels are never copied
Encoded = Iterator[tuple[str, Message]]  # topics and their messages


class Fixed:
    """A message of fixed layout that is filled again and again."""

    def __init__(self, sample: object) -> None:
        self._record = Layout.of(sample).blank(1)
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
