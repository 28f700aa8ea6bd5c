# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and SIGTERM, answered at any moment: at once, by an exception, or at the next safe point.

A command exits at once while it has made nothing yet, an exception ends it later, and a flight is only interrupted
between two ticks. An exception that a callback of some library swallows is remembered (`SignalRecord`).
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import ClassVar, Self

Handler = Callable[[int, FrameType | None], None]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does."""


class SignalRecord:
    """Signals that have arrived while they were `handled`.

    Attributes:
        number: the last signal that an exception was raised for; None without any.
    """

    now: ClassVar["SignalRecord"]  # of the innermost `handled`

    def __init__(self) -> None:
        self.number: signal.Signals | None = None


SignalRecord.now = SignalRecord()


def exit_code(number: signal.Signals | None = None) -> int:
    """The exit code of a command that a signal ended, by default the last that was received: 130, or 143 by SIGTERM."""
    return 128 + (number or SignalRecord.now.number or signal.SIGINT)


def signal_of(error: KeyboardInterrupt) -> signal.Signals:
    """The signal that an exception was raised for."""
    return signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT


def word(error: KeyboardInterrupt) -> str:
    """The event, for the user."""
    return WORDS[signal_of(error)]


def exit_at_once(number: int, _: FrameType | None) -> None:
    """End the process: for as long as there is nothing to clean up."""
    os.write(2, f"iap: {WORDS[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def raise_interrupt(number: int, _: FrameType | None) -> None:
    """Raise KeyboardInterrupt or `Terminated` where the program is."""
    SignalRecord.now.number = signal.Signals(number)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def pass_by(number: int, _: FrameType | None) -> None:
    """Go on: for the moment in which a command that is ending cleans up."""


def let_finish() -> None:
    """Pass signals by until the innermost `handled` ends: before a command writes the last file of a whole result."""
    install(pass_by)


def install(handler: Handler) -> None:
    """Answer both signals by a handler from now on; they may have been blocked until now."""
    for number in SIGNALS:
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def end_by_exit_code() -> None:
    """Let the process end by its exit code from here on, whatever has been caught and whatever still arrives.

    ``python -m`` would kill itself by SIGINT if the last ``exec`` of a string, which many imports call, was left by a
    KeyboardInterrupt, even by one that was caught since; an ``exec`` that succeeds takes that back.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102 - see above


@contextmanager
def handled(handler: Handler) -> Iterator[SignalRecord]:
    """Answer both signals by a handler meanwhile; yields what has arrived, which nobody outside of it sees."""
    outer, SignalRecord.now = SignalRecord.now, SignalRecord()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    hook, sys.unraisablehook = sys.unraisablehook, pass_over_interrupts
    try:
        install(handler)
        yield SignalRecord.now
    finally:
        for number, each in before.items():
            signal.signal(number, each)
        sys.unraisablehook, SignalRecord.now = hook, outer


def pass_over_interrupts(problem: "sys.UnraisableHookArgs") -> None:
    """An unraisable hook: silent on an interrupt in a callback or destructor, where it cannot be raised."""
    if not isinstance(problem.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(problem)


class Deferral:
    """Holds interrupts back until `check`, so that they meet nothing half done; a context manager, and an observer.

    It does so in the main thread, where interrupts arrive, and for those signals that have a handler in Python.
    """

    def __init__(self) -> None:
        self._before: dict[int, Handler] = {}
        self._pending: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._pending = SignalRecord.now.number
            for number in SIGNALS:
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._hold)
            if self._pending not in self._before:  # it is ignored since it came
                self._pending = None
        return self

    def _hold(self, number: int, _: FrameType | None) -> None:
        self._pending = number

    def check(self) -> None:
        """Answer a signal that has been held back, as it would have been.

        Raises:
            KeyboardInterrupt: there is one.
        """
        if self._pending is not None:
            number, self._pending = self._pending, None
            self._before[number](number, None)

    def record(self, vehicle: int, step: object) -> None:  # noqa: ARG002 - an observer of the loop
        """Check after a control step."""
        self.check()

    def record_rows(self, vehicle: int, rows: object) -> None:  # noqa: ARG002 - an observer of the loop
        """Check after control steps that were flown at once."""
        self.check()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if kind is None:
            self.check()
