# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory of Fast DDS whose process was killed.

A process that ends removes its own. One that is killed leaves 5 MB by the profile of tools/fastdds.xml, so that a dozen
fill the 64 MB of a container. Later processes then send by UDP, where large images are lost.
"""

import fcntl
import os
import re
import time
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/dev/shm")  # noqa: S108 - the place of POSIX shared memory
YOUNG = 10.0  # a lock is taken long before that, after its file is made [s]
_LOCK = re.compile(r"(fast(?:rtps|dds)_[0-9a-f]{16})_el")  # of a segment, held by its process


def remove_unused(folder: Path = FOLDER, young: float = YOUNG) -> int:
    """Remove segments of processes that have ended; returns their number.

    Args:
        folder: of the segments.
        young: age of a lock's file from which on it counts [s].
    """
    count = 0
    try:
        names = os.listdir(folder)
    except OSError:  # a machine without shared memory has nothing to remove
        return 0
    for match in filter(None, map(_LOCK.fullmatch, names)):
        lock, segment = folder / match[0], folder / match[1]
        with suppress(OSError):  # another process is quicker, it is in use, or somebody else's
            if time.time() - lock.stat().st_mtime < young:
                continue
            with lock.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                segment.unlink()
                lock.unlink()
            count += 1
    return count
