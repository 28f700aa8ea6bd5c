# SPDX-License-Identifier: BSD-3-Clause
"""Messages beside vehicles' states in a bag's chunks: latches, joints between modules, objects, covariances."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_io.bags.bag_writer import BagWriter
from iap_io.bags.mcap_format import Index, message_head
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.topics import JOINTS, LATCHES, OBJECTS, covariance_topics
from iap_io.wire.message_views import StateMessage
from iap_io.wire.module_views import ModuleJointsMessage
from iap_io.wire.sample_views import LatchStateMessage, UncertainPoseMessage


class Note(NamedTuple):
    """A serialised message of a topic.

    Attributes:
        topic: `LATCHES`, `JOINTS`, `OBJECTS` or one of `covariance_topics`.
        stamp: [ns].
        message: in CDR.
    """

    topic: str
    stamp: int
    message: bytes


class NoteChunk:
    """Makes notes the bytes of a bag's chunk.

    Args:
        bag: gets the topics that the run has.
        meta: the run.
    """

    def __init__(self, bag: BagWriter, meta: RunMeta) -> None:
        kinds = {}
        if meta.latches:
            kinds[LATCHES] = LatchStateMessage.TYPE
        if meta.joints:
            kinds[JOINTS] = ModuleJointsMessage.TYPE
        if meta.objects:
            kinds[OBJECTS] = StateMessage.TYPE
        for vehicle in meta.vehicles:
            kinds |= dict.fromkeys(covariance_topics(vehicle).values(), UncertainPoseMessage.TYPE)
        self._channels = {topic: bag.add_topic(topic, kind) for topic, kind in kinds.items()}

    def fill(self, notes: Sequence[Note], start: int) -> tuple[list[bytes], Index]:
        """Bytes and index of notes.

        Args:
            notes: in order of time.
            start: position in the chunk at which they begin.
        """
        done = bytearray()
        index: dict[int, list[tuple[int, int]]] = {}  # by channel: stamps, positions
        for topic, stamp, message in notes:
            channel = self._channels[topic]
            index.setdefault(channel, []).append((stamp, start + len(done)))
            done += message_head(channel, stamp, len(message)) + message
        tables = {channel: np.array(each, np.int64).T for channel, each in index.items()}
        return [bytes(done)] if done else [], {c: (t[0], t[1]) for c, t in tables.items()}
