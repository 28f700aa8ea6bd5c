# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch, whole blocks or vectors: no result depends on how many there are."""

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from time import perf_counter

from iap_description.errors import BadInput
from iap_description.math.lanes import LANES, VECTOR

Work = Callable[[int, int], object]
Done = SimpleQueue[
    tuple[BaseException | None, float]
]  # what came of each stretch, and when it began
Task = tuple[Work, int, int, Done]
Tasks = SimpleQueue[Task | None]  # None ends the thread that takes it


MAX_THREADS = 1024
REMEMBERED = 0.9  # of what is known of how long threads take to begin, from one time to the next


class VectorTime:
    """Time that a vector of worlds of one kind of work takes, as it was seen last.

    Attributes:
        vector: seconds; 0 where none has been done yet.
    """

    def __init__(self) -> None:
        self.vector = 0.0


class Threads:
    """Threads for compiled loops that let go of the interpreter's lock.

    The caller's thread does the first stretch of worlds, and each other stretch has a thread of its own, which finds
    its worlds in its core's memory again. Queues in place of a pool's futures: a period of a thousand worlds takes a
    thread a fifth of a millisecond, of which a pool's hand-over is a tenth.

    Args:
        count: of threads, the caller's among them.

    Raises:
        BadInput: there are none.
    """

    def __init__(self, count: int = 1) -> None:
        if not 1 <= count <= MAX_THREADS:
            raise BadInput(f"threads: one to {MAX_THREADS} are expected, got {count}")
        self._others: list[Tasks] = [SimpleQueue() for _ in range(count - 1)]
        self._late = 0.0  # that a thread begins after it was called [s]
        weakref.finalize(self, _end, self._others)
        for tasks in self._others:
            Thread(target=_work_off, args=(tasks,), name="worlds", daemon=True).start()

    def run(self, work: Work, batch: int, pace: VectorTime | None = None) -> None:
        """Do work on worlds first to last - 1, all of them taken together; returns when all is done.

        Args:
            work: on worlds first to last - 1.
            batch: number of worlds.
            pace: of this kind of work, kept by whoever has it done again and again: the caller's stretch is then
                longer, by what it does before other threads are awake, and stretches begin with any vector of a block.
                None shares blocks evenly.
        """
        count = min(1 + len(self._others), -(-batch // LANES))
        if count < 2:
            work(0, batch)
            return
        size = LANES if pace is None else VECTOR
        parts = -(-batch // size)
        callers = self._callers_parts(parts, count, pace)
        bounds = [
            size * (callers + (parts - callers) * i // (count - 1)) for i in range(count - 1)
        ]
        done: Done = SimpleQueue()
        began = perf_counter()
        for tasks, first, last in zip(self._others, bounds, [*bounds[1:], batch], strict=False):
            tasks.put((work, first, last, done))
        call_began = perf_counter()
        try:
            work(0, bounds[0])
        finally:  # nothing is flying any more when this returns, or fails
            if pace is not None:
                pace.vector = (perf_counter() - call_began) / callers
            ends = [done.get() for _ in range(count - 1)]
        for error, at in ends:
            self._late = REMEMBERED * self._late + (1.0 - REMEMBERED) * (at - began)
            if error is not None:
                raise error

    def _callers_parts(self, parts: int, count: int, pace: VectorTime | None) -> int:
        """Parts of the caller's stretch, so that all threads end together."""
        ahead = 0.0 if pace is None or not pace.vector else self._late / pace.vector
        return max(1, min(round((parts + (count - 1) * ahead) / count), parts - count + 1))

    def close(self) -> None:
        """End all threads but the caller's, which does all from then on; a second time is fine."""
        _end(self._others)
        self._others.clear()


def _end(others: list[Tasks]) -> None:
    for tasks in others:
        tasks.put(None)


def _work_off(tasks: Tasks) -> None:
    """Do one task after another; what goes wrong is raised where the caller waits."""
    while (task := tasks.get()) is not None:
        began = perf_counter()
        work, first, last, done = task
        error: BaseException | None = None
        try:
            work(first, last)
        except BaseException as raised:  # noqa: BLE001 - it goes to the caller
            error = raised
        done.put((error, began))
        del task, work, done, error  # whoever waits for the next task holds no worlds
