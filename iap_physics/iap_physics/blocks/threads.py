# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch, whole blocks each: no result depends on how many there are."""

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from iap_description.errors import BadInput
from iap_description.lanes import LANES

Work = Callable[[int, int], object]
Done = SimpleQueue[BaseException | None]  # what came of each stretch
Task = tuple[Work, int, int, Done]
Tasks = SimpleQueue[Task | None]  # None ends the thread that takes it


class Threads:
    """Threads for compiled loops that let go of the interpreter's lock.

    The caller's thread does the first stretch of blocks, and each other stretch has a thread of its own, which finds
    its blocks in its core's memory again. Queues in place of a pool's futures: a period of a thousand worlds takes a
    thread a fifth of a millisecond, of which a pool's hand-over is a tenth.

    Args:
        count: of threads, the caller's among them.

    Raises:
        BadInput: there are none.
    """

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise BadInput(f"threads: at least one is expected, got {count}")
        self._others: list[Tasks] = [SimpleQueue() for _ in range(count - 1)]
        weakref.finalize(self, _end, self._others)
        for tasks in self._others:
            Thread(target=_work_off, args=(tasks,), name="worlds", daemon=True).start()

    def run(self, work: Work, batch: int) -> None:
        """Do work on worlds first to last - 1, all of them taken together; returns when all is done."""
        blocks = -(-batch // LANES)
        count = min(1 + len(self._others), blocks)
        if count < 2:
            work(0, batch)
            return
        bounds = [LANES * (blocks * i // count) for i in range(count)] + [batch]
        done: Done = SimpleQueue()
        for tasks, first, last in zip(self._others, bounds[1:-1], bounds[2:], strict=False):
            tasks.put((work, first, last, done))
        try:
            work(0, bounds[1])
        finally:  # nothing is flying any more when this returns, or fails
            errors = [done.get() for _ in range(count - 1)]
        for error in errors:
            if error is not None:
                raise error

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
        work, first, last, done = task
        error: BaseException | None = None
        try:
            work(first, last)
        except BaseException as raised:  # noqa: BLE001 - it goes to the caller
            error = raised
        done.put(error)
        del task, work, done, error  # whoever waits for the next task holds no worlds
