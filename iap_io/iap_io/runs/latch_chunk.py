# SPDX-License-Identifier: BSD-3-Clause
"""What latches do, in a bag's chunks."""

from collections.abc import Sequence

import numpy as np

from iap_io.bags.bag_writer import BagWriter
from iap_io.bags.mcap_format import Index, message_head
from iap_io.runs.topics import LATCHES
from iap_io.wire.sample_views import LatchStateMessage

LatchRow = tuple[int, int, bytes]  # number of the instant, stamp [ns], a phase of each latch


class LatchChunk:
    """Makes the phases of latches the bytes of a bag's chunk.

    Args:
        bag: gets the topic, if there are latches.
        names: of the latches.
    """

    def __init__(self, bag: BagWriter, names: Sequence[str]) -> None:
        self._message = LatchStateMessage.of(names)
        self._channel = bag.add_topic(LATCHES, LatchStateMessage.TYPE) if names else None

    def fill(self, rows: Sequence[LatchRow], start: int) -> tuple[list[bytes], Index]:
        """Bytes and index of what they did.

        Args:
            rows: in order of time.
            start: position in the chunk at which they begin.
        """
        if self._channel is None or not rows:
            return [], {}
        done = bytearray()
        places = np.zeros((2, len(rows)), np.int64)  # stamps, positions
        for i, (k, stamp, phases) in enumerate(rows):
            self._message.put_head(stamp, k)
            self._message.phases[:] = np.frombuffer(phases, np.uint8)
            message = self._message.dump()
            places[:, i] = stamp, start + len(done)
            done += message_head(self._channel, stamp, len(message)) + message
        return [bytes(done)], {self._channel: (places[0], places[1])}
