# SPDX-License-Identifier: BSD-3-Clause
"""Work done in order on a thread of its own, so that whoever hands it over does not wait for it."""

import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]
DEPTH = 3  # jobs that may wait; whoever brings another one then waits too, and nothing is dropped


class Background:
    """One thread that does jobs one after another until the first of them fails.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.Queue[Job | None] = queue.Queue(DEPTH)
        self._failure: BaseException | None = None
        self._has_failed = False
        self._thread: threading.Thread | None = threading.Thread(
            target=self._work, name=name, daemon=True
        )
        self._thread.start()

    def do(self, job: Job) -> None:
        """Take a job; waits while too many do. After a failure jobs are forgotten.

        Raises:
            BaseException: of an earlier job, once.
        """
        self.check()
        if not self._has_failed:
            self._jobs.put(job)

    def check(self) -> None:
        """Raise what stopped an earlier job; only once."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def close(self) -> None:
        """Finish all jobs and end the thread; may be called again.

        Raises:
            BaseException: of a job, if it was not raised before.
        """
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        self.check()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._has_failed:
                continue
            try:
                job()
            except BaseException as error:  # belongs to whoever brought the job
                self._has_failed, self._failure = True, error
