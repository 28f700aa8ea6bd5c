# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch, whole blocks each: no result depends on how many there are."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from iap_description.errors import BadInput
from iap_description.lanes import LANES

Work = Callable[[int, int], object]


class Threads:
    """A pool for compiled loops that let go of the interpreter's lock.

    Args:
        count: of threads; one works in the caller's.

    Raises:
        BadInput: there are none.
    """

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise BadInput(f"threads: at least one is expected, got {count}")
        self.count = count
        self._pool = ThreadPoolExecutor(count, "worlds") if count > 1 else None

    def run(self, work: Work, batch: int) -> None:
        """Do work on worlds first to last - 1, all of them taken together; returns when all is done."""
        blocks = -(-batch // LANES)
        if self._pool is None or blocks < 2:
            work(0, batch)
            return
        bounds = [LANES * (blocks * i // self.count) for i in range(self.count)] + [batch]
        stretches = zip(bounds[:-1], bounds[1:], strict=True)
        running = [self._pool.submit(work, *each) for each in stretches if each[0] < each[1]]
        for each in running:
            each.result()

    def close(self) -> None:
        """End the threads; a second time is fine."""
        if self._pool is not None:
            self._pool.shutdown()
