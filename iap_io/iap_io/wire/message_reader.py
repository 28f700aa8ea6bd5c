# SPDX-License-Identifier: BSD-3-Clause
"""Serialised messages of a topic as views, each checked before its numbers are used."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_io.wire.cdr import MessageLayout, decoded
from iap_io.wire.message import Message
from iap_io.wire.message_views import StateMessage
from iap_io.wire.number_check import NumberCheck, load_kernel

MOST_BYTES = 1 << 17  # of a message read number by number; a platform of twelve aircraft says 3000
_MOST_LAYOUTS = 16  # that are remembered of one topic, so that strangers do not fill the memory

M = TypeVar("M", bound=Message)


class MessageReader(Generic[M]):
    """Reads the messages of one topic; learns the layout anew when names change, and once for every size.

    Args:
        kind: what comes.
        frames: that the header may name; any where none are given.
        fits: refuses, with a BadInput, what has other sizes than the receiver's platform.
    """

    def __init__(
        self,
        kind: type[M],
        frames: Sequence[str] = ("", MAP),
        fits: Callable[[M], None] = lambda _: None,
    ) -> None:
        self._kind, self._frames, self._fits = kind, frames, fits
        self._learned: dict[int, tuple[M, NumberCheck]] = {}  # by size
        load_kernel()

    def read(self, data: bytes) -> M:
        """The message, the same object every time unless its layout changed.

        Raises:
            BadInput: the bytes are no such message, or a field holds what cannot be meant.
        """
        known = self._learned.get(len(data))
        if known is None or not known[0].load(data):
            known = self._learn(data)
        known[1]()
        return known[0]

    def _learn(self, data: bytes) -> tuple[M, NumberCheck]:
        kind = self._kind
        if len(data) > MOST_BYTES:
            raise BadInput(f"{kind.TYPE}: {len(data)} bytes, at most {MOST_BYTES} are read")
        content = decoded(data, kind.TYPE)
        frame = content.header.frame_id
        if self._frames and frame not in self._frames:
            accepted = " nor ".join(filter(None, self._frames))
            raise BadInput(f"header.frame_id '{frame[:40]}' is not {accepted}")
        learned = kind(MessageLayout.of(content))
        if not learned.load(data):
            raise BadInput(f"{kind.TYPE}: the serialised message has a layout of its own")
        self._fits(learned)
        if len(self._learned) >= _MOST_LAYOUTS:
            self._learned.clear()
        known = self._learned[len(data)] = learned, learned.number_check()
        return known


def state_reader(*bodies: int, rotors: int | None = None) -> MessageReader[StateMessage]:
    """A reader of the states of so many bodies and rotors; of any number where none is given."""

    def fits(state: StateMessage) -> None:
        count, turning = len(state.rows), state.rpm.size
        if bodies and count not in bodies:
            raise BadInput(f"poses: of {count} bodies, not of {' or '.join(map(str, bodies))}")
        if rotors is not None and turning != rotors:
            raise BadInput(f"rotor_rpm: of {turning} rotors, not of {rotors}")

    return MessageReader(StateMessage, fits=fits)
