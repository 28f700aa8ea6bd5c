# SPDX-License-Identifier: BSD-3-Clause
"""Base of the views of messages: numbers of a fixed layout in the bytes of a message."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from iap_description.frames import MAP
from iap_io.wire.cdr import HEADER_SIZE, MOST_PADDING, MessageLayout, in_frame
from iap_io.wire.number_check import NumberCheck
from iap_io.wire.stamps import SECOND


class Message:
    """One message of a fixed layout.

    Attributes:
        TYPE: its ROS type.
        OPEN: fields that may hold what is no number.
        HAS_ATTITUDES: whether all quaternions are attitudes.
        layout: where its numbers lie.
    """

    TYPE: ClassVar[str]
    OPEN: ClassVar[tuple[str, ...]] = ()
    HAS_ATTITUDES: ClassVar[bool] = True

    def __init__(self, layout: MessageLayout) -> None:
        self.layout = layout
        size = layout.template.size
        # Behind as many bytes as the encapsulation header has, so that numbers are aligned.
        self._bytes = np.zeros(size + HEADER_SIZE, np.uint8)[HEADER_SIZE:]
        self._bytes[:] = layout.template
        self._record = self._bytes.view(layout.dtype)
        stamp = self._record["header"]["stamp"]
        self._sec, self._nanosec = stamp["sec"], stamp["nanosec"]
        self._sequence = self.view("sequence")

    @classmethod
    def _of(cls, frame_id: str = MAP, **fields: object) -> Self:
        return cls(MessageLayout.of(in_frame(cls.TYPE, frame_id, **fields)))

    def view(self, name: str) -> NDArray:
        """A field as an array; a scalar has shape (), an empty sequence (0,)."""
        if name not in (self.layout.dtype.names or ()):
            return np.zeros(0)
        return self._record[name][0, ...]

    @property
    def frame_id(self) -> str:
        """Frame of the header."""
        at = HEADER_SIZE + 12  # behind the stamp and the string's length
        size = int.from_bytes(self._bytes[at - 4 : at].tobytes(), "little")
        return self._bytes[at : at + size].tobytes().rstrip(b"\0").decode()

    def number_check(self) -> NumberCheck:
        """The check of the numbers that it holds from time to time."""
        return NumberCheck(self.layout, self._bytes, self.OPEN, attitudes=self.HAS_ATTITUDES)

    @property
    def stamp(self) -> int:
        """Simulation time of the header [ns]."""
        return int(self._sec[0]) * SECOND + int(self._nanosec[0])

    @property
    def sequence(self) -> int:
        """Number of the state that the message carries or answers."""
        return int(self._sequence)

    def put_head(self, stamp: int, sequence: int) -> None:
        """Set the stamp [ns] and the number."""
        self._sec[0], self._nanosec[0] = divmod(stamp, SECOND)
        self._sequence[()] = sequence

    def load(self, data: bytes) -> bool:
        """Take the numbers of a serialised message; False if it has another layout."""
        fixed, size = self.layout.fixed, self._bytes.size
        new = np.frombuffer(data, np.uint8)[:size]
        if not 0 <= len(data) - size <= MOST_PADDING or (new[fixed] != self._bytes[fixed]).any():
            return False
        self._bytes[:] = new
        return True

    def dump(self) -> bytes:
        """The serialised message."""
        return self._bytes.tobytes()

    def stamped(self, stamp: int) -> bytes:
        """The serialised message with a stamp [ns]."""
        self.put_head(stamp, 0)
        return self.dump()
