# SPDX-License-Identifier: BSD-3-Clause
"""Stray stamps told from time that jumps, so that one stale or foreign message resets nothing."""

from typing import Generic, TypeVar

from iap_io.wire.stamps import SECOND

Content = TypeVar("Content")


class StampGuard(Generic[Content]):
    """Hands over contents whose stamps go on from each other.

    One whose stamp does not is held back, and the next one decides: if it goes on from the one that was held back,
    time has jumped, as at a reset, and both count; else the one was a stray. A state that nobody answers is published
    again, so that a reset costs the copy's delay.

    Args:
        back: by which a stamp may lie before the newest [ns].
        ahead: by which it may lie after it [ns].
    """

    def __init__(self, *, back: int = 0, ahead: int = SECOND) -> None:
        self._back, self._ahead = back, ahead
        self._newest = self._stray = -1
        self._waiting: tuple[int, Content] | None = None
        self._before: tuple[int, tuple[int, Content] | None] = (-1, None)

    def offer(self, stamp: int, content: Content) -> tuple[Content, ...]:
        """Take a content with its stamp [ns]; returns those that count now, in order."""
        newest, waiting = self._before = self._newest, self._waiting
        if newest < 0 or newest - self._back <= stamp <= newest + self._ahead:
            self._newest, self._waiting = max(newest, stamp), None
            self._stray = waiting[0] if waiting else -1
            return (content,)
        if waiting is not None and waiting[0] <= stamp <= waiting[0] + self._ahead:
            self._newest, self._waiting = stamp, None
            return (waiting[1], content) if stamp > waiting[0] else (content,)
        self._stray = waiting[0] if waiting else -1
        self._waiting = stamp, content
        return ()

    def undo(self) -> None:
        """Forget the content that was offered last, which was refused for another reason."""
        self._newest, self._waiting = self._before

    def stray(self) -> str:
        """The sentence on one that was held back and has turned out to be a stray; empty if none has."""
        stamp, self._stray = self._stray, -1
        if stamp < 0:
            return ""
        now = self._newest / SECOND
        return f"header.stamp: a message of {stamp / SECOND:.3f} s, while time is {now:.3f} s"
