# SPDX-License-Identifier: BSD-3-Clause
"""A line that says so while kernels are compiled, which nobody expects to take half a minute, and one at the end."""

import atexit
import multiprocessing
import sys
import time
from collections.abc import Callable

from numba.core import config, event

EVENT = "numba:compile"  # of each kernel that is not in the cache
UNNOTICED = 2.0  # of compiling without a word [s]


class CompilationNotice(event.Listener):
    """Tells of compiling on standard error once it takes longer than a moment.

    Attributes:
        kernels: number of those compiled, with those that they call.
        elapsed: time that this took [s].
        unnoticed: time of compiling without a word [s].
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Begin with nothing compiled."""
        self._clock = clock
        self.unnoticed = UNNOTICED
        self.kernels, self.elapsed = 0, 0.0
        self._reported = 0  # kernels
        self._depth, self._began, self._is_announced = 0, 0.0, False

    def on_start(self, event: object) -> None:  # noqa: ARG002 - numba's
        """Take the time of the outermost kernel."""
        if self._depth == 0:
            self._began = self._clock()
        self._depth += 1

    def on_end(self, compiled: event.Event) -> None:
        """Add it up; what numba compiles of its own for a kernel, and a loop that it lifts out of one, are none."""
        self._depth -= 1
        function = getattr(compiled.data["dispatcher"], "py_func", None)
        self.kernels += function is not None and not f"{function.__module__}.".startswith("numba.")
        now = self._clock()
        if self._depth == 0:
            self.elapsed += now - self._began
            self._began = now
        if not self._is_announced and self.elapsed + now - self._began > self.unnoticed:
            self._is_announced = True
            sys.stderr.write("iap: compiling to machine code, once\n")
            atexit.register(self.tell)

    def tell(self) -> None:
        """Say how long it took, and where the code is kept, unless that has been said."""
        if not self._is_announced or self._reported == self.kernels:
            return
        self._reported = self.kernels
        where = config.CACHE_DIR or "__pycache__ beside the sources"
        sys.stderr.write(
            f"iap: compiled {self.kernels} kernel{'s' * (self.kernels > 1)} in {self.elapsed:.0f} s, kept in {where}\n"
        )


NOTICE = CompilationNotice()  # of this process


def announce_compiling() -> None:
    """Tell of compiling in this process, unless it is a worker of another one."""
    if multiprocessing.parent_process() is None:
        event.register(EVENT, NOTICE)
