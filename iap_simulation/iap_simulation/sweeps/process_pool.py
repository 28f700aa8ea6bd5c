# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a sweep: processes on this machine, of which any may die."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Generic, NamedTuple, Protocol, TypeVar

from iap_description.errors import IapError

MAX_RETRIES = 3  # of one piece of work
QUEUED_PER_PROCESS = 2  # pieces that wait for each process

Work = TypeVar("Work")
Done = TypeVar("Done")


class FinishedWork(NamedTuple, Generic[Work, Done]):
    """A piece of work and what came of it."""

    work: Work
    result: Done


class WorkPool(Protocol):
    """Does independent pieces of work.

    Attributes:
        retried: pieces that were begun again because their process had died.
    """

    retried: int

    def map(
        self, do: Callable[[Work], Done], pieces: Iterable[Work]
    ) -> Generator[FinishedWork[Work, Done], None, None]:
        """Do pieces of work, each a pure function of itself; yields each when it is done, in any order.

        Closing the generator ends what is still being done.
        """
        ...


class ProcessPool:
    """Processes on this machine.

    Args:
        processes: how many; None takes one for each processor that this process may use.

    Attributes:
        retried: pieces that were begun again because a process had died.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._count = processes or len(os.sched_getaffinity(0))
        self.retried = 0

    def map(
        self, do: Callable[[Work], Done], pieces: Iterable[Work]
    ) -> Generator[FinishedWork[Work, Done], None, None]:
        """See `WorkPool`. A process that dies takes its fellows with it; what they were at is begun again.

        Raises:
            IapError: processes died again and again at the same work.
        """
        left, again = iter(pieces), list[Work]()
        deaths: dict[int, int] = {}
        while True:
            pool = self._pool()
            running: dict[Future[Done], Work] = {}
            try:
                yield from self._drain(pool, do, left, again, running)
                pool.shutdown()
                return
            except BrokenProcessPool:
                again[:0] = running.values()
                self.retried += len(running)
                for work in running.values():
                    deaths[id(work)] = deaths.get(id(work), 0) + 1
                    if deaths[id(work)] > MAX_RETRIES:
                        raise IapError(
                            f"processes died {deaths[id(work)]} times at the same work: is the memory too small?"
                        ) from None
            finally:
                _end(pool)

    def _drain(
        self,
        pool: ProcessPoolExecutor,
        do: Callable[[Work], Done],
        left: Iterator[Work],
        again: list[Work],
        running: dict[Future[Done], Work],
    ) -> Iterator[FinishedWork[Work, Done]]:
        """Give work to a pool until there is none; `running` is what it is at."""
        while True:
            while len(running) < QUEUED_PER_PROCESS * self._count:
                work = again.pop(0) if again else next(left, None)
                if work is None:
                    break
                try:
                    with _no_interrupts():
                        running[pool.submit(do, work)] = work
                except BrokenProcessPool:  # a process has died since
                    again.insert(0, work)
                    raise
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                result = future.result()
                yield FinishedWork(running.pop(future), result)

    def _pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, context, initializer=_begin)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes that are started meanwhile never hear of Ctrl-C: whoever gives them work ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Let this process end when the one that gives it work does, however it ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool whatever its processes are at; the pool forgets them when it is shut down.

    Its own thread is waited for: it closes a pipe into which the interpreter writes when this process ends.
    """
    processes = list((getattr(pool, "_processes", None) or {}).values())
    for process in processes:
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)
