# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of work for the farms' tests, in a module that other processes can import."""

import os
import signal
import time
from pathlib import Path


def square(x):
    return x * x


def die_first(work):
    """Kill the process that does it the first time."""
    folder, x = work
    begun = Path(folder) / str(x)
    if x % 5 == 3 and not begun.exists():
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def stay(x):
    """Its process's number at once, or never."""
    if x:
        time.sleep(1e6)
    return os.getpid()


def fail(x):
    raise ValueError(f"no {x}")


def node_of(_):
    """The node of a Ray cluster that does it."""
    import ray

    time.sleep(0.2)
    return ray.get_runtime_context().get_node_id()
