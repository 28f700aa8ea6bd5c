# SPDX-License-Identifier: BSD-3-Clause
"""Time for which a test waits for other processes: a detector of hangs, never a measure of speed."""

import time

HANG = 600.0  # for anything that happens within seconds on a machine with nothing else to do [s]


def comes_true(condition, seconds=HANG):
    """True if a condition comes true within some seconds."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()
