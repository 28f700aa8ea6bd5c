# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch, whole blocks each: no result depends on how many there are."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from iap_description.errors import BadInput
from iap_description.lanes import LANES

Work = Callable[[int, int], object]


class Threads:
    """Threads for compiled loops that let go of the interpreter's lock.

    The caller's thread does the first stretch of blocks, and each other stretch has a thread of its own, which finds
    its blocks in its core's memory again.

    Args:
        count: of threads, the caller's among them.

    Raises:
        BadInput: there are none.
    """

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise BadInput(f"threads: at least one is expected, got {count}")
        self.count = count
        self._others = [ThreadPoolExecutor(1, "worlds") for _ in range(count - 1)]

    def run(self, work: Work, batch: int) -> None:
        """Do work on worlds first to last - 1, all of them taken together; returns when all is done."""
        blocks = -(-batch // LANES)
        count = min(self.count, max(blocks, 1))
        bounds = [LANES * (blocks * i // count) for i in range(count)] + [batch]
        others = zip(self._others, bounds[1:-1], bounds[2:], strict=False)
        running = [thread.submit(work, *worlds) for thread, *worlds in others]
        try:
            work(0, bounds[1])
        finally:  # nothing is flying any more when this returns, or fails
            wait(running)
        for each in running:
            each.result()

    def close(self) -> None:
        """End the threads; a second time is fine."""
        for each in self._others:
            each.shutdown()
